"""The page at `/docs`: Swagger UI from files that are installed here, so that it needs no other host."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.staticfiles import StaticFiles

PATH: Final = "/docs"
# The package's own page has absolute addresses, which are wrong behind a proxy that ends TLS.
FILES: Final = ("fastapi_swagger", "resources")


def install(app: FastAPI) -> None:
    """Serve the page and its files."""
    app.add_route(PATH, _page, include_in_schema=False)
    app.mount(f"{PATH}/files", StaticFiles(packages=[FILES]))


async def _page(request: Request) -> Response:
    return get_swagger_ui_html(
        openapi_url="openapi.json",
        title=f"{request.app.title} - Swagger UI",
        swagger_js_url="docs/files/swagger-ui-bundle.js",
        swagger_css_url="docs/files/swagger-ui.css",
        swagger_favicon_url="docs/files/favicon-32x32.png",
        # The default has a service on the Internet check the description.
        swagger_ui_parameters={"validatorUrl": None},
    )
