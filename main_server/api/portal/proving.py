"""The portal's call by which somebody shows again that it is them."""

from fastapi import APIRouter, Request, Response

from gatepost.errors import Invalid
from gatepost.service.requests import context_of
from gatepost.wire.people import Proof
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import now_of
from main_server.api.viewers import Seen, seen_by
from main_server.people import authenticator_repository as authenticators
from main_server.people.second_step import service as second_step
from main_server.people.second_step.service import Given
from main_server.people.second_step.stage import Stage
from main_server.people.sessions import proof
from main_server.people.sessions import service as sessions
from main_server.people.sessions.service import Try
from main_server.store.database import transact


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal")
    seen = seen_by(context, stages=[Stage.SET_UP, Stage.COMPLETE])

    @router.post("/session/proof", status_code=204)
    async def prove(request: Request, asker: Seen = seen) -> Response:
        given = await read(request, Proof)
        context_of(request.scope).event = "session.proof_tried"
        await _prove(context, asker, given)
        context_of(request.scope).event = "session.proved"
        return Response(status_code=204)

    return router


async def _prove(context: Context, asker: Seen, given: Proof) -> None:
    user, session = asker.user, asker.session
    if await context.ledger.run(transact, lambda c: authenticators.confirmed_at(c, user.user_id)):
        code = Given(user, session, given.code, given.address)
        await context.ledger.run(second_step.prove, context.keyring, code, now_of(context))
        return
    tried = await check_present(context, asker, given.password)
    await context.ledger.run(proof.prove_by_password, tried, session, user, now_of(context))


async def check_present(context: Context, asker: Seen, password: str) -> Try:
    """Check that the password is the asker's present one; raise Invalid, or TooManyTries. Guesses
    are counted by the session, so that its holder is held up by nobody elsewhere, and noted in the
    audit log."""
    user, known = asker.user, asker.session.session_id.hex()
    try_ = sessions.begin_try
    tried = await context.ledger.run(try_, user.domain, user.name, "", now_of(context), known)
    if not await context.passwords.is_right(user.password_hash, password):
        await context.ledger.run(proof.note_refused, asker.session, user, now_of(context))
        raise Invalid("Your present password is another one.")
    return tried
