"""The style sheet, the icon and the script."""

import re

from fastapi import APIRouter, Request, Response

from gatepost.errors import NotFound
from portal.context import Context
from portal.headers import allow_keeping

_NO_WEIGHT = re.compile(r"\Aq\s*=\s*0(\.0*)?\Z")


def create_router(context: Context) -> APIRouter:
    router = APIRouter()

    @router.get("/static/{name}")
    async def static(request: Request) -> Response:
        asset = context.assets.by_path.get(request.url.path)
        if asset is None:
            raise NotFound()
        allow_keeping(request)
        headers = {"vary": "accept-encoding"}
        if _takes_gzip(request.headers.get("accept-encoding", "")):
            headers["content-encoding"] = "gzip"
            return Response(asset.packed, headers=headers, media_type=asset.media_type)
        return Response(asset.content, headers=headers, media_type=asset.media_type)

    return router


def _takes_gzip(accepted: str) -> bool:
    """Return whether gzip is named, and not with the weight 0, by which it is forbidden."""
    for one in accepted.lower().split(","):
        coding, _, weight = (part.strip() for part in one.partition(";"))
        if coding == "gzip":
            return not _NO_WEIGHT.match(weight)
    return False
