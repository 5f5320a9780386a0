"""Sets up the connections of both clients: over https alone, to the address that was given and
nowhere else."""

import os
import ssl
from pathlib import Path
from platform import python_version
from typing import TypeAlias, TypedDict

import httpx

from gatepost import __version__
from gatepost.client.trust import trust
from gatepost.trust.identity import Role

FileName: TypeAlias = str | os.PathLike[str]

# Well within the 75 seconds after which the proxy hangs up on an idle connection: a send that meets
# the hanging-up has an unknown outcome.
IDLE_SECONDS = 30.0
BAD_PROXY = "proxy is http://host:port, with user:password@ before the host if it wants them"


class Settings(TypedDict):
    """The arguments that an httpx client is made with, sync or async."""

    base_url: httpx.URL
    verify: ssl.SSLContext
    timeout: float
    limits: httpx.Limits
    headers: dict[str, str]
    trust_env: bool
    proxy: httpx.Proxy | None


def settings(
    base_url: str,
    *,
    ca: FileName,
    cert: FileName,
    key: FileName,
    timeout: float,
    proxy: str | None = None,
    expect: Role | None = None,
) -> Settings:
    return Settings(
        base_url=_checked(base_url),
        verify=trust(Path(ca), Path(cert), Path(key), expect),
        timeout=timeout,
        limits=httpx.Limits(keepalive_expiry=IDLE_SECONDS),
        headers={"User-Agent": f"gatepost/{__version__} python/{python_version()}"},
        # Use neither a proxy nor a netrc that the environment happens to name.
        trust_env=False,
        proxy=proxy_at(proxy),
    )


def proxy_at(address: str | None) -> httpx.Proxy | None:
    """Return a proxy that is asked to CONNECT: it sees where the connection goes, and nothing of
    what is sent."""
    if address is None:
        return None
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or url.path not in ("", "/"):
        raise ValueError(BAD_PROXY)
    return httpx.Proxy(url)


def without_password(address: str) -> str:
    """Return an address as it may be shown."""
    before, at, host = address.rpartition("@")
    return f"{before.partition('://')[0]}://…@{host}" if at and "://" in before else address


def _checked(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL()
    plain = not (url.userinfo or url.query or url.fragment)
    if url.scheme != "https" or not url.host or not 0 < (url.port or 443) < 65536 or not plain:
        raise ValueError("base_url is https://host:port of the gateway's proxy, and nothing more")
    return url
