import pytest

from foldline.engine.models.file_types import FLAT_TOKENS, file_tokens, type_of


@pytest.mark.parametrize("kind", sorted(FLAT_TOKENS))
def test_what_is_not_sent_as_text_takes_the_same_at_any_size(kind: str) -> None:
    assert file_tokens(0, kind) == file_tokens(10**9, kind) == FLAT_TOKENS[kind]


@pytest.mark.parametrize(
    ("size_bytes", "kind", "tokens"),
    [
        (300, "text", 100),
        (300, "a type of its own", 100),
        (0, "text", 0),
        (5, "svg", 2),
        (1_000, "xlsx", 38),
        (1_000, "docx", 38),
        (1_000, "pptx", 38),
        (101, "pdf", 2),
        (10_000_000, "pdf", 50_000),
    ],
)
def test_other_files_take_tokens_by_their_size_and_type(size_bytes: int, kind: str, tokens: int) -> None:
    assert file_tokens(size_bytes, kind) == tokens


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.py", "text"),
        ("Makefile", "text"),
        (".png", "text"),
        ("pdf", "text"),
        ("reports/Q3.PDF", "pdf"),
        ("logo.svg", "svg"),
        ("photo.old.jpeg", "image"),
        ("talk.mp4", "video"),
        ("talk.mp3", "audio"),
        ("sources.tar.gz", "archive"),
    ],
)
def test_the_end_of_its_name_is_the_type_of_a_file(path: str, kind: str) -> None:
    assert type_of(path) == kind
