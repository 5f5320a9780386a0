"""Logs: JSON lines on standard output, one wide event for each unit of work.

No event has a payload, a number or a key. A field is a plain value; what the libraries log comes
through the same writer, so a reader meets one format only.
"""

import json
import logging
import mmap
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import msgspec

from gatepost.clock import iso
from gatepost.errors import ConfigurationError

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class Level:
    """The level from which on events are written. It is shared with processes that are forked from
    then on, so that it can be changed for all processes of a service while they run."""

    def __init__(self, name: str) -> None:
        self._shared = mmap.mmap(-1, 1)
        self.settle(name)

    def settle(self, name: str) -> None:
        self._settled = self._shared[0] = _LEVELS[name]

    def toggle_debug(self) -> str:
        """Switch between writing everything and what was settled; return the level that now
        holds."""
        every = _LEVELS["debug"]
        self._shared[0] = self._settled if self._shared[0] == every else every
        return next(name for name, value in _LEVELS.items() if value == self._shared[0])

    def passes(self, level: str) -> bool:
        return _LEVELS[level] >= self._shared[0]


class Log:
    """A log of one service's events; `bind` gives one whose fields stand in each of its events."""

    def __init__(
        self, service: str, level: str | Level = "info", fields: dict[str, Any] | None = None
    ):
        self._service = service
        self.level = Level(level) if isinstance(level, str) else level
        self._fields = fields or {}

    def bind(self, **fields: Any) -> "Log":
        return Log(self._service, self.level, {**self._fields, **fields})

    def debug(self, event: str, **fields: Any) -> None:
        self._write("debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._write("error", event, fields)

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        if not self.level.passes(level):
            return
        line = {
            "ts": iso(time.time_ns() // 1_000_000),
            "level": level,
            "service": self._service,
            "event": event,
            "pid": os.getpid(),
            **self._fields,
            **fields,
        }
        sys.stdout.buffer.write(_encode(line) + b"\n")  # UTF-8, whatever the locale is
        sys.stdout.buffer.flush()


_fast = msgspec.json.Encoder(enc_hook=str).encode


def _encode(line: dict[str, Any]) -> bytes:
    try:
        return _fast(line)
    except (ValueError, OverflowError, TypeError):  # half a surrogate in a file's name, say
        return json.dumps(line, default=str).encode()


class _Bridge(logging.Handler):
    """A handler that brings the libraries' log records into our format.

    Only the type and the places of an exception are kept: its text may quote what was being
    handled.
    """

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        level = next((n for n, v in reversed(_LEVELS.items()) if record.levelno >= v), "debug")
        fields: dict[str, Any] = {"logger": record.name}
        if record.exc_info and record.exc_info[1]:
            fields |= failure(record.exc_info[1])
        else:
            fields["message"] = _message(record)
        self._log._write(level, "library.log", fields)


def _message(record: logging.LogRecord) -> str:
    """Return a record's text. Arguments that do not fit must not become an error of the code that
    logs it."""
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        return str(record.msg)


def failure(error: BaseException) -> dict[str, Any]:
    """Return an exception as fields: its type and where it was raised, without its text.

    Only our own words to an operator are kept: they name files and settings.
    """
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return {
        "error": type(error).__name__,
        "where": [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in frames],
        **({"reason": error.detail} if isinstance(error, ConfigurationError) else {}),
    }


def start_logging(service: str, level: str) -> Log:
    """Return the log of this process; from now on the libraries' records pass through it as
    well."""
    log = Log(service, level)
    root = logging.getLogger()
    root.handlers = [_Bridge(log)]
    root.setLevel(logging.WARNING)
    return log
