"""The things that one process of the portal works with."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from gatepost.addresses import Network
from portal.assets import Assets
from portal.keys import Keys
from portal.main_server import MainServer
from portal.rendering import Pages
from portal.streams import Streams


@dataclass(frozen=True, slots=True)
class Context:
    main_server: MainServer
    keys: Keys
    pages: Pages
    assets: Assets
    domain: str
    """The domain whose people sign in without saying where they belong."""
    trusted_proxies: tuple[Network, ...] = ()
    """The proxies between browsers and us, which are believed when they say where a browser is."""
    own_certificates: tuple[Path, ...] = ()
    """The files of the certificates that this portal shows: to browsers, and to the main server."""
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """An event that is set when this process is to end, and with it what would go on by itself."""
    streams: Streams = field(default_factory=Streams)
