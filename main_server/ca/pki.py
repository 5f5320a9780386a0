"""The PKI port: plain HTTP, signed objects only. Behind mutual TLS they would be circular."""

from pathlib import Path
from typing import Any

from gatepost.errors import ConfigurationError, MethodNotAllowed, NotFound
from gatepost.service.asgi import Receive, Scope, Send, respond
from gatepost.service.requests import context_of

_PEM = b"application/x-pem-file"
_PUBLISHED = ("root", "intermediate")


def read_published(folder: Path) -> dict[str, bytes]:
    """What is served, by its path."""
    try:
        return {f"/ca/{name}.pem": (folder / f"{name}.pem").read_bytes() for name in _PUBLISHED}
    except OSError as error:
        raise ConfigurationError(f"{error.filename} can't be read: {error.strerror}") from None


def create_pki_app(folder: Path) -> Any:
    published = read_published(folder)

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        certificate = published.get(scope["path"])
        if certificate is None:
            raise NotFound()
        context_of(scope).route = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            raise MethodNotAllowed("GET, HEAD")
        await respond(send, 200, certificate, content_type=_PEM)

    return app
