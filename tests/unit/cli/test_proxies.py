"""Requests to a private service go past the proxy that is set for others."""

from __future__ import annotations

import pytest

from foldline.cli.commands.run import proxy_exceptions

PROXY = "http://proxy.example:3128"


@pytest.mark.parametrize(
    ("upper", "lower", "found"),
    [
        ("", "", ["127.0.0.1,localhost"] * 2),
        ("a.example", "", ["a.example,127.0.0.1,localhost"] * 2),
        ("a.example", "b.example, localhost", ["a.example,127.0.0.1,localhost", "b.example,localhost,127.0.0.1"]),
        ("*", "", ["*"] * 2),
    ],
)
@pytest.mark.parametrize("proxy", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
def test_loopback_is_added_to_what_is_excepted(proxy: str, upper: str, lower: str, found: list[str]) -> None:
    environment = {proxy: PROXY, "NO_PROXY": upper, "no_proxy": lower}
    assert proxy_exceptions(environment) == dict(zip(("NO_PROXY", "no_proxy"), found, strict=True))


def test_without_a_proxy_nothing_is_excepted() -> None:
    assert proxy_exceptions({"NO_PROXY": "a.example", "HTTP_PROXY": ""}) == {}
