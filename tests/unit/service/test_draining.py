"""Draining: it begins once, lasts as long as it is to, can be taken back, and ends connections."""

import os
from typing import Any

from gatepost.service.draining import Drain, LastAnswers


class Hand:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_is_over_after_its_time_and_can_be_taken_back() -> None:
    clock = Hand()
    drain = Drain(clock)
    assert (drain.begun, drain.is_over(0), drain.words(5)) == (False, False, None)
    assert not drain.end()
    assert drain.begin()
    clock.now += 2
    assert not drain.begin(), "it goes on as it began"
    assert (drain.is_over(5), drain.words(5)) == (False, "draining: takes posts for 3 s more")
    clock.now += 3
    assert (drain.is_over(5), drain.words(5)) == (True, "drained")
    assert drain.end()
    assert (drain.begun, drain.is_over(0)) == (False, False)


def test_what_was_forked_before_it_began_knows() -> None:
    drain = Drain()
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(told, 1)
        os._exit(7 if drain.begun else 0)
    drain.begin()
    os.write(tell, b"!")
    _, status = os.waitpid(child, 0)
    os.close(told)
    os.close(tell)
    assert os.waitstatus_to_exitcode(status) == 7


async def test_each_answer_is_its_connections_last_while_it_drains() -> None:
    drain, sent = Drain(), []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    drains = LastAnswers(app, drain)
    await drains({}, receive, send)
    drain.begin()
    await drains({}, receive, send)
    assert [one["headers"] for one in sent if "headers" in one] == [
        [(b"a", b"b")],
        [(b"a", b"b"), (b"connection", b"close")],
    ]
