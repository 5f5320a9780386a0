"""The call that delivers: ids first, envelopes only for those that the main server asks for."""

from collections.abc import Sequence
from uuid import UUID

import httpx
import msgspec

from gatepost.delivering import (
    NO_ENVELOPE,
    DeliverRequest,
    DeliverResult,
    DeliveryOffer,
    Result,
    decode_answer,
    encode_json,
)
from gatepost.queue import Delivery


class Outage(Exception):
    """The main server did not give an answer about these messages: nothing is known of them."""


class MainServer:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def deliver(self, deliveries: Sequence[Delivery]) -> list[DeliverResult]:
        """One result for each delivery, in order; raises Outage."""
        results = await self._call([_offer(d, with_envelope=False) for d in deliveries])
        wanted = [n for n, one in enumerate(results) if one.result is Result.SEND_ENVELOPE]
        if wanted:
            offers = [_offer(deliveries[n], with_envelope=True) for n in wanted]
            for n, result in zip(wanted, await self._call(offers), strict=True):
                results[n] = result
        return results

    async def _call(self, offers: list[DeliveryOffer]) -> list[DeliverResult]:
        try:
            answer = await self._client.post(
                "/internal/messages/deliver",
                content=encode_json(DeliverRequest(offers)),
                headers={"content-type": "application/json"},
            )
        except httpx.HTTPError as error:
            raise Outage(f"the main server does not answer: {type(error).__name__}") from None
        if answer.status_code != 200:
            raise Outage(f"the main server answers with status {answer.status_code}")
        try:
            results = decode_answer(answer.content).results
        except msgspec.MsgspecError:
            raise Outage("the main server's answer can't be read") from None
        if [one.message_id for one in results] != [offer.message_id for offer in offers]:
            raise Outage("the main server answers about other messages")
        return results


def _offer(delivery: Delivery, *, with_envelope: bool) -> DeliveryOffer:
    return DeliveryOffer(
        message_id=UUID(bytes=delivery.id),
        attempt=delivery.attempts,
        envelope=msgspec.Raw(delivery.payload) if with_envelope else NO_ENVELOPE,
    )
