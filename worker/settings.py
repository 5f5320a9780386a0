"""The workers' settings."""

from typing import Annotated

from pydantic import Field

from gatepost.settings import Block, Listen, MainServer, Redis, ServiceSettings


class Pool(Block):
    """How many processes, and what becomes of what is refused for now."""

    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    retry_interval: Annotated[float, Field(gt=0, le=3600)] = 30.0
    max_attempts: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000


class WorkerSettings(ServiceSettings):
    ops: Listen = Listen(port=9100)
    main_server: MainServer
    redis: Redis = Redis()
    worker: Pool = Pool()
