"""Key names: one hash tag a partition, and the same names in Python and Lua."""

import re

from redis.crc import key_slot

from gatepost.queue.keys import NAMES, READY_LISTS, PartitionKeys, lua_names


def test_all_keys_of_a_partition_share_a_slot() -> None:
    keys = PartitionKeys("message_queue", 3)

    assert len({key_slot(key) for key in (*keys.declared, keys.epoch)}) == 1


def test_partitions_and_queues_have_keys_of_their_own() -> None:
    declared = [
        key
        for queue in ("message_queue", "acme:messages")
        for partition in range(8)
        for key in PartitionKeys(queue, partition).declared
    ]

    assert len(set(declared)) == len(declared)


def test_names_are_those_that_operators_see() -> None:
    keys = PartitionKeys("message_queue", 0)

    assert keys.payload == b"{message_queue/0}:payload"
    assert keys.declared[-1] == b"{message_queue/0}:ready:10"
    assert {keys.signal, keys.exposed, keys.dead} < set(keys.declared)


def test_lua_names_the_keys_in_the_order_in_which_they_are_declared() -> None:
    names, numbers, ready = re.findall(r"local (.+) = (.+)\nlocal READY = (\d+)\n", lua_names())[0]

    assert names.split(", ") == [name.upper() for name in NAMES]
    assert numbers.split(", ") == [f"KEYS[{n}]" for n in range(1, len(NAMES) + 1)]
    declared = PartitionKeys("q", 0).declared
    assert [declared[int(ready) + n - 1] for n in READY_LISTS] == [
        f"{{q/0}}:ready:{n}".encode() for n in READY_LISTS
    ]
