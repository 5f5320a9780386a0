"""The settings that `gatepost retention run` and `gatepost retention prove` need.

The main server's own will do; better is one with a database user of its own (`gatepost db grant
retention`), which can drop partitions and delete, and reads no body.
"""

from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field

from gatepost.config.settings import Block, ServiceSettings
from main_server.settings import Database, Keys


class Limits(Block):
    """Beyond these a run is refused, until somebody has looked and confirms it."""

    most_percent: Annotated[float, Field(gt=0, le=100)] = 25.0
    """Of all messages of the ledger, so much may go at once."""
    few_messages: Annotated[int, Field(ge=0)] = 1_000
    """So few may go whatever part of all they are."""
    nights_behind: Annotated[int, Field(ge=1)] = 3
    """So many nights may be missing: in the lake, and since the last run."""
    wait_minutes: Annotated[float, Field(ge=0, le=1_440)] = 30.0
    """So long a backup's snapshot, or whoever else holds the table, is waited for."""
    metrics_folder: Path | None = None
    """Of the node exporter's textfile collector."""


class RetentionSettings(ServiceSettings):
    database: Database = Database(user="gatepost_retention")
    keys: Keys
    retention: Limits = Limits()


class RetentionOnly(RetentionSettings):
    """As the main server's own file may have them as well."""

    model_config = ConfigDict(extra="ignore")
