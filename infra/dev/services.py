"""Starts the services as children, and waits until they are ready."""

import json
import sys
import time
import urllib.error
import urllib.request

from infra.dev.child import Child
from infra.dev.engines.find import clean_environment
from infra.dev.lines import render
from infra.dev.place import Place
from infra.dev.ports import HOST
from infra.dev.steps import Failure

READY_SECONDS = 30.0


def service(place: Place, name: str) -> Child:
    """Return the child of a service, or of one of several: `proxy`, `proxy-2`. Each has a
    configuration of its own."""
    return Child(
        name,
        [
            sys.executable,
            "-m",
            name.partition("-")[0],
            "--config",
            str(place.config / f"{name}.yaml"),
        ],
        log=place.log(name),
        folder=place.folder,
        environment=clean_environment(),
        lock=place.run / f"{name}.lock",
    )


def wait_until_ready(child: Child, ops_port: int) -> None:
    """Wait until /readyz says that the child is ready; raise Failure with what is wrong if it ends
    or doesn't get there."""
    deadline = time.monotonic() + READY_SECONDS
    while (missing := not_ready(ops_port)) is not None:
        if child.exit_code() is not None:
            raise Failure(f"{child.name} has ended:\n{_last_words(child)}")
        if time.monotonic() > deadline:
            raise Failure(f"{child.name} does not get ready ({missing}):\n{_last_words(child)}")
        time.sleep(0.02)


def not_ready(ops_port: int, host: str = HOST) -> str | None:
    """Return what /readyz misses; None when it is content."""
    try:
        with urllib.request.urlopen(f"http://{host}:{ops_port}/readyz", timeout=2):
            return None
    except urllib.error.HTTPError as error:
        checks = json.load(error)["checks"]
        wrong = [f"{n}: {c.get('detail', 'no')}" for n, c in checks.items() if not c["ok"]]
        return "; ".join(wrong) or "stopping"
    except OSError:
        return "it does not answer"


def _last_words(child: Child) -> str:
    lines = child.last_words().splitlines()
    return "\n".join(render(child.name, line, colour=False) for line in lines)
