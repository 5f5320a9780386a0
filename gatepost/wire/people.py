"""The forms in which the portal and the main server speak of people and their sessions.

Unknown fields are refused by the side that is called, and passed over by the one that asks: the
main server may be the newer one.
"""

from enum import StrEnum

import msgspec


class UserRole(StrEnum):
    USER = "user"
    ADMIN = "admin"
    SUPER_ADMIN = "super-admin"


class SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A try to sign in. `address` is where the browser is: too many tries from there are slowed
    down. `browser` is what it was given when somebody signed in before, `before` the refresh token
    that it has: that session ends when this one begins."""

    domain: str
    name: str
    password: str
    address: str
    browser: str | None = None
    before: str | None = None


class Refresh(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    refresh_token: str


class PasswordChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    current: str
    new: str


class ZoneChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The time zone in which somebody wants to read times: a name of the tz database; None for
    that of their domain."""

    time_zone: str | None


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The proof that the one who asks is the session's own person: a code of their authenticator,
    or their password where they have none. `address` is as in SignIn."""

    address: str
    password: str = ""
    code: str = ""


class Reset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new password, by a link that is good for one time."""

    token: str
    new: str


class Tokens(msgspec.Struct, frozen=True):
    """The tokens of a session. `refresh_token` is None where the one that was shown stays good for
    a moment. `browser` is for the browser to keep, and to show when somebody signs in: it knows
    this account."""

    access_token: str
    refresh_token: str | None
    browser: str | None = None


class KnownBrowser(msgspec.Struct, frozen=True):
    """A value for the browser to keep, as `browser` of Tokens; it knows an account of this
    domain."""

    browser: str
    domain: str


class Person(msgspec.Struct, frozen=True):
    """A person who has signed in, as the ledger knows them now; times are ISO 8601."""

    name: str
    domain: str
    role: UserRole
    client_ids: list[str]
    signed_in_at: str
    last_login_at: str | None
    """The time at which they signed in before this session."""
    time_zone: str | None = None
    """The time zone that they have chosen themselves."""
    second_step: bool = False
    """True if this session was begun with a code as well."""
    domain_time_zone: str | None = None
    """The time zone in which they read times without one of their own."""


class SecondStepCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A code of an authenticator, or a recovery code, however it was typed; `address` is as in
    SignIn."""

    code: str
    address: str


class SecondStep(msgspec.Struct, frozen=True):
    """The state of a person's second step, which is `demanded` of those who administer. While one
    is being set up, `key` is for typing and `uri` for a picture; once it is on, nobody sees them
    again."""

    on: bool
    demanded: bool
    recovery_codes_left: int
    key: str | None = None
    uri: str | None = None


class RecoveryCodes(msgspec.Struct, frozen=True):
    """The recovery codes of a person, shown once; each is good once."""

    codes: list[str]


class TokenKey(msgspec.Struct, frozen=True):
    """A public key by which access tokens are verified, in hex."""

    kid: str
    key: str


class TokenKeys(msgspec.Struct, frozen=True):
    """The keys of access tokens. `now_ms` is the time by which tokens are minted: whoever verifies
    them goes by it, too."""

    keys: list[TokenKey]
    now_ms: int | None = None


class NewPerson(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person to be added. `name` is as alice@example.com, or alone for somebody of one's own
    domain."""

    name: str
    role: UserRole = UserRole.USER
    client_ids: list[str] = []


class RightsChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rights that somebody has from now on, all of them."""

    role: UserRole
    client_ids: list[str]


class Account(msgspec.Struct, frozen=True):
    """An account of somebody who may sign in, for those who administer it."""

    user_id: str
    name: str
    domain: str
    role: UserRole
    client_ids: list[str]
    created_at: str
    disabled_at: str | None
    last_login_at: str | None
    second_step: bool = False
    """True if they have an authenticator."""


class Accounts(msgspec.Struct, frozen=True):
    """Accounts, ordered by domain and name; `next` is where the following ones begin, if there are
    any."""

    accounts: list[Account]
    next: str | None = None


class PasswordLink(msgspec.Struct, frozen=True):
    """The secret of a link by which a person sets a password: shown once, good once."""

    account: Account
    token: str
    expires_at: str
