"""Bounds what the kernel keeps for a connection: it isn't counted as ours, and yet it is this
machine's memory."""

import fcntl
import socket
import struct
import sys
import termios
from contextlib import suppress

SEND_BYTES = 128 * 1024
"""Bytes that may be written and not yet taken. Left to itself, the kernel lets them grow to 4
MB."""
UNTAKEN_MS = 30_000
"""Milliseconds for which a peer may take nothing of it, also after we have closed."""
_ACKNOWLEDGED = slice(120, 128)
"""The place of `tcpi_bytes_acked` in Linux's `struct tcp_info`."""
_AT_ONCE = struct.pack("ii", 1, 0)


def bound(listener: socket.socket) -> None:
    """Bound what the kernel keeps for the connections that a listener takes: they inherit its
    options."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNTAKEN_MS)


def untaken(sock: socket.socket) -> int:
    """Return the bytes that the kernel keeps for the peer; 0 if the connection has gone already."""
    with suppress(OSError, ValueError):
        size = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4))
        return int.from_bytes(size, sys.byteorder)
    return 0


def taken(sock: socket.socket) -> int:
    """Return the bytes that the peer has acknowledged since the connection began."""
    with suppress(OSError):
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ACKNOWLEDGED.stop)
        return int.from_bytes(info[_ACKNOWLEDGED], sys.byteorder)
    return 0


def reset(sock: socket.socket) -> None:
    """Have what was not taken thrown away when the socket is closed: the kernel would keep it for a
    peer who never reads, and say nothing of it."""
    with suppress(OSError):  # it has gone already
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def shut(sock: socket.socket) -> None:
    """Shut a connection down: whoever reads from it hears that it has ended."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
