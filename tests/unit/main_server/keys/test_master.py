"""Master keys: what they wrap is bound to what it is for, and none is called missing too soon."""

import secrets
from datetime import date

import pytest

from gatepost.errors import ConfigurationError, KeysUnavailable
from main_server.keys.master import MasterKey, MasterKeys, data_purpose, service_purpose

KEY = secrets.token_bytes(32)
DAY = date(2026, 11, 18)


def test_what_is_wrapped_is_unwrapped_for_the_same_purpose_only() -> None:
    master = MasterKey(KEY)
    wrapped = master.wrap(b"k" * 32, b"one")
    assert master.unwrap(wrapped, b"one") == b"k" * 32
    for other, purpose in ((master, b"two"), (MasterKey(bytes(32)), b"one")):
        with pytest.raises(KeysUnavailable):
            other.unwrap(wrapped, purpose)


@pytest.mark.parametrize("damaged", [b"", b"x", bytes(12), bytes(60)])
def test_what_is_damaged_is_never_called_unreadable(damaged: bytes) -> None:
    """It may be restored, so no message is given up for it."""
    with pytest.raises(KeysUnavailable):
        MasterKey(KEY).unwrap(damaged, b"one")


def test_every_bit_of_a_wrapped_key_counts() -> None:
    master = MasterKey(KEY)
    wrapped = master.wrap(b"k" * 32, b"one")
    for position in range(len(wrapped) * 8):
        flipped = bytearray(wrapped)
        flipped[position // 8] ^= 1 << position % 8
        with pytest.raises(KeysUnavailable):
            master.unwrap(bytes(flipped), b"one")


def test_the_id_of_a_master_key_says_nothing_of_it_and_tells_it_from_others() -> None:
    kids = {MasterKey(secrets.token_bytes(32)).kid for _ in range(100)}
    assert len(kids) == 100
    assert MasterKey(KEY).kid == MasterKey(KEY).kid
    assert MasterKey(KEY).kid not in KEY


def test_no_two_keys_are_wrapped_for_the_same_purpose() -> None:
    purposes = [
        data_purpose(1, "a:b", DAY),
        data_purpose(11, "a:b", DAY),
        data_purpose(1, "a:bc", DAY),
        data_purpose(1, "a:b", date(2026, 11, 19)),
        service_purpose("sealing", b"12345678"),
        service_purpose("edge_mac", b"12345678"),
        service_purpose("sealing", b"12345679"),
    ]
    assert len(set(purposes)) == len(purposes)


class File:
    """What the file holds, and how often it was read."""

    def __init__(self, *keys: MasterKey) -> None:
        self.keys = list(keys)
        self.reads = 0

    def __call__(self) -> list[MasterKey]:
        self.reads += 1
        if not self.keys:
            raise ConfigurationError("it can't be read")
        return self.keys


def test_a_key_that_is_not_known_is_looked_for_in_the_file() -> None:
    old, new = MasterKey(KEY), MasterKey(bytes(32))
    file = File(old)
    masters = MasterKeys(file)
    assert masters.get(old.kid) is masters.newest is old
    assert file.reads == 1
    file.keys = [new, old]
    assert masters.get(new.kid) is new
    assert masters.newest is new
    file.keys = [new]
    masters.refresh()
    with pytest.raises(KeysUnavailable, match=old.kid.hex()):
        masters.get(old.kid)


def test_a_file_that_has_become_unusable_takes_nothing_away() -> None:
    key = MasterKey(KEY)
    file = File(key)
    masters = MasterKeys(file)
    file.keys = []
    with pytest.raises(ConfigurationError):
        masters.refresh()
    with pytest.raises(KeysUnavailable, match="can't be read"):
        masters.get(b"elsewher")
    assert masters.get(key.kid) is key
