"""Renders the services' log lines, JSON for machines, for people: one short line an event."""

import json
import os
import shutil
import sys
from typing import Any

# Fields that the line's place says already, or that are of no use to somebody who watches.
LEFT_OUT = {"ts", "level", "service", "event", "pid", "request_id", "traceparent", "trace_id"}
VALUE_WIDTH = 40
COLOURS = {"proxy": 36, "worker": 35, "main_server": 34, "dev": 32}
LEVEL_COLOURS = {"warning": 33, "error": 31}


def colours_wanted() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def render(service: str, line: str, colour: bool) -> str:
    """Return one line: `10:07:51.123  proxy        message.accepted  message_id=…  ms=1.2`."""
    try:
        record = json.loads(line)
        clock, event = record["ts"][11:23], str(record["event"])
    except (ValueError, TypeError, KeyError):
        return f"{'':12}  {_paint(service, 12, COLOURS.get(service), colour)} {line.rstrip()}"
    fields = [_field(name, value) for name, value in record.items() if _is_shown(name, value)]
    name = _paint(service, 12, COLOURS.get(service), colour)
    what = _paint(event, 22, LEVEL_COLOURS.get(str(record.get("level"))), colour)
    return f"{clock}  {name} {what} {_as_many_as_fit(fields, len(event))}".rstrip()


def _as_many_as_fit(fields: list[str], used: int) -> str:
    room = shutil.get_terminal_size((160, 0)).columns - 28 - max(used, 22)
    text = ""
    for field in fields:
        if len(text) + len(field) <= room:
            text += field + "  "
    return text


def _is_shown(name: str, value: Any) -> bool:
    return name not in LEFT_OUT and value is not None


def _field(name: str, value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(text.split())
    if len(text) > VALUE_WIDTH:
        text = text[: VALUE_WIDTH - 1] + "…"
    return f"{name}={text}"


def _paint(text: str, width: int, code: int | None, colour: bool) -> str:
    padded = text.ljust(width)
    return f"\033[{code}m{padded}\033[0m" if colour and code else padded
