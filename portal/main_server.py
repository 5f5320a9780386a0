"""The calls to the main server, each made as the person who has signed in (or as nobody, to sign
in).

Its problems become our errors again, so that a page can be made of them.
"""

from typing import Any, TypeVar

import httpx
import msgspec

from gatepost.decoding import Undecodable, decode_json
from gatepost.errors import (
    FieldError,
    GatepostError,
    MethodNotAllowed,
    OutcomeUnknown,
    RetryableError,
    Unavailable,
)
from gatepost.problem import KINDS, TYPE_BASE

T = TypeVar("T")

_ERRORS = {kind.slug: error for error, kind in KINDS.items()}
_AWAY = "The main server can't be asked just now."
_PERHAPS = (
    "The main server has not answered: what you asked for may be done all the same. Look before you"
    " do it again."
)


_HASHED = {"/session", "/session/proof", "/password", "/password/reset"}


class MainServer:
    """The main server. Calls that hash a password take long: they go by connections of their own,
    few of them, so that whoever guesses keeps nobody's page waiting."""

    def __init__(self, client: httpx.AsyncClient, hashing: httpx.AsyncClient | None = None) -> None:
        self._client = client
        self._hashing = hashing or client

    async def get(self, path: str, token: str | None, kind: type[T], **query: str) -> T:
        return _decode(await self._call("GET", path, token, None, query), kind)

    async def post(self, path: str, token: str | None, said: Any, kind: type[T]) -> T:
        return _decode(await self._call("POST", path, token, said), kind)

    async def tell(self, method: str, path: str, token: str | None, said: Any = None) -> None:
        """Make a call that has no answer but that it is done."""
        await self._call(method, path, token, said)

    async def _call(
        self,
        method: str,
        path: str,
        token: str | None,
        said: Any,
        query: dict[str, str] | None = None,
    ) -> httpx.Response:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        body = None if said is None else msgspec.json.encode(said)
        client = self._hashing if method == "POST" and path in _HASHED else self._client
        try:
            answer = await client.request(
                method, f"/api/portal{path}", params=query, content=body, headers=headers
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            raise Unavailable(_AWAY) from None
        except httpx.HTTPError:
            harmless = method == "GET" or path.startswith("/session")
            raise (Unavailable(_AWAY) if harmless else OutcomeUnknown(_PERHAPS)) from None
        if answer.status_code >= 400:
            raise _error(answer)
        return answer


def _decode(answer: httpx.Response, kind: type[T]) -> T:
    try:
        return decode_json(answer.content, kind)
    except Undecodable:
        raise Unavailable(
            "The main server's answer can't be read: is it of this release?"
        ) from None


def _error(answer: httpx.Response) -> GatepostError:
    try:
        problem = decode_json(answer.content, dict[str, Any])
        kind = _ERRORS[str(problem["type"]).removeprefix(TYPE_BASE)]
        detail = str(problem["detail"])
        errors = [FieldError(e["pointer"], e["detail"]) for e in problem.get("errors", ())]
        wait = int(problem.get("retry_after", 1))
    except (Undecodable, ValueError, KeyError, TypeError, OverflowError):
        return Unavailable(_AWAY)
    if issubclass(kind, RetryableError):
        return kind(detail, retry_after=wait)
    return Unavailable(_AWAY) if kind is MethodNotAllowed else kind(detail, errors=errors)
