"""Read a backup as a whole: each piece is what was written, none is missing, and the dump in it
came to its end."""

import zlib
from collections.abc import Callable, Iterator

from main_server.backup.content import FILES, LEDGER, Opened
from main_server.backup.sealed import Damaged
from main_server.backup.tools import ENDS

_TAIL_BYTES = 200


def verify(backup: Opened, tell: Callable[[int], object]) -> None:
    """Read all parts; raise Damaged if one isn't whole."""
    for _ in read_ledger(backup, tell):
        pass
    for piece in backup.read(FILES):
        tell(len(piece))


def read_ledger(backup: Opened, tell: Callable[[int], object]) -> Iterator[bytes]:
    """Yield the ledger's SQL. `tell` is called with how much of the folder's files was read."""
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
