"""Reading a backup as a whole: each piece is what was written, none is missing, and the dump in it
came to its end."""

import zlib
from collections.abc import Callable, Iterator

from main_server.backup.content import FILES, LEDGER, Opened
from main_server.backup.sealed import Damaged
from main_server.backup.tools import ENDS

_TAIL_BYTES = 200


def verify(backup: Opened, tell: Callable[[int], object]) -> None:
    """Raises Damaged."""
    for _ in read_ledger(backup, tell):
        pass
    for piece in backup.read(FILES):
        tell(len(piece))


def read_ledger(backup: Opened, tell: Callable[[int], object]) -> Iterator[bytes]:
    """The SQL of it. `tell` is called with how much was read of what is in the folder."""
    unsqueeze, tail = zlib.decompressobj(), b""
    try:
        for piece in backup.read(LEDGER):
            data = unsqueeze.decompress(piece)
            tail = (tail + data)[-_TAIL_BYTES:]
            tell(len(piece))
            yield data
    except zlib.error:
        raise Damaged(f"{backup.backup.name}: the dump can't be expanded") from None
    if not unsqueeze.eof or ENDS not in tail:
        raise Damaged(f"{backup.backup.name}: the dump has no end")
