"""The style sheet, the icon and the script."""

from fastapi import APIRouter, Request, Response

from gatepost.errors import NotFound
from portal.context import Context

_FOR_GOOD = "public, max-age=31536000, immutable"


def create_router(context: Context) -> APIRouter:
    router = APIRouter()

    @router.get("/static/{name}")
    async def static(request: Request) -> Response:
        asset = context.assets.by_path.get(request.url.path)
        if asset is None:
            raise NotFound()
        headers = {"cache-control": _FOR_GOOD, "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(asset.packed, headers=headers, media_type=asset.media_type)
        return Response(asset.content, headers=headers, media_type=asset.media_type)

    return router
