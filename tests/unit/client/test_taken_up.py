"""A certificate that another program renews is taken up while a call is under way."""

from pathlib import Path

import pytest

from gatepost.client import upkeep
from tests.unit.client.conftest import Either
from tests.unit.client.gateway import MESSAGE_ID, Asked, Authority, Gateway, Pair, Told, told_status


def test_a_long_call_goes_on_with_the_new_one(
    either: Either,
    gateway: Gateway,
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call of many requests lasts longer than what is left of a certificate."""
    monkeypatch.setattr(upkeep, "LOOK_SECONDS", 0.0)
    former, new = authority.issue("former"), authority.issue("new")
    pair = Pair(tmp_path / "cert.pem", tmp_path / "key.pem")
    put(former, pair)

    def answer(asked: Asked) -> Told:
        put(new, pair)
        return told_status("delivered" if asked.peer == "new" else "queued")

    gateway.answer = answer
    told = either(
        lambda c: c.wait(MESSAGE_ID, timeout=10), cert=pair.cert, key=pair.key, renew=False
    )

    assert told.status == "delivered"
    assert gateway.asked[0].peer == "former"


def put(pair: Pair, there: Pair) -> None:
    for source, target in ((pair.key, there.key), (pair.cert, there.cert)):
        whole = target.with_suffix(".whole")
        whole.write_bytes(source.read_bytes())
        whole.replace(target)
