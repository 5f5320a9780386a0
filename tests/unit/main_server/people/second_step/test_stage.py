"""How far somebody has come: deny by default, by what the ledger says at this moment."""

from datetime import datetime, timedelta

import pytest

from gatepost.errors import Invalid, SecondStepMissing, SecondStepWanted
from gatepost.wire.people import UserRole
from main_server.people.second_step.stage import Stage, is_demanded, refusal_at, stage_of

NOW = datetime(2026, 11, 18, 20, 0)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("confirmed", "given", "demanded", "stage"),
    [
        (None, None, False, Stage.COMPLETE),
        (None, None, True, Stage.SET_UP),
        # A code of an authenticator that is no more: who administers begins anew.
        (None, NOW, True, Stage.SET_UP),
        (NOW, None, False, Stage.CODE),
        (NOW, None, True, Stage.CODE),
        (NOW, NOW - HOUR, False, Stage.CODE),
        (NOW, NOW, True, Stage.COMPLETE),
        (NOW, NOW + HOUR, False, Stage.COMPLETE),
    ],
)
def test_how_far_they_have_come(
    confirmed: datetime | None, given: datetime | None, demanded: bool, stage: Stage
) -> None:
    assert stage_of(confirmed, given, demanded=demanded) is stage


@pytest.mark.parametrize("role", list(UserRole))
@pytest.mark.parametrize("demanding", [True, False])
def test_it_is_demanded_of_who_administers(role: UserRole, demanding: bool) -> None:
    wanted = demanding and role is not UserRole.USER
    assert is_demanded(role, None, NOW, demanding=demanding) is wanted


def test_who_broke_the_glass_has_a_day() -> None:
    until = NOW + HOUR
    assert not is_demanded(UserRole.SUPER_ADMIN, until, NOW, demanding=True)
    assert is_demanded(UserRole.SUPER_ADMIN, until, until, demanding=True)


def test_each_is_told_what_is_wanted() -> None:
    kinds = [type(refusal_at(stage)) for stage in (Stage.CODE, Stage.SET_UP, Stage.COMPLETE)]
    assert kinds == [SecondStepWanted, SecondStepMissing, Invalid]
