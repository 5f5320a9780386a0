"""The parts of an attack on a running stack: each sends its inputs and says what came back."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from gatepost.trust.identity import Role
from tests.acceptance.portal.browser import Browser
from tests.acceptance.portal.routes import PORTAL_ROUTES
from tests.acceptance.test_roles import EDGE_ROUTES, ROUTES
from tests.hostile.calls import Call, Route, calls, routes_with_fields
from tests.hostile.exchange import HUNG_UP, Answers, Connection, Peer, each, request_bytes
from tests.hostile.parts import Part
from tests.hostile.peers import Attacked
from tests.hostile.posts import Post, posts

MESSAGES = "/api/v1/messages"
REFUSED_FOR_NOW = (429, 503)
PKI_ROUTES = [
    Route("GET", path)
    for path in (
        "/ca.pem",
        "/crl",
        "/crl.pem",
        "/crl/{kid}.crl",
        "/ca/{kid}.cer",
        "/ocsp/{request}",
    )
] + [Route("POST", path, ("public_key", "signature", "csr")) for path in ("/enrol", "/ocsp")]
CALLERS = (Role.PROXY, Role.WORKER, Role.PORTAL, Role.ADMIN)


async def send_posts(attacked: Attacked, seed: int, count: int) -> Part:
    """Post messages, and compare each status with the oracle's."""
    answers = Answers()

    async def send(connection: Connection, one: Post) -> None:
        status = await connection.ask(request_bytes("POST", MESSAGES, one.headers, one.body))
        answers.note(status)
        if status != one.status and status not in REFUSED_FOR_NOW:
            answers.wrong.append(
                f"{status} instead of {one.status}: {one.headers} {one.body[:200]!r}"
            )

    client = attacked.hostile.certificate.identity.name
    await each(attacked.peer("proxy", attacked.hostile), posts(seed, count, client), send)
    return Part("posts, each status compared with an oracle's", answers)


async def call_everything(attacked: Attacked, seed: int, count: int) -> Part:
    """Call each route of each port, by the certificates that it lets in, as nobody would."""
    answers = Answers()
    inside = routes_with_fields(ROUTES) + [
        Route("POST", f"/internal/messages/{name}", ("deliveries", "envelopes", "settlements"))
        for name in ("register", "deliver", "settle")
    ]
    edge = [*routes_with_fields(EDGE_ROUTES), Route("POST", MESSAGES + "/batch")]
    pages = routes_with_fields(PORTAL_ROUTES)
    share = count // (len(CALLERS) + 4)
    for number, role in enumerate(CALLERS):
        peer = attacked.peer("main_server", attacked.roles[role])
        await _call(peer, calls(seed + number, share, inside), answers)
    await _call(attacked.peer("proxy", attacked.hostile), calls(seed + 10, share, edge), answers)
    await _call(attacked.pki(), calls(seed + 11, share, PKI_ROUTES), answers)
    await _call(attacked.browser(), calls(seed + 12, share, pages), answers)
    cookies = await asyncio.to_thread(_signed_in, attacked)
    await _call(attacked.browser(), calls(seed + 13, share, pages), answers, cookies)
    return Part("calls of every route by every role, portal included", answers)


async def _call(
    peer: Peer, some: Iterable[Call], answers: Answers, more: dict[str, str] | None = None
) -> None:
    async def send(connection: Connection, one: Call) -> None:
        headers = one.headers | (more or {})
        try:
            request = request_bytes(one.route.method, one.path, headers, one.body)
        except UnicodeEncodeError:
            return
        status = await connection.ask(request)
        answers.note(status)
        if status == HUNG_UP or (status >= 500 and status != 503):
            answers.wrong.append(
                f"{status}: {one.route} {one.path[:200]} {headers} {one.body[:200]!r}"
            )

    await each(peer, some, send)


def _signed_in(attacked: Attacked) -> dict[str, str]:
    """Return what a browser of the first administrator's sends along."""
    admin = attacked.site.status["admin"]
    browser = Browser(attacked.site)
    browser.sign_in(admin["user"], Path(admin["password_file"]).read_text().strip())
    cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())
    browser.http.close()
    return {"cookie": cookies, "origin": browser.url, "sec-fetch-site": "same-origin"}
