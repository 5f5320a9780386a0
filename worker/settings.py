"""The workers' settings."""

from typing import Annotated, Literal

from pydantic import Field

from gatepost.config.collector import Tracing
from gatepost.config.settings import Block, Listen, MainServer, Redis, ServiceSettings


class Pool(Block):
    """How many processes, and what becomes of what is refused for now.

    Retries come after `retry_interval` seconds; with `exponential`, twice as long each time up to
    `retry_longest`, with jitter.
    """

    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    """How many processes."""
    retry: Literal["fixed", "exponential"] = "fixed"
    """How the waits between attempts grow."""
    retry_interval: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """The first wait, in seconds; with `fixed` each."""
    retry_longest: Annotated[float, Field(gt=0, le=86400)] = 3600.0
    """The longest wait, in seconds."""
    max_attempts: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """Then a message has failed. It expires after 96 hours in any case."""


class WorkerSettings(ServiceSettings):
    ops: Listen = Listen(port=9100)
    main_server: MainServer
    redis: Redis = Redis()
    worker: Pool = Pool()
    tracing: Tracing = Tracing()
