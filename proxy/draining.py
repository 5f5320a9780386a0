"""The work of `gatepost proxy drain|undrain`, and what they print.

The proxy is asked at its port for operators who it is, and told by a signal: so only those who may
signal its process can drain it. That port could be anybody's while the proxy is down; so the
process that it names is signalled only if it runs a proxy, or if systemd says that it is the one to
be stopped.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.config.settings import load
from gatepost.decoding import Undecodable, decode_json
from gatepost.errors import ConfigurationError
from gatepost.service.forking import DRAIN, UNDRAIN
from proxy.settings import ProxySettings

ANSWER_SECONDS, HEARD_SECONDS, LOOK_SECONDS = 3.0, 5.0, 0.1
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True, slots=True)
class Seen:
    """A proxy's word on itself; `drain` is None while it doesn't drain."""

    pid: int
    drain: str | None
    drained: bool


def drain(config: Path | None, instance: int, *, wait: bool, json: bool) -> None:
    settings = _read(config, instance)
    _signal(settings, DRAIN)
    seen = _wait_heard(settings, lambda one: one.drain is not None)
    _tell(Output(json=json), _wait_drained(settings) if wait else seen)


def undrain(config: Path | None, instance: int, *, json: bool) -> None:
    settings = _read(config, instance)
    _signal(settings, UNDRAIN)
    _tell(Output(json=json), _wait_heard(settings, lambda one: one.drain is None))


def _read(config: Path | None, instance: int) -> ProxySettings:
    try:
        return load(ProxySettings, config).of_instance(instance)
    except ConfigurationError as error:
        words = "Give the proxy's configuration: --config FILE."
        raise Failure("usage", error.detail, words) from None


def _signal(settings: ProxySettings, number: int) -> None:
    pid = _look(settings).pid
    if not _is_proxy(pid):
        raise Failure("unexpected-answer", f"{_place(settings)} is not a proxy's: it names {pid}.")
    try:
        os.kill(pid, number)
    except PermissionError:
        words = "Run this as root, or as the user of the proxy."
        raise Failure("forbidden", "This user may not signal the proxy.", words) from None


def _look(settings: ProxySettings) -> Seen:
    url = f"http://{_place(settings)}/readyz"
    try:
        answer = httpx.get(url, timeout=ANSWER_SECONDS, trust_env=False)
    except httpx.HTTPError:
        words = f"No proxy answers at {_place(settings)}."
        raise Failure("unavailable", words, "Is it --instance N, or another --config?") from None
    try:
        return _seen(decode_json(answer.content, dict[str, Any]))
    except (Undecodable, ValueError, KeyError, TypeError):
        raise Failure("unexpected-answer", f"{_place(settings)} is not a proxy's.") from None


def _seen(said: Any) -> Seen:
    check = said["checks"].get("drain", {"ok": True, "detail": None})
    words = None if check["ok"] else str(check["detail"])
    return Seen(int(said["pid"]), words, words == "drained")


def _is_proxy(pid: int) -> bool:
    """Return whether the process is a proxy. In a unit's sandbox no other process can be seen; its
    ExecStop is told which one it stops."""
    if os.environ.get("MAINPID") == str(pid):
        return True
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return (b"-m", b"proxy") in pairwise(arguments)


def _wait_heard(settings: ProxySettings, done: Callable[[Seen], bool]) -> Seen:
    seen = _wait(settings, done, HEARD_SECONDS)
    if not done(seen):
        words = f"The proxy (process {seen.pid}) was told, and does not do it."
        raise Failure("still-waiting", words, "Does it stand still? Its log may say.")
    return seen


def _wait_drained(settings: ProxySettings) -> Seen:
    grace = settings.draining.grace_seconds
    seen = _wait(settings, lambda one: one.drained or one.drain is None, grace + HEARD_SECONDS)
    if seen.drain is None:
        words = "The proxy takes posts again: somebody took it back, or it was restarted."
        raise Failure("unavailable", words)
    if not seen.drained:
        words = f"The proxy is {seen.drain}."
        hint = f"The file says {grace:g} s, and it says more: was it reloaded since?"
        raise Failure("still-waiting", words, hint)
    return seen


def _wait(settings: ProxySettings, done: Callable[[Seen], bool], seconds: float) -> Seen:
    """Wait until it is done or time is over; return what the proxy said last."""
    deadline = time.monotonic() + seconds
    while not done(seen := _look_again(settings)) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    return seen


def _look_again(settings: ProxySettings) -> Seen:
    try:
        return _look(settings)
    except Failure as failure:
        if failure.kind != "unavailable":
            raise
        words = "The proxy was told, and does not answer any more."
        raise Failure("unavailable", words, "Was it stopped meanwhile?") from None


def _place(settings: ProxySettings) -> str:
    host = _ANY.get(settings.ops.host, settings.ops.host)
    return f"[{host}]:{settings.ops.port}" if ":" in host else f"{host}:{settings.ops.port}"


def _tell(output: Output, seen: Seen) -> None:
    if output.json:
        output.result({"pid": seen.pid, "draining": seen.drain is not None, "says": seen.drain})
    else:
        output.say(f"The proxy is {seen.drain or 'taking posts, and not draining'}.")
