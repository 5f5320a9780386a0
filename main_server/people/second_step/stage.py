"""The stage that somebody has reached in signing in, by what the ledger says at this moment. Pure.

Whoever administers has an authenticator, or may do nothing but set one up. Whoever has one has
given a code of it in this session, or may do nothing but give one.
"""

from datetime import datetime
from enum import Enum

from gatepost.errors import GatepostError, Invalid, SecondStepMissing, SecondStepWanted
from gatepost.wire.people import UserRole


class Stage(Enum):
    COMPLETE = "complete"
    CODE = "code"
    SET_UP = "set up"


def is_demanded(
    role: UserRole, break_glass_until: datetime | None, now: datetime, *, demanding: bool
) -> bool:
    """Tell whether somebody can't do without a second step. `demanding` is whether the gateway
    wants one: in development it may not.

    Whoever comes in by breaking the glass has no time to look for a phone, for a day: that they
    were here is said loudly enough.
    """
    if not demanding or role is UserRole.USER:
        return False
    return break_glass_until is None or break_glass_until <= now


def stage_of(confirmed_at: datetime | None, given_at: datetime | None, *, demanded: bool) -> Stage:
    """Return the stage of somebody. `confirmed_at` is since when they have an authenticator,
    `given_at` when a code was given in this session: one of an authenticator that was replaced
    counts no more."""
    if confirmed_at is None:
        return Stage.SET_UP if demanded else Stage.COMPLETE
    return Stage.CODE if given_at is None or given_at < confirmed_at else Stage.COMPLETE


def refusal_at(stage: Stage) -> GatepostError:
    """Return what is said to those who ask for something that isn't for this stage."""
    match stage:
        case Stage.CODE:
            return SecondStepWanted()
        case Stage.SET_UP:
            return SecondStepMissing()
        case Stage.COMPLETE:
            return Invalid("You have signed in already.")
