"""Whatever comes from outside a process is read, or refused by the reader's own errors.

The whole corpus is for `./dev hostile`; here each reader has some hundred of its inputs, by a seed
that stays, and those that once got through.
"""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.mutations import CHANGES, mutations
from tests.hostile.readers import Reader, list_readers, run, slip_of

SEED, COUNT = 15, 20_000
ROOMS = ("gatepost", "proxy", "worker", "main_server", "portal", "analytics")
DECODES = re.compile(r"\bmsgspec\.(json|msgpack)\.(decode|Decoder)\b|\byaml\.(safe_)?load\b")
READ_HERE = {Path("gatepost/decoding.py"), Path("gatepost/config/strict_yaml.py")}


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> list[Reader]:
    return list_readers(tmp_path_factory.mktemp("readers"))


@pytest.fixture(autouse=True)
def _odd_serials() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_each_reader_takes_its_own_example(readers: list[Reader]) -> None:
    """Or its corpus would be noise around noise. A backup is sealed by a key of another place."""
    strange = {"backup of keys"}
    refused = []
    for reader in readers:
        try:
            reader.read(reader.good)
        except reader.raises:
            refused.append(reader.name)
    assert set(refused) <= strange


def test_nothing_else_comes_out_of_a_reader(readers: list[Reader]) -> None:
    done = run(SEED, COUNT, readers)
    assert done.inputs >= COUNT
    assert done.slips == []


def test_the_same_seed_makes_the_same_inputs() -> None:
    good = b'{"a": 17, "b": ["c"]}'
    first, again, other = (list(mutations(seed, good, 60)) for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) > len(CHANGES)


def test_a_reader_that_lets_something_else_out_is_told(readers: list[Reader]) -> None:
    bad = Reader("bad", lambda data: {b"": 1}[data], b"a", (ValueError,))
    slip = slip_of(bad, b"x")
    assert slip is not None
    assert (slip.reader, slip.error, slip.data) == ("bad", "KeyError", b"x")
    assert run(1, 30, [bad]).slips


def test_nobody_else_decodes() -> None:
    for room in ROOMS:
        for file in Path(room).rglob("*.py"):
            if file not in READ_HERE:
                assert not DECODES.search(file.read_text("utf-8")), file
