"""Sets the groups in which TLS exchanges keys: elliptic curves alone, and the hybrid of ML-KEM with
one where the library has it.

OpenSSL also offers finite fields unless told otherwise. There, one small hello of a stranger costs
a server three hundred times what it costs on a curve, before any certificate is asked for.

Until Python 3.15 its documented way names a single curve. So each context first keeps to P-256,
which everybody who speaks TLS 1.3 has, and is then opened to the others through the very library
that Python's own module is linked with. Where that can't be reached, P-256 alone remains: whoever
prefers another curve is asked once more, and nothing else changes.
"""

import ssl
import struct
import sys
from typing import Any

from gatepost.errors import ConfigurationError

GROUPS = ("X25519MLKEM768:X25519:P-256", "X25519:P-256")
"""The first of these that the library knows, the most wanted group first."""

_P256 = "prime256v1"
_SET_GROUPS_LIST = 92
_FINITE_FIELDS = (0x0100, 0x0101, 0x0102, 0x0103, 0x0104)
_P256_GROUP = 0x0017


def keep_to_curves(context: ssl.SSLContext) -> None:
    """Let this context exchange keys in none but our groups from now on."""
    context.set_ecdh_curve(_P256)
    set_groups = getattr(context, "set_groups", None) or _reach(context)
    if set_groups is not None:
        _set_first_known(set_groups)


def check_curves(context: ssl.SSLContext) -> None:
    """Check that a server of this context refuses finite fields at once; raise ConfigurationError
    if it doesn't.

    It is asked as a stranger would: with a hello that offers nothing else. The same hello with
    P-256 in it must be taken, or its refusal would say nothing.
    """
    if not _takes(context, (_P256_GROUP, *_FINITE_FIELDS)) or _takes(context, _FINITE_FIELDS):
        raise ConfigurationError(
            f"this Python's TLS library ({ssl.OPENSSL_VERSION}) does not keep to elliptic curves: "
            "anybody could keep this server busy with key exchanges. Use another build of Python."
        )


def _set_first_known(set_groups: Any) -> None:
    for groups in GROUPS:
        try:
            set_groups(groups)
        except ssl.SSLError:
            continue
        return


def _reach(context: ssl.SSLContext) -> Any:
    """Return a function that sets this context's groups, or None where that can't be done safely.

    In every CPython of these versions the library's own context is the first field of Python's. The
    library is that of the module: none that somebody else has loaded is ever asked.
    """
    module = getattr(sys.modules.get("_ssl"), "__file__", None)
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 15) or module is None:
        return None
    try:
        import ctypes  # there are builds of Python without it

        library = ctypes.CDLL(module)
        version, control = library.OpenSSL_version, library.SSL_CTX_ctrl
        forget = library.ERR_clear_error
    except (ImportError, OSError, AttributeError, MemoryError):
        return None
    version.restype = ctypes.c_char_p
    if version(0).decode() != ssl.OPENSSL_VERSION:
        return None
    control.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_char_p)
    control.restype = ctypes.c_long
    pointer = ctypes.c_void_p.from_address(id(context) + object.__basicsize__)

    def set_groups(groups: str) -> None:
        if control(pointer, _SET_GROUPS_LIST, 0, groups.encode()) != 1:
            forget()  # or a later failure would be told with the words of this one
            raise ssl.SSLError("unknown group")

    return set_groups


def _takes(context: ssl.SSLContext, groups: tuple[int, ...]) -> bool:
    """Return whether a server of this context goes on after a hello that offers these groups."""
    incoming = ssl.MemoryBIO()
    incoming.write(_hello(groups))
    try:
        context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True).do_handshake()
    except ssl.SSLWantReadError:
        return True
    except ssl.SSLError:
        return False
    return True


def _hello(groups: tuple[int, ...]) -> bytes:
    """Return a client's first words (RFC 8446), which offer these groups, and no share of a key
    yet."""
    offered = struct.pack(f"!{len(groups)}H", *groups)
    extensions = b"".join(
        struct.pack("!HH", number, len(data)) + data
        for number, data in (
            (43, b"\x02\x03\x04"),  # supported versions: 1.3
            (10, struct.pack("!H", len(offered)) + offered),  # supported groups
            (13, b"\x00\x06\x04\x03\x08\x04\x08\x07"),  # signature algorithms
            (51, b"\x00\x00"),  # key shares: none
        )
    )
    body = b"\x03\x03" + bytes(32) + b"\x00" + b"\x00\x02\x13\x01" + b"\x01\x00"
    body += struct.pack("!H", len(extensions)) + extensions
    message = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + struct.pack("!H", len(message)) + message
