"""The operators' port, plain HTTP on loopback: /healthz, /readyz (alias /ready) and /metrics.

/healthz asks nothing of any dependency; /readyz names each of them, and the process to signal.
"""

import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from gatepost.problem import MEDIA_TYPE, describe
from gatepost.service.asgi import REFUSAL, Receive, Scope, Send, respond


class Check(NamedTuple):
    """The state of one dependency. It can be well enough, and there be something to say of it."""

    ok: bool
    detail: str | None


Checks = dict[str, Check]


def needed(problem: str | None) -> Check:
    """Return the check of a dependency without which this service is not ready."""
    return Check(problem is None, problem)


def helpful(problem: str | None) -> Check:
    """Return the check of a dependency without which this service does what it can; operators
    should know."""
    return Check(True, problem)


Readiness = Callable[[], tuple[bool, dict[str, Any]]]

_TEXT = b"text/plain; version=0.0.4; charset=utf-8"


def operators_app(readiness: Readiness, exposition: Callable[[], bytes]) -> Any:
    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        if refusal := scope.get(REFUSAL):
            problem = describe(refusal)
            await respond(send, problem.status, problem.body(), content_type=MEDIA_TYPE)
            return
        match scope["path"]:
            case "/healthz":
                await respond(send, 200, b'{"alive":true}')
            case "/readyz" | "/ready":
                ready, checks = readiness()
                said = {"ready": ready, "pid": os.getpid(), "checks": checks}
                body = json.dumps(said).encode()
                await respond(send, 200 if ready else 503, body)
            case "/metrics":
                await respond(send, 200, exposition(), content_type=_TEXT)
            case _:
                await respond(send, 404, b'{"paths":["/healthz","/readyz","/metrics"]}')

    return app
