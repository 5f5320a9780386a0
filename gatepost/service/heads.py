"""Judges the head of a request, beyond what the parser insists on (RFC 9112, and stricter).

Whatever two servers on one way could read differently is refused: one of them would take for a
request what the other took for a body, or believe another host. Pure.
"""

import re
from collections.abc import Sequence

from gatepost.service.asgi import Header

_HOST = re.compile(rb"\A(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?\Z")
_ABSOLUTE = re.compile(rb"\Ahttps?://([^/?#@]+)(?:[/?][^#]*)?\Z", re.IGNORECASE)
_VERSIONS = ("1.0", "1.1")


def objection(
    start: bytes | bytearray, method: bytes, target: bytes, version: str, headers: Sequence[Header]
) -> str | None:
    """Return why a request is refused; None if it isn't. `start` is what has come with its first
    line, and may begin with the end of the body before it: so that line is looked for in all of it.
    The headers' names are in lower case."""
    if version not in _VERSIONS:
        return "Speak HTTP/1.1."
    if b"%b %b HTTP/%b\r\n" % (method, target, version.encode()) not in start:
        return "The first line is a method, a target and HTTP/1.1, with one space between them."
    return (
        _object_to_host(version, target, headers)
        or _object_to_target(method, target)
        or _object_to_framing(version, headers)
    )


def _object_to_host(version: str, target: bytes, headers: Sequence[Header]) -> str | None:
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) > 1 or (version == "1.1" and not hosts):
        return "A request has one header Host."
    if any(not _HOST.match(host) for host in hosts):
        return "The header Host is a name or an address, and perhaps a port."
    absolute = _ABSOLUTE.match(target)
    if absolute and hosts != [absolute[1]]:
        return "The target names another host than the header Host."
    return None


def _object_to_target(method: bytes, target: bytes) -> str | None:
    if target == b"*":
        return None if method == b"OPTIONS" else "The target is a path."
    if b"#" in target or not (target.startswith(b"/") or _ABSOLUTE.match(target)):
        return "The target is a path."
    return None


def _object_to_framing(version: str, headers: Sequence[Header]) -> str | None:
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    lengths = [value for name, value in headers if name == b"content-length"]
    if codings and (codings != [b"chunked"] or version != "1.1"):
        return "The only Transfer-Encoding is chunked, once, in HTTP/1.1."
    if len(lengths) > 1 or (lengths and codings):
        return "A body has one Content-Length, or a Transfer-Encoding."
    if lengths and not lengths[0].isdigit():
        return "The Content-Length is a number."
    return None
