"""`./dev bench portal`: how long people wait for the portal's pages, with ten million messages.

The pages are asked for over HTTPS, as a browser does, by people who have signed in; how much of the
ledger each list looks at is counted by the database. With `--write`, the figures go into
docs/performance-portal.md: no figure gets there in another way.
"""

import asyncio
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from bench.people import chrome, page
from bench.people.population import Population, populate
from bench.people.questions import Asker, Counter, Questions, askers
from bench.people.visitors import Look, Visitor, add_person, make_hash
from bench.rig import pages
from bench.rig.machine import noise
from gatepost.wire.people import UserRole
from infra.dev.options import bench as options
from infra.dev.stack import Stack
from main_server.commands.keys_opening import opened
from main_server.keys.service import open_keyring

LOOKS = 40
"""At each list, with what it is narrowed to drawn anew."""
CROWD, CROWD_SECONDS, THINKS = 100, 60.0, (2.0, 8.0)
ROUNDS = 5
P95_MS, ROWS, WHOLE_MS = 300.0, 5_000, 2_000.0


@dataclass
class Bed:
    """A stack with its people, and the ways to ask."""

    stack: Stack
    population: Population
    hashed: str

    def visitor(self, number: int) -> Visitor:
        """From an address of their own: of one alone, so many would be slowed down."""
        status = self.stack.status()
        return Visitor(
            status["portal"], status["ca"], f"127.0.{1 + number // 250}.{1 + number % 250}"
        )


async def measure(bed: Bed, rig: "Rig") -> dict[str, Any]:
    lists: list[dict[str, Any]] = []
    for number, asker in enumerate(rig.askers):
        visitor = bed.visitor(number)
        await visitor.sign_in(asker.viewer.domain, asker.viewer.name)
        print(f"measuring: {asker.words} …", flush=True)
        lists += await rig.look_at_lists(asker, visitor)
        lists.append(await rig.look_at_messages(asker, visitor))
        await visitor.close()
    print(f"measuring: {CROWD} people at once …", flush=True)
    return {"lists": lists, "crowd": await crowd(bed)}


def in_chromium(bed: Bed, askers: list[Asker]) -> list[dict[str, Any]]:
    print("measuring: whole pages in Chromium …", flush=True)
    status = bed.stack.status()
    url, ca, user, admin = status["portal"], Path(status["ca"]), askers[0], askers[-1]
    looks = chrome.look(url, ca, user, ["/messages", "/messages?status=failed"])
    return looks + chrome.look(url, ca, admin, ["/messages", "/failed"])


class Rig:
    def __init__(self, population: Population, counter: Counter, asked: Questions) -> None:
        self.askers = askers(population)
        self._counter, self._questions = counter, asked

    async def look_at_lists(self, asker: Asker, visitor: Visitor) -> list[dict[str, Any]]:
        found = []
        for question in self._questions.of(asker):
            draw = random.Random(question.words)
            looks, rows = [], 0
            for _ in range(LOOKS):
                filters = question.filters(draw)
                look = await visitor.look(filters.address(question.path))
                looks.append(look)
                if look.following and len(looks) < LOOKS:
                    looks.append(await visitor.look(look.following))
                rows = max(rows, self._counter.rows(asker, question, filters))
            found.append(_summary(asker.words, question.words, looks) | {"rows": rows})
        return found

    async def look_at_messages(self, asker: Asker, visitor: Visitor) -> dict[str, Any]:
        listed = (await visitor.look("/messages")).listed
        listed += (await visitor.look("/messages?status=failed")).listed
        chosen = random.Random(asker.words).sample(listed, min(LOOKS, len(listed)))
        looks = [await visitor.look(f"/messages/{one}") for one in chosen]
        return _summary(asker.words, "one message with its story", looks)


async def crowd(bed: Bed) -> dict[str, Any]:
    """People who each look at a page every few seconds; then all of them at the same moment."""
    visitors = [bed.visitor(1_000 + n) for n in range(CROWD)]
    for n, visitor in enumerate(visitors):
        await visitor.sign_in(bed.population.domains[n % len(bed.population.domains)], f"crowd-{n}")
    until = time.monotonic() + CROWD_SECONDS
    each = await asyncio.gather(*(_wander(one, n, until) for n, one in enumerate(visitors)))
    calm = [look for looks in each for look in looks]
    rush: list[Look] = []
    for _ in range(ROUNDS):
        rush += await asyncio.gather(*(one.look("/messages") for one in visitors))
    for visitor in visitors:
        await visitor.close()
    return {
        "people": CROWD,
        "pages_per_second": round(len(calm) / CROWD_SECONDS, 1),
        "wandering": _summary("a crowd", "pages", calm),
        "rush": _summary("a crowd", "all at the same moment", rush),
    }


async def _wander(visitor: Visitor, seed: int, until: float) -> list[Look]:
    draw = random.Random(seed)
    looks: list[Look] = []
    while True:
        await asyncio.sleep(draw.uniform(*THINKS))
        if time.monotonic() > until:
            return looks
        listed = await visitor.look(draw.choice(["/messages", "/messages?status=failed"]))
        looks.append(listed)
        if listed.listed:
            looks.append(await visitor.look(f"/messages/{draw.choice(listed.listed)}"))


def _summary(who: str, what: str, looks: list[Look]) -> dict[str, Any]:
    first = sorted(look.first_ms for look in looks)
    whole = sorted(look.whole_ms for look in looks)
    at = int(len(looks) * 0.95)
    figures = {"median_ms": first[len(first) // 2], "p95_ms": first[at], "whole_p95_ms": whole[at]}
    return {"who": who, "what": what, "looks": len(looks)} | {
        name: round(value, 1) for name, value in figures.items()
    }


def prepare(stack: Stack, rows: int) -> Bed:
    status = stack.status()
    engine = create_engine(status["database"])
    started = time.monotonic()
    configs = stack.place.config
    population = populate(engine, configs, rows, lambda words: print(words, flush=True))
    print(f"made in {time.monotonic() - started:.0f} s", flush=True)
    hashed = make_hash()
    for asker in askers(population):
        viewer = asker.viewer
        own = sorted(viewer.client_ids)
        add_person(engine, viewer.domain, viewer.name, viewer.role, own, hashed)
    for n in range(CROWD):
        domain = population.domains[n % len(population.domains)]
        clients = population.clients(domain)
        role = UserRole.ADMIN if n % 10 == 0 else UserRole.USER
        own = [] if role is UserRole.ADMIN else random.Random(n).sample(clients, 1 + n % 5)
        add_person(engine, domain, f"crowd-{n}", role, own, hashed)
    engine.dispose()
    return Bed(stack, population, hashed)


def main() -> None:
    arguments = options.portal().parse_args()
    before = noise()
    with tempfile.TemporaryDirectory(prefix="gatepost-bench-") as name, Stack(Path(name)) as stack:
        bed = prepare(stack, arguments.rows)
        with opened(stack.place.config / "main_server.yaml") as found:
            ring = open_keyring(found.engine, found.masters)
            counter = Counter(found.engine, ring)
            rig = Rig(bed.population, counter, Questions(bed.population, ring))
            results = asyncio.run(measure(bed, rig))
            results["chromium"] = in_chromium(bed, rig.askers)
    results |= {"noise": before, "rows": arguments.rows}
    text = page.render(results)
    print(text)
    pages.keep("portal", results, text, write=arguments.write)
    if missed := page.missed(results, P95_MS, ROWS, WHOLE_MS):
        sys.exit(missed)


if __name__ == "__main__":
    main()
