"""Sends the first message, over mTLS as a partner would, and follows it until it is delivered.

It shows that a start has come to its end. Where it isn't delivered that is said, with what is
paused and how much waits, and the stack goes on: it serves what it can.
"""

import time
from collections.abc import Callable
from typing import Any

from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from gatepost.client import Client, GatepostError
from gatepost.queue import QueueError
from infra.dev.steps import WIDTH, Failure
from infra.dev.waiting import Waiting, look

NUMBER, BODY = "+1234567890", "This is the message content"
DELIVERED_WITHIN_SECONDS = 15.0


def send_first_message(
    status: dict[str, Any], within_seconds: float = DELIVERED_WITHIN_SECONDS
) -> int:
    """Send the message; return how many milliseconds passed until it was seen as delivered."""
    certificate = status["client"]
    begun = time.monotonic()
    try:
        with Client(
            status["proxy"], ca=status["ca"], cert=certificate["cert"], key=certificate["key"]
        ) as gateway:
            message_id = gateway.send(NUMBER, BODY).message_id
            while gateway.status(message_id).status != "delivered":
                if time.monotonic() - begun > within_seconds:
                    after = f" after {within_seconds:.0f} s" if within_seconds else ""
                    raise Failure(f"accepted, and not delivered yet{after}")
                time.sleep(0.005)
    except GatepostError as error:
        raise Failure(f"not accepted: {error}") from None
    return round((time.monotonic() - begun) * 1000)


def tell_first_message(
    status: dict[str, Any],
    look: Callable[[dict[str, Any]], Waiting] = look,
    send: Callable[[dict[str, Any], float], int] = send_first_message,
) -> str:
    """Say how the first message fared, and why it waits if it does. It never fails."""
    try:
        before = look(status)
        if before.takes_nothing_in:
            return _say("not sent", before)
        within = 0.0 if before.delivers_nothing else DELIVERED_WITHIN_SECONDS
        try:
            fared = f"delivered in {send(status, within)} ms"
        except Failure as failure:
            more = "" if before.delivers_nothing else "See ./dev logs worker."
            return _say(str(failure), look(status), more)
    except (SQLAlchemyError, RedisError, QueueError) as error:
        return _say(f"not known how it fares: {type(error).__name__}", None)
    return _say(fared, before if before.pauses else None)


def _say(fared: str, waiting: Waiting | None, more: str = "") -> str:
    lines = [f"{'first message, over mTLS '.ljust(WIDTH, '.')} {fared}"]
    lines += list(waiting.words()) if waiting else []
    lines += [more] if more else []
    return "\n".join(f"  {line}" for line in lines)
