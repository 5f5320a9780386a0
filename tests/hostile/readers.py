"""Everything that reads what comes from outside a process: what a good input looks like, and which
errors may come out of a bad one. Whatever else comes out would end a process, or be a 500.

`run(seed, count)` reads so many bad inputs, spread over all readers.
"""

import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.mutations import mutations

Read = Callable[[bytes], object]


@dataclass(frozen=True)
class Reader:
    """`raises` are its own errors: none, where whatever is bad is passed over."""

    name: str
    read: Read
    good: bytes
    raises: tuple[type[Exception], ...] = ()


@dataclass(frozen=True)
class Slip:
    """What a reader raised that it may not; `data` makes it happen again."""

    reader: str
    error: str
    where: str
    data: bytes


@dataclass
class Run:
    inputs: int = 0
    slips: list[Slip] = field(default_factory=list)


def run(seed: int, count: int, readers: list[Reader] | None = None) -> Run:
    """Reads so many inputs, as many by each reader. Of a reader's slips of one kind one is told."""
    done = Run()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd serials, and of odd names in YAML
        if readers is None:
            with tempfile.TemporaryDirectory() as folder:
                return _run(done, seed, count, list_readers(Path(folder)))
        return _run(done, seed, count, readers)


def _run(done: Run, seed: int, count: int, readers: list[Reader]) -> Run:
    each = -(-count // len(readers))
    for reader in readers:
        told = set()
        for data in mutations(seed, reader.good, each):
            done.inputs += 1
            slip = slip_of(reader, data)
            if slip is not None and (slip.error, slip.where) not in told:
                told.add((slip.error, slip.where))
                done.slips.append(slip)
    return done


def slip_of(reader: Reader, data: bytes) -> Slip | None:
    try:
        reader.read(data)
    except reader.raises:
        return None
    except BaseException as error:  # whatever it is: that is what is looked for
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno} {last.name}"
        return Slip(reader.name, type(error).__name__, where, data)
    return None


def list_readers(folder: Path) -> list[Reader]:
    """Made anew: some keep files in that folder."""
    from tests.hostile import reading_bodies, reading_files, reading_keys, reading_texts

    rooms = (reading_bodies, reading_files, reading_keys, reading_texts)
    found = [reader for room in rooms for reader in room.list_readers(folder)]
    assert len({one.name for one in found}) == len(found)
    return found


def text_of(data: bytes) -> str:
    """As text that came by a header or an address: any character may be in it."""
    return data.decode("utf-8", "replace")


def from_file(folder: Path, name: str, read: Callable[[Path], object], mode: int = 0o600) -> Read:
    """It, of what is in a file."""
    file = folder / name

    def read_it(data: bytes) -> object:
        file.write_bytes(data)
        file.chmod(mode)
        return read(file)

    return read_it
