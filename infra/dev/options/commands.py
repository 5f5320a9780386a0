"""The commands of `./dev`: all of them, and what each takes."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from infra.dev.options import bench, chaos, checks, drill, stack
from infra.dev.options.programs import Parser


@dataclass(frozen=True)
class Command:
    """A command: what it is for, the module that does it, what it takes, the environment it needs.

    `check` reads the arguments, and ends with help or a refusal in words where that is due.
    """

    summary: str
    module: str
    check: Callable[[list[str]], object]
    group: str | None = None


def _takes(parser: Parser) -> Callable[[list[str]], argparse.Namespace]:
    return lambda arguments: parser().parse_args(arguments)


COMMANDS = {
    "up": Command(
        "start everything: Redis, MariaDB and the services",
        "infra.dev.commands.up",
        _takes(stack.up),
        "server",
    ),
    "status": Command(
        "what runs, and where it listens (--json for scripts)",
        "infra.dev.commands.status",
        _takes(stack.status),
    ),
    "logs": Command(
        "what the services say (logs [service] [-f])",
        "infra.dev.commands.logs",
        _takes(stack.logs),
    ),
    "down": Command("stop everything", "infra.dev.commands.down", _takes(stack.down)),
    "test": Command(
        "lint, then all tests (arguments go to pytest)",
        "infra.dev.commands.test",
        checks.parse_test,
        "test",
    ),
    "lint": Command(
        "ruff, mypy, import-linter, shellcheck",
        "infra.dev.commands.lint",
        _takes(checks.lint),
        "test",
    ),
    "docs": Command(
        "the documents, as a site in var/docs",
        "infra.dev.commands.docs",
        _takes(checks.docs),
        "test",
    ),
    "build": Command(
        "the release and the client, as wheels in dist/",
        "infra.dev.commands.build",
        _takes(checks.build),
        "server",
    ),
    "lock": Command(
        "choose versions anew and write locks/",
        "infra.dev.commands.lock",
        _takes(checks.lock),
        "boot",
    ),
    "bench": Command(
        "measure (bench queue runs bench/queue.py)",
        "infra.dev.commands.bench",
        bench.PROGRAMS.parse,
        "bench",
    ),
    "analytics": Command(
        "the nightly pipeline of the running stack (analytics run)",
        "infra.dev.commands.analytics",
        stack.ANALYTICS.parse,
        "analytics",
    ),
    "demo": Command(
        "sixty seconds: load, kills, a FLUSHALL, and what is left",
        "infra.dev.commands.demo",
        _takes(stack.demo),
        "server",
    ),
    "chaos": Command(
        "break everything under load, and judge what is left",
        "infra.dev.commands.chaos",
        chaos.PROGRAMS.parse,
        "test",
    ),
    "hostile": Command(
        "send what is hostile to every port and reader, and judge what comes back",
        "tests.hostile.run",
        _takes(checks.hostile),
        "test",
    ),
    "drill": Command(
        "what takes too long for a test (drill analytics)",
        "infra.dev.commands.drill",
        drill.PROGRAMS.parse,
        "bench",
    ),
}
