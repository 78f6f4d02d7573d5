"""The page for people at `/docs`."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest

from tests.support.processes.api import Api, problem_of

ADDRESS = re.compile(r"""["'`(](?P<address>(?:https?:)?//[^"'`)\s]+)""")


class References(HTMLParser):
    """What a page makes a browser load, by the kind of element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, value) for name, value in attrs if name in {"href", "src"} and value]


def test_the_page_and_all_that_it_loads_come_from_the_service(api: Api) -> None:
    page = api.client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    references = References(page.text).found
    assert [tag for tag, _ in references] == ["link", "link", "script"]
    description = re.search(r"url: '([^']+)'", page.text)
    assert description is not None
    for address in (*(address for _, address in references), description[1]):
        place = urljoin("/docs", address)
        assert urlsplit(place).netloc == "", address
        assert api.client.get(place).status_code == 200, address
    assert ADDRESS.findall(page.text) == []


def test_the_description_is_checked_by_no_service_on_the_internet(api: Api) -> None:
    assert '"validatorUrl": null' in api.client.get("/docs").text


@pytest.mark.parametrize(
    ("name", "kind", "part"),
    [
        ("swagger-ui-bundle.js", "javascript", "SwaggerUIBundle"),
        ("swagger-ui.css", "css", ".swagger-ui"),
        ("favicon-32x32.png", "png", "PNG"),
    ],
)
def test_files_of_the_page_are_what_they_are_called(api: Api, name: str, kind: str, part: str) -> None:
    answer = api.client.get(f"/docs/files/{name}")
    # Systems disagree on whether scripts are applications or text.
    assert re.match(rf"\w+/{kind}\b", answer.headers["content-type"])
    assert part.encode() in answer.content


@pytest.mark.parametrize("name", ["", "nothing.js", "%2e%2e/__init__.py", "../main.py"])
def test_there_are_no_other_files(api: Api, name: str) -> None:
    assert problem_of(api.client.get(f"/docs/files/{name}"))["name"] == "not-found"


def test_behind_a_prefix_the_page_loads_from_below_it(api: Api) -> None:
    references = References(api.client.get("/docs").text).found
    places = {urljoin("https://example.com/foldline/docs", address) for _, address in references}
    assert {place.rpartition("/")[0] for place in places} == {"https://example.com/foldline/docs/files"}
