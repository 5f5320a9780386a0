"""The PKI port: plain HTTP, signed objects only. Behind mutual TLS they would be circular."""

from pathlib import Path
from typing import Any

from gatepost.errors import MethodNotAllowed, NotFound
from gatepost.service.asgi import Receive, Scope, Send, respond
from gatepost.service.requests import context_of

_PEM = b"application/x-pem-file"


def create_pki_app(folder: Path) -> Any:
    published = {
        f"/ca/{name}.pem": (folder / f"{name}.pem").read_bytes()
        for name in ("root", "intermediate")
    }

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        certificate = published.get(scope["path"])
        if certificate is None:
            raise NotFound()
        context_of(scope).route = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            raise MethodNotAllowed("GET, HEAD")
        await respond(send, 200, certificate, content_type=_PEM)

    return app
