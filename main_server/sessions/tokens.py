"""What somebody who has signed in is given: an access token, and maybe a new refresh token."""

from datetime import datetime
from uuid import UUID

from gatepost.people import Tokens
from gatepost.service.access_tokens import Claims, Signer, mint
from main_server.sessions.service import Opened


def tokens_of(signer: Signer, opened: Opened, now: datetime) -> Tokens:
    user = opened.user
    claims = Claims(
        UUID(bytes=user.user_id),
        opened.session_id,
        user.name,
        user.domain,
        user.role,
        user.time_zone,
    )
    token = mint(signer, claims, sorted(opened.client_ids), now)
    return Tokens(token, opened.refresh_token)
