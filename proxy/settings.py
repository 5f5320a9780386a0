"""The proxy's settings."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from gatepost.config.collector import SampledTracing
from gatepost.config.settings import Block, Listen, MainServer, Redis, Server, ServiceSettings, Tls


class Validation(Block):
    """What a submission may hold. The pattern must match the whole number, in ASCII."""

    phone_pattern: str = r"\+[1-9][0-9]{1,14}"
    """What a number must match."""
    max_body_length: Annotated[int, Field(ge=1, le=4000)] = 1000
    """Of a message, in code points."""

    @field_validator("phone_pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern, re.ASCII)
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        return pattern


class RateLimiting(Block):
    """A ceiling for each client at this proxy, beside the rate that the ledger grants it."""

    enabled: bool = True
    """Without it nobody is held to a rate, nor to what the ledger grants."""
    max_requests: Annotated[int, Field(ge=1)] | None = None
    """So many in the window; without it what the ledger grants is all."""
    window_seconds: Annotated[int, Field(ge=1, le=3600)] = 60
    """The window."""


class Cache(Block):
    """Where the bundle is kept, so that a proxy starts with the main server down."""

    folder: Path
    """The bundle, and the lists of what is revoked. Several proxies of one machine share it."""


class Draining(Block):
    """A proxy that is told to drain isn't ready any more, and takes posts for a while yet."""

    grace_seconds: Annotated[float, Field(ge=0, le=600)] = 10.0
    """So long. A load balancer must have looked at /readyz as often as it needs to by then."""


class ProxySettings(ServiceSettings):
    server: Server = Server(port=8001)
    ops: Listen = Listen(port=9001)
    tls: Tls
    main_server: MainServer
    redis: Redis = Redis()
    validation: Validation = Validation()
    cache: Cache
    rate_limiting: RateLimiting = RateLimiting()
    draining: Draining = Draining()
    tracing: SampledTracing = SampledTracing()
