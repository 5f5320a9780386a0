"""What was sent and what is shown are compared, not kept; of many a sample is asked for."""

import json
import random
from dataclasses import asdict

from main_server.messages.reading.masking import mask
from tests.chaos.digests import Digests, new_key
from tests.chaos.shown import sample
from tests.chaos.workload.texts import Texts

DIGESTS = Digests(new_key())


def test_a_digest_is_of_number_and_body_and_of_nobody_elses_run() -> None:
    digest = DIGESTS.of("+12345678901", "a body")
    assert digest == DIGESTS.of("+12345678901", "a body")
    others = [DIGESTS.of("+12345678901", "a bod"), DIGESTS.of("+12345678902", "a body")]
    others.append(Digests(new_key()).of("+12345678901", "a body"))
    assert digest not in others


def test_a_history_holds_digests_and_neither_body_nor_number() -> None:
    text = Texts("one", random.Random(3), DIGESTS).good()
    document = json.loads(text.body)
    number, body = document["sender_number"], document["message_body"]
    assert text.item.digest == DIGESTS.of(number, body)
    assert text.item.shown == DIGESTS.of(mask(number), body)
    told = json.dumps(asdict(text.item))
    assert number not in told
    assert body not in told


def test_few_are_all_asked_for_and_of_many_always_the_same() -> None:
    ids = [f"{n:032x}" for n in range(500)]
    assert sorted(sample(ids)) == ids
    chosen = sample(ids, 50)
    assert len(chosen) == 50
    random.Random(1).shuffle(ids)
    assert sample(ids, 50) == chosen
