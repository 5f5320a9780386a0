"""The state of each part of the place, in words. Pure.

An administrator of one domain is told whether the parts that they share with others are well; what
exactly is wrong with how many of them, and on which machine, is for those who run the place.
"""

from collections.abc import Iterator, Sequence

from gatepost.service.ops import Checks
from gatepost.wire.overview import Part
from gatepost.wire.vitals import Vitals
from main_server.health.overview.heard import SILENT_SECONDS

_SERVICES = {"proxy": "Proxies", "worker": "Workers", "main_server": "Main servers"}
_WITHOUT = {
    "proxy": "Nothing can be sent",
    "worker": "Nothing is delivered",
    "main_server": "The ledger is not asked",
}
_BREAKERS = {"proxy": ("queue", "ledger"), "worker": ("redis", "main_server")}
"""Checks that are a breaker: a process passes over the store as long as it does not answer."""
Processes = Sequence[tuple[Vitals, float]]


def parts_of(own: Checks, processes: Processes, *, whole: bool) -> list[Part]:
    """Return the parts. `own` are the checks of the main server that was asked; `whole` is for
    those who may know everything."""
    redis = own["redis"].detail if "redis" in own else None
    parts = [
        _store("Ledger", own["ledger"].detail if "ledger" in own else None, whole=whole),
        _store("Redis", redis, whole=whole),
    ]
    if "safety" in own and own["safety"].detail:
        words = own["safety"].detail if whole else "A store is set up to lose or to leak."
        parts.append(Part("Safety of the stores", "trouble", words or ""))
    if redis:
        unknown = "Not known while Redis does not answer: it carries what they say."
        return parts + [
            Part(name, "unknown", unknown) for name in (*_SERVICES.values(), "Breakers")
        ]
    parts += [_service(service, processes, whole=whole) for service in _SERVICES]
    return [*parts, _breakers(processes, whole=whole)]


def problems_of(vitals: Vitals) -> list[str]:
    return [f"{name}: {detail}" for name, (_, detail) in vitals.checks.items() if detail]


def _store(name: str, problem: str | None, *, whole: bool) -> Part:
    if problem is None:
        return Part(name, "ok", "Answers.")
    return Part(name, "trouble", problem if whole else "Does not answer as it should.")


def _service(service: str, processes: Processes, *, whole: bool) -> Part:
    name, of_it = _SERVICES[service], [one for one in processes if one[0].service == service]
    there = [vitals for vitals, silent in of_it if silent <= SILENT_SECONDS]
    unready = [one for one in there if not all(ok for ok, _ in one.checks.values())]
    if not there:
        return Part(name, "trouble", f"None is heard. {_WITHOUT[service]}.")
    words = list(_count(len(there), len(of_it) - len(there), len(unready)))
    state = "ok" if len(words) == 1 else "trouble"
    if whole:
        return Part(name, state, f"{', '.join(words)}.")
    return Part(name, state, "At work." if state == "ok" else "At work, not all of them.")


def _count(there: int, silent: int, unready: int) -> Iterator[str]:
    yield f"{there} at work"
    if unready:
        yield f"{unready} not ready"
    if silent:
        yield f"{silent} not heard of any more"


def _breakers(processes: Processes, *, whole: bool) -> Part:
    heard = [vitals for vitals, silent in processes if silent <= SILENT_SECONDS]
    open_ = [
        f"{vitals.service} to {name} on {vitals.machine}: {vitals.checks[name][1]}"
        for vitals in heard
        for name in _BREAKERS.get(vitals.service, ())
        if name in vitals.checks and vitals.checks[name][1]
    ]
    if not open_:
        return Part("Breakers", "ok", "All closed.")
    words = (
        f"{len(open_)} open: {'; '.join(sorted(set(open_))[:5])}." if whole else "Some are open."
    )
    return Part("Breakers", "trouble", words)
