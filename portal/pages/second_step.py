"""The page of the second step: setting up an authenticator, recovery codes, doing without.

Recovery codes are in the answer to the form that made them and nowhere else: whoever loads the page
again has to make others. The picture of a key is made here, and kept by nobody.
"""

from io import BytesIO

import segno
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from gatepost.errors import GatepostError, Invalid, NotFound, TooManyTries, WrongCode
from gatepost.wire.people import RecoveryCodes, SecondStep, SecondStepCode
from portal import forms
from portal.context import Context
from portal.pages.code import given_in
from portal.visits import Visit, visitor

SET_UP_PAGE = "/account/second-step"
ACTS = ("confirm", "recovery-codes", "off")
"""The things that are done with a code."""
DONE = {"off": "Your authenticator is forgotten here, and so are its recovery codes."}
"""The words when something is done."""


def create_router(context: Context) -> APIRouter:
    router = APIRouter()
    signed_in = visitor(context)

    @router.get(SET_UP_PAGE)
    async def show(request: Request, done: str = "", visit: Visit = signed_in) -> Response:
        return await _page(context, request, visit, done=DONE.get(done))

    @router.get(f"{SET_UP_PAGE}/key.svg")
    async def picture(visit: Visit = signed_in) -> Response:
        state = await context.main_server.get("/second-step", visit.token, SecondStep)
        if state.uri is None:
            raise NotFound()
        return Response(draw(state.uri), media_type="image/svg+xml")

    @router.post(SET_UP_PAGE)
    async def begin(request: Request, visit: Visit = signed_in) -> Response:
        await forms.read(request)
        try:
            await context.main_server.post("/second-step", visit.token, None, SecondStep)
        except Invalid as error:
            return await _page(context, request, visit, error=error)
        return RedirectResponse(SET_UP_PAGE, 303)

    for act in ACTS:
        _add_act(context, router, act)
    return router


def _add_act(context: Context, router: APIRouter, act: str) -> None:
    signed_in = visitor(context)

    @router.post(f"{SET_UP_PAGE}/{act}")
    async def change(request: Request, visit: Visit = signed_in) -> Response:
        given = given_in(context, request, await forms.read(request))
        try:
            return await _change(context, request, visit, act, given)
        except (WrongCode, TooManyTries) as error:
            return await _page(context, request, visit, error=error)


def draw(uri: str) -> bytes:
    """Draw a code dark on light with a margin, whatever the page's colours are: cameras want it
    so."""
    into = BytesIO()
    segno.make(uri, error="m", micro=False).save(into, kind="svg", scale=5, border=4, light="#fff")
    return into.getvalue()


async def _change(
    context: Context, request: Request, visit: Visit, act: str, given: SecondStepCode
) -> Response:
    main_server, token = context.main_server, visit.token
    if act == "off":
        await main_server.tell("POST", "/second-step/off", token, given)
        return RedirectResponse(f"{SET_UP_PAGE}?done=off", 303)
    made = await main_server.post(f"/second-step/{act}", token, given, RecoveryCodes)
    return context.pages.make(request, "recovery_codes.html", visit, codes=made.codes)


async def _page(
    context: Context,
    request: Request,
    visit: Visit,
    *,
    done: str | None = None,
    error: GatepostError | None = None,
) -> Response:
    state = await context.main_server.get("/second-step", visit.token, SecondStep)
    return context.pages.make(
        request,
        "second_step.html",
        # People who must set one up can go nowhere else: no menu leads there.
        None if state.demanded and not state.on else visit,
        state=state,
        picture=f"{SET_UP_PAGE}/key.svg",
        done=done,
        error=error,
    )
