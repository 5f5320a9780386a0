"""The internal calls as they are on the wire: HTTP 200 with a result for each item, in order; what
can't be read as a call is refused whole and changes nothing (3.6 to 3.9)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from gatepost.trust.tls import TlsFiles, client_context
from infra.dev.ports import HOST
from tests.acceptance.two_stores.by_hand import envelope
from tests.acceptance.two_stores.rig import Rig, problem
from tests.factories import ids

REGISTER = "/internal/messages/register"
DELIVER = "/internal/messages/deliver"
SETTLE = "/internal/messages/settle"


@contextmanager
def caller(rig: Rig, name: str) -> Iterator[httpx.Client]:
    """Who calls the main server, by the name of its certificate."""
    pki = rig.place.pki
    files = TlsFiles(pki / f"{name}.pem", pki / f"{name}.key", pki / "ca.pem")
    url = f"https://{HOST}:{rig.ports.main_server}"
    with httpx.Client(base_url=url, verify=client_context(files), trust_env=False) as client:
        yield client


@pytest.fixture
def proxy(edge: Rig) -> Iterator[httpx.Client]:
    with caller(edge, "proxy-client") as client:
        yield client


@pytest.fixture
def worker(edge: Rig) -> Iterator[httpx.Client]:
    with caller(edge, "worker") as client:
        yield client


def offer(of: dict[str, Any], *, send: bool, attempt: int = 1) -> dict[str, Any]:
    bare = {"message_id": of["message_id"], "attempt": attempt}
    return bare | ({"envelope": of} if send else {})


def results(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_register_answers_each_in_its_place(edge: Rig, proxy: httpx.Client) -> None:
    good, late, bad = envelope(edge), envelope(edge, expires_at=1), {"not": "an envelope"}
    told = results(proxy.post(REGISTER, json={"envelopes": [bad, good, late, good]}))
    assert [one["result"] for one in told] == ["refused", "registered", "expired", "registered"]
    assert told[0]["reason"] == "unreadable"
    assert edge.states([good["message_id"], late["message_id"]]) == {"queued": 1, "missing": 1}


def test_deliver_asks_for_envelopes_and_answers_each_in_its_place(
    edge: Rig, proxy: httpx.Client, worker: httpx.Client
) -> None:
    known, new = envelope(edge), envelope(edge)
    late, known_late = envelope(edge, expires_at=1), envelope(edge)
    results(proxy.post(REGISTER, json={"envelopes": [known, known_late]}))
    edge.sql(
        "UPDATE messages SET expires_at = '2020-01-01' WHERE message_id = UNHEX(:id)",
        id=known_late["message_id"].replace("-", ""),
    )
    offers = [offer(one, send=False) for one in (new, known, late, known_late)]
    told = results(worker.post(DELIVER, json={"deliveries": offers}))
    assert [one["message_id"] for one in told] == [one["message_id"] for one in offers]
    assert [one["result"] for one in told] == [
        "send_envelope",
        "delivered",
        "send_envelope",
        "expired",
    ]
    offers = [offer(one, send=True) for one in (late, new, known)]
    told = results(worker.post(DELIVER, json={"deliveries": offers}))
    assert [one["result"] for one in told] == ["expired", "delivered", "already"]
    assert edge.states([known["message_id"], new["message_id"]]) == {"delivered": 2}
    assert edge.rows([late["message_id"]])[late["message_id"]]["encrypted_body"] is None


def test_settle_notes_retries_and_failures(
    edge: Rig, proxy: httpx.Client, worker: httpx.Client
) -> None:
    waits, fails, unknown = envelope(edge), envelope(edge), envelope(edge)
    results(proxy.post(REGISTER, json={"envelopes": [waits, fails]}))
    now = waits["queued_at"]
    times = {"started_at": now, "ended_at": now + 5}
    items = [
        {"message_id": waits["message_id"], "attempt": 2, "outcome": "retry", "reason": "busy"}
        | times
        | {"due_at": now + 30_000},
        {"message_id": fails["message_id"], "attempt": 3, "outcome": "failed"}
        | times
        | {"reason": "attempts_used"},
        {"message_id": unknown["message_id"], "attempt": 1, "outcome": "failed"}
        | times
        | {"reason": "refused", "envelope": unknown},
    ]
    answer = worker.post(SETTLE, json={"settlements": items})
    assert (answer.status_code, answer.json()) == (200, {})
    rows = edge.rows([one["message_id"] for one in (waits, fails, unknown)])
    said = {id_: (row["status"], row["reason"], row["attempt_count"]) for id_, row in rows.items()}
    assert said == {
        waits["message_id"]: ("queued", None, 2),
        fails["message_id"]: ("failed", "attempts_used", 3),
        unknown["message_id"]: ("failed", "refused", 1),
    }
    assert len(edge.sql("SELECT * FROM attempts")) == 3


BAD_CALLS: list[tuple[bytes, int]] = [
    (b"", 400),
    (b"{", 400),
    (b"[]", 422),
    (b"{}", 422),
    (b'{"%b": {}}', 422),
    (b'{"%b": [7]}', 422),
]


@pytest.mark.parametrize(("body", "status"), BAD_CALLS)
@pytest.mark.parametrize(
    ("path", "name"),
    [(DELIVER, b"deliveries"), (SETTLE, b"settlements")],
    ids=["deliver", "settle"],
)
def test_what_is_no_call_is_refused_whole(
    worker: httpx.Client, path: str, name: bytes, body: bytes, status: int
) -> None:
    content = body.replace(b"%b", name)
    answer = worker.post(path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert problem(answer) == ("malformed" if status == 400 else "invalid")


def test_a_call_has_its_size(edge: Rig, proxy: httpx.Client, worker: httpx.Client) -> None:
    one = envelope(edge)
    answer = proxy.post(REGISTER, json={"envelopes": [one] * 1001})
    assert (answer.status_code, problem(answer)) == (422, "invalid")
    offers = [{"message_id": str(ids.new()), "attempt": 1} for _ in range(1001)]
    answer = worker.post(DELIVER, json={"deliveries": offers})
    assert (answer.status_code, problem(answer)) == (422, "invalid")
    ended = {"outcome": "retry", "reason": "busy", "started_at": 0, "ended_at": 0, "due_at": 0}
    answer = worker.post(SETTLE, json={"settlements": [one | ended for one in offers]})
    assert (answer.status_code, problem(answer)) == (422, "invalid")
    assert edge.sql("SELECT * FROM attempts") == []
    assert len(results(worker.post(DELIVER, json={"deliveries": offers[:1000]}))) == 1000
    assert results(worker.post(DELIVER, json={"deliveries": []})) == []
    assert edge.states([one["message_id"]]) == {"missing": 1}
