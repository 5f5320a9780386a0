"""The portal's calls about the second step: giving a code, setting up, recovery codes."""

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from gatepost.service.requests import context_of
from gatepost.wire.people import RecoveryCodes, SecondStep, SecondStepCode
from main_server.api.bodies import read
from main_server.api.context import Context
from main_server.api.portal.messages import answer, now_of
from main_server.api.viewers import Seen, seen_by
from main_server.people import authenticator_repository as repository
from main_server.people.second_step import codes, service
from main_server.people.second_step.service import Given
from main_server.people.second_step.stage import Stage
from main_server.people.sessions.tokens import tokens_of
from main_server.store.database import transact


def create_router(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/portal")
    at_code = seen_by(context, stages=[Stage.CODE])
    setting_up = seen_by(context, stages=[Stage.SET_UP, Stage.COMPLETE])
    signed_in = seen_by(context)

    @router.post("/session/second-step")
    async def give_code(request: Request, asker: Seen = at_code) -> Response:
        given = await _given(request, asker)
        context_of(request.scope).event = "session.code_tried"
        opened = await context.ledger.run(service.complete, context.keyring, given, now_of(context))
        context_of(request.scope).event = "session.opened"
        signer = context.keyring.token_signer()
        return answer(tokens_of(signer, opened, now_of(context), in_a_browser=True))

    @router.get("/second-step")
    async def show(asker: Seen = setting_up) -> Response:
        return answer(await _show(context, asker))

    @router.post("/second-step")
    async def begin(asker: Seen = setting_up) -> Response:
        """Begin to set up the second step, for somebody who has just shown that it is them:
        otherwise a thief could make an account one that its holder can't use."""
        asker.viewer.check_proved()
        await context.ledger.run(service.begin, context.keyring, asker.user, now_of(context))
        return answer(await _show(context, asker))

    @router.post("/second-step/confirm")
    async def confirm(request: Request, asker: Seen = setting_up) -> Response:
        given = await _given(request, asker)
        made = await context.ledger.run(service.confirm, context.keyring, given, now_of(context))
        context_of(request.scope).event = "second_step.set_up"
        return answer(RecoveryCodes(made))

    @router.post("/second-step/recovery-codes")
    async def remake(request: Request, asker: Seen = signed_in) -> Response:
        given = await _given(request, asker)
        made = await context.ledger.run(service.remake, context.keyring, given, now_of(context))
        return answer(RecoveryCodes(made))

    @router.post("/second-step/off", status_code=204)
    async def turn_off(request: Request, asker: Seen = signed_in) -> Response:
        given = await _given(request, asker)
        await context.ledger.run(service.turn_off, context.keyring, given, now_of(context))
        context_of(request.scope).event = "second_step.turned_off"
        return Response(status_code=204)

    return router


async def _given(request: Request, asker: Seen) -> Given:
    said = await read(request, SecondStepCode)
    return Given(asker.user, asker.session, said.code, said.address)


async def _show(context: Context, asker: Seen) -> SecondStep:
    user = asker.user

    def look(connection: Connection) -> tuple[bool, int]:
        on = repository.confirmed_at(connection, user.user_id) is not None
        return on, repository.count_recovery_codes(connection, user.user_id)

    on, left = await context.ledger.run(transact, look)
    secret = None
    if asker.viewer.proof_wanted is None:  # as for `begin`: a session alone learns no secret
        secret = await context.ledger.run(service.pending_secret, context.keyring, user)
    if secret is None:
        return SecondStep(on, asker.demanded, left)
    uri = codes.address_of(secret, user.name, user.domain)
    return SecondStep(on, asker.demanded, left, codes.key_in_words(secret), uri)
