"""FastAPI as our services use it: problems instead of its own errors, and a role on every route.

A route is declared with the roles that may call it (I9); a test refuses one that is declared
without.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from gatepost.errors import (
    FieldError,
    GatepostError,
    Invalid,
    MethodNotAllowed,
    NotFound,
    WrongRole,
)
from gatepost.mistakes import of_pydantic, unknown_field
from gatepost.problem import MEDIA_TYPE, describe
from gatepost.service.asgi import Receive, Scope, Send, respond
from gatepost.service.bodies import name_sender
from gatepost.service.requests import context_of
from gatepost.trust.identity import Identity, Role


def create_api(title: str) -> FastAPI:
    """Return an application without pages of its own, whose every refusal is a problem."""
    app = FastAPI(
        title=title, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    for kind in (GatepostError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _refuse)
    return app


def allow(identify: Callable[[Request], Identity], *roles: Role) -> Any:
    """Return a dependency: the caller's identity, if its role is one of these."""

    async def check(request: Request) -> Identity:  # a plain function would cost a thread
        return _check(request, request.scope["route"].path, identify, roles)

    check.roles = roles  # type: ignore[attr-defined]
    return Depends(check)


@dataclass(frozen=True, slots=True)
class HotPost:
    """A POST of the hot path: who may call it, and what makes its answer, a JSON document."""

    path: str
    roles: tuple[Role, ...]
    handle: Callable[[Scope, Receive], Awaitable[bytes]]


class HotPosts:
    """An application in front of FastAPI's, for hot paths: what the framework spends on a call, on
    hundreds a second, is worth more messages than its comforts. What isn't hot goes on to
    FastAPI's."""

    def __init__(
        self, api: FastAPI, identify: Callable[[Request], Identity], posts: Iterable[HotPost]
    ) -> None:
        self.api = api
        self.posts = {post.path: post for post in posts}
        self._identify = identify

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        post = self.posts.get(scope["path"])
        if post is None:
            await self.api(scope, receive, send)
            return
        _check(Request(scope), post.path, self._identify, post.roles)
        if scope["method"] != "POST":
            raise MethodNotAllowed("POST")
        await respond(send, 200, await post.handle(scope, receive))


def _check(
    request: Request, path: str, identify: Callable[[Request], Identity], roles: tuple[Role, ...]
) -> Identity:
    """Return the caller's identity if its role allows the call; raise WrongRole if not. The event
    of this request will say who called what."""
    context = context_of(request.scope)
    context.route = path
    identity = identify(request)
    context.fields["caller"] = identity.uri
    name_sender(request.scope, identity.uri)
    if identity.role not in roles:
        raise WrongRole(f"The role {identity.role} may not do this.")
    return identity


async def _refuse(request: Request, error: Exception) -> Response:
    context = context_of(request.scope)
    problem = describe(in_our_words(request, error), context.request_id)
    context.fields["problem"] = problem.document["type"]
    return Response(
        problem.body(),
        problem.status,
        headers={name.decode(): value.decode() for name, value in problem.headers},
        media_type=MEDIA_TYPE.decode(),
    )


def _mistake(error: dict[str, Any]) -> FieldError:
    """Return a validation error in our words. The names of parameters are ours, but for one that
    nobody knows."""
    parts = [str(part) for part in error["loc"][1:]]
    if error["type"] == "extra_forbidden":
        return unknown_field("", parts[-1])
    return FieldError("".join(f"/{part}" for part in parts), of_pydantic(error))


def in_our_words(request: Request, error: Exception) -> Exception:
    """Return the framework's errors in our words: where and what, never what was sent."""
    if isinstance(error, RequestValidationError):
        return Invalid(errors=[_mistake(one) for one in error.errors()])
    if isinstance(error, HTTPException) and error.status_code == 404:
        return NotFound()
    if isinstance(error, HTTPException) and error.status_code == 405:
        return MethodNotAllowed(", ".join(_methods_of(request)))
    return error


def _methods_of(request: Request) -> list[str]:
    """Return every method that the request's path is served for. The framework names those of one
    route, and a path has several."""
    scopes = {method: {**request.scope, "method": method} for method in _METHODS}
    routes = request.app.routes
    return [
        method
        for method, scope in scopes.items()
        if any(route.matches(scope)[0] is Match.FULL for route in routes)
    ]


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
