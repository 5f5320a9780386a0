"""A form that waits until who sent it has shown that it is them.

The main server decides whether that is wanted. Then the answer to the form is a page that asks for
it and holds what was sent; that page goes where the first form went, so nothing is lost, and no
address says where to go on.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fastapi import Request, Response

from gatepost.errors import CodeWanted, GatepostError, Invalid, TooManyTries, WrongCode
from gatepost.wire.people import Proof
from portal.addresses import browser_of
from portal.forms import CODE, PASSWORD

if TYPE_CHECKING:
    from portal.context import Context

PATH = "/session/proof"


class Held(GatepostError):
    """What was given is not right, or was not taken."""

    def __init__(self, field: str, why: GatepostError) -> None:
        super().__init__(why.detail)
        self.field, self.why = field, why


async def prove(
    context: "Context", request: Request, token: str, fields: Mapping[str, str]
) -> None:
    """Have the main server check the proof; raise Held if it is not right, or was not taken."""
    address = browser_of(request, context.trusted_proxies)
    said = Proof(address, fields.get(PASSWORD, ""), fields.get(CODE, ""))
    try:
        await context.main_server.tell("POST", PATH, token, said)
    except WrongCode as error:
        raise Held(CODE, error) from None
    except Invalid as error:
        raise Held(PASSWORD, error) from None
    except TooManyTries as error:
        raise Held(CODE if CODE in fields else PASSWORD, error) from None


def page(context: "Context", request: Request, error: GatepostError) -> Response:
    if isinstance(error, Held):
        field, refused = error.field, error.why
    else:
        field, refused = CODE if isinstance(error, CodeWanted) else PASSWORD, None
    return context.pages.make(
        request,
        "prove.html",
        request.state.visit,
        403,
        held=request.state.fields,
        by_code=field == CODE,
        field=field,
        back="/" + request.url.path.split("/")[1],
        error=refused,
    )
