"""The first message: sent over mTLS as a partner would, and followed until it is delivered."""

import time
from typing import Any

from gatepost.client import Client, GatepostError
from infra.dev.steps import Failure

NUMBER, BODY = "+1234567890", "This is the message content"
DELIVERED_WITHIN_SECONDS = 15.0


def send_first_message(status: dict[str, Any]) -> int:
    """How many milliseconds it took from before it was sent until it was seen as delivered."""
    certificate = status["client"]
    begun = time.monotonic()
    try:
        with Client(
            status["proxy"], ca=status["ca"], cert=certificate["cert"], key=certificate["key"]
        ) as gateway:
            message_id = gateway.send(NUMBER, BODY).message_id
            while gateway.status(message_id).status != "delivered":
                if time.monotonic() - begun > DELIVERED_WITHIN_SECONDS:
                    raise Failure(
                        f"The first message was accepted, but not delivered within"
                        f" {DELIVERED_WITHIN_SECONDS:.0f} s. See ./dev logs worker"
                    )
                time.sleep(0.005)
    except GatepostError as error:
        raise Failure(f"The first message was not accepted: {error}") from None
    return round((time.monotonic() - begun) * 1000)
