"""The tokens that somebody who has signed in is given: an access token, and maybe a new refresh
token."""

from datetime import datetime
from uuid import UUID

from gatepost.service.access_tokens import Claims, Signer, mint
from gatepost.wire.people import Tokens
from main_server.people.sessions import browsers
from main_server.people.sessions.service import Opened


def tokens_of(
    signer: Signer, opened: Opened, now: datetime, *, in_a_browser: bool = False
) -> Tokens:
    """Make the tokens of a session. `in_a_browser` is true where somebody has just signed in whole:
    the browser is known from now on."""
    user = opened.user
    claims = Claims(
        UUID(bytes=user.user_id),
        opened.session_id,
        user.name,
        user.domain,
        user.role,
        opened.time_zone,
    )
    token = mint(signer, claims, sorted(opened.client_ids), now)
    browser = browsers.mint(signer, user.domain, user.name, now) if in_a_browser else None
    return Tokens(token, opened.refresh_token, browser)
