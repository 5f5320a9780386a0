"""State that the connections of one port in one process share: who is there, and whether it is time
to stop."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

from uvicorn.server import ServerState

from gatepost.logs import Log
from gatepost.service.crowd import Crowd
from gatepost.service.turned_away import TurnedAway
from gatepost.trust.identity import Certificate
from gatepost.trust.revoked import must_end
from gatepost.trust.tls import Port


class Live:
    """The connections that a port has open: those of some certificates can be cut."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.turned_away = TurnedAway(log)
        self.crowd = Crowd(self.turned_away)
        self.connections: set[Any] = set()
        self.port: Port | None = None

    def cut(self, is_out: Callable[[Certificate], bool]) -> None:
        """Cut the connections of such certificates without a word, in the middle of a request too:
        their sender is none of ours any more, or nobody can tell."""
        found = [one for one in self.connections if must_end(one.certificate, is_out)]
        for connection in found:
            connection.transport.abort()
        if found:
            whose = {one.certificate.fingerprint for one in found}
            self._log.warning("connections.cut", connections=len(found), certificates=len(whose))

    def renew(self) -> None:
        """Let each connection end with its next answer, as our certificate is another now: nobody
        is to be left on the one before when it is revoked."""
        for connection in self.connections:
            connection.last = True

    def is_former(self, tls: ssl.SSLObject | None) -> bool:
        """Return whether this handshake was under way when our certificate became another."""
        return self.port is not None and tls is not None and tls.context is not self.port.current


class State(ServerState):
    """The state that the connections of a server share, including whether it is time to stop."""

    def __init__(self, stop: asyncio.Event, live: Live) -> None:
        super().__init__()
        self.stop = stop
        self.live = live
        self.connections = live.connections
