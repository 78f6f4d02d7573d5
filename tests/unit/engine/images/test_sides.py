"""The longest side of images. The samples are 2,500 pixels wide and 3 high, written by Pillow 12."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.images.sides import BYTES_READ, LONGEST, UNKNOWN, longest_side

SAMPLES = {
    "PNG": (
        "iVBORw0KGgoAAAANSUhEUgAACcQAAAADCAAAAACSbcE+AAAAKklEQVR4nO3WMQ0AAAjAMEA18tHARUhaBTuXHQAAfFPXAQAA7Jk4AICHB"
        "jKeAH4dQHbfAAAAAElFTkSuQmCC"
    ),
    "GIF": (
        "R0lGODdhxAkDAIEAAHh4eAAAAAAAAAAAACwAAAAAxAkDAAAIjAABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFixgzatzIsaPHjyBDihxJs"
        "qTJkyhTqlzJsqXLlzBjypxJs6bNmzhz6tzJs6fPn0CDCh1KtKjRo0iTKl3KtKnTp1CjSp1KtarVq1izat3KtavXr2DDih1LtqzZs2jTql"
        "3Ltq3bt3Djyp1Lt67du3jz3g0IADs="
    ),
    "WebP": (
        "UklGRnwAAABXRUJQVlA4IHAAAACwCwCdASrECQMAPm02mkmkIyKhIEgAgA2JaW7hdrEbQBhjUmu20XCDIIaqk122i4QZBDVUmu20XCDII"
        "aqk122i4QZBDVUmu20XCDIIaqk122i4QZBDVUmu20XCDIIaqk122i4QKAAA/v5DQAAAAAAA"
    ),
    "WebP without loss": ("UklGRiQAAABXRUJQVlA4TBcAAAAvw4kAAAdQvOIVr/8BICH8v69E9D9NBQA="),
    "WebP with transparency": (
        "UklGRrYAAABXRUJQVlA4WAoAAAAYAAAAwwkAAgAAQUxQSBUAAAABB0AgaYu3/RERB5AQ/t9XIvqfpgIAVlA4IHAAAACQCwCdASrECQMAP"
        "m02mUmkIyKhIEgAgA2JaW7hdrEbQBPa9FXCDIIaqk122i4QZBDVUmu20XCDIIaqk122i4QZBDVUmu20XCDIIaqk122i4QZBDVUmu20XCD"
        "IIaqk122i4QZBC8AD+/9S4AAAAAAAARVhJRgIAAABNTQ=="
    ),
    "JPEG": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP///////////////////////////////////////////////////////////////////////"
        "///////////////wgALCAADCcQBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAAAAB//8QAFBABAAAAAAAAAAAAAAAAAAAAgP/aAAgBAQABBQIc/wD/xAAUEAEAAAAAAAAAAAAAAAAAAACA/9oACAE"
        "BAAY/Ahz/AP/EABQQAQAAAAAAAAAAAAAAAAAAAID/2gAIAQEAAT8hHP8A/9oACAEBAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAH//xAAUEAEAAAAAAAAAAAAAAAAAAACA/9oACAEBAAE/EBz/AP/Z"
    ),
}
FRAME = b"\xff\xc0\x00\x0b\x08" + (40).to_bytes(2) + (30).to_bytes(2) + b"\x01\x01\x11\x00"


def jpeg(preview_bytes: int) -> str:
    """A JPEG of 30 by 40 pixels with as many bytes in front of its sides, in segments of at most 64 KiB."""
    lengths = [60_000] * (preview_bytes // 60_000) + [preview_bytes % 60_000]
    previews = (b"\xff\xe2" + (length + 2).to_bytes(2) + b"\0" * length for length in lengths)
    return b64encode(b"\xff\xd8" + b"".join(previews) + FRAME + b"\0" * 64).decode()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_longest_side_is_read(name: str) -> None:
    assert longest_side(SAMPLES[name]) == 2_500


@pytest.mark.parametrize("name", SAMPLES)
def test_what_follows_the_first_bytes_is_not_read(name: str) -> None:
    assert longest_side(SAMPLES[name] + "?" * 1_000_000) == 2_500


def test_a_jpeg_may_have_previews_in_front_of_its_sides() -> None:
    assert longest_side(jpeg(90_000)) == 40
    assert longest_side(jpeg(max(BYTES_READ.values()))) == UNKNOWN


@pytest.mark.parametrize("data", [None, "", "A", "AAAAA", "ä" * 100, "iVBORw0KGgo", "/9j/", "UklGRg=="])
def test_what_has_no_sides_there_is_unknown(data: str | None) -> None:
    assert longest_side(data) == UNKNOWN


def test_documents_are_not_parsed() -> None:
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"/>'
    assert longest_side(b64encode(drawing).decode()) == UNKNOWN


def test_a_broken_header_claims_no_more_than_a_png_may_have() -> None:
    header = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + b"IHDR" + (0xFFFF_FFFF).to_bytes(4) + (40).to_bytes(4)
    assert longest_side(b64encode(header + b"\0" * 64).decode()) == LONGEST


@given(st.sampled_from([*BYTES_READ]), st.binary(max_size=400))
def test_any_bytes_have_sides_or_none(begin: bytes, rest: bytes) -> None:
    assert UNKNOWN <= longest_side(b64encode(begin + rest).decode()) <= LONGEST
