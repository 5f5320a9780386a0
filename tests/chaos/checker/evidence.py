"""The evidence of a run: its files, read into plain values. Nothing is judged here."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ACCEPTED, REFUSED, DECLINED, UNKNOWN = "accepted", "refused", "declined", "unknown"
OUTCOME_UNKNOWN = "outcome-unknown"
_TRY_AGAIN = {409, 429, 503}
"""Nothing was kept, and the same post may succeed later."""


@dataclass(slots=True)
class Post:
    """One message in one operation of one client, and what was heard of it."""

    op: str
    kind: str
    client: str
    marker: str
    key: str | None
    expect: str
    asked: int
    asked_wall: float
    injected_id: str | None = None
    gate: str | None = None
    digest: str | None = None
    shown: str | None = None
    """What a person is to be shown of it, as a digest."""
    outcome: str = UNKNOWN
    answered: int | None = None
    answered_wall: float | None = None
    status: int | None = None
    problem: str | None = None
    message_id: str | None = None
    durability: str | None = None
    retry_after: str | None = None
    whole: bool = False
    """It was declined by an answer of its own, not as an item of a batch's."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that the harness broke. Without an end it lasted until the run's end."""

    name: str
    target: str
    begin: int
    begin_wall: float
    end: int
    end_wall: float
    destroyed: bool = False
    """Redis's data, or a part of it, was thrown away."""
    held: tuple[str, ...] = ()
    """Messages that a killed worker had reserved and not yet offered to the ledger."""


@dataclass(frozen=True, slots=True)
class Row:
    message_id: str
    client_id: str
    status: str
    reason: str | None
    attempt_count: int
    generation: int
    queued_ms: int
    due_ms: int
    delivered_ms: int | None
    expires_ms: int
    duplicate_of: str | None
    marker: str | None
    digest: str | None
    """Of what it holds; None of what holds nothing, or nothing that can be opened."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A row changed, or came to be (`before` is None)."""

    message_id: str
    before: str | None
    after: str
    attempts_before: int
    attempts: int
    generation_before: int
    generation: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Left:
    """A message that is still in Redis: in which places, and whose it is."""

    message_id: str
    places: tuple[str, ...]
    marker: str | None


@dataclass(slots=True)
class Evidence:
    posts: list[Post] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    undone: list[tuple[str, str, str]] = field(default_factory=list)
    """What the harness could not do: what, of whom, and why."""
    retried: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By message: from when to when attempts ran that ended in "again later"."""
    left: dict[str, Left] = field(default_factory=dict)
    shown: list[tuple[str, str | None, str]] = field(default_factory=list)
    """Messages that the portal was asked for: the digest of what it shows; None, and why, if that
    is nothing. Without an id: nothing could be asked for."""
    lease_seconds: float = 30.0
    torn: int = 0
    """Lines that a killed client didn't finish."""


def read(folder: Path) -> Evidence:
    found = Evidence()
    for file in sorted((folder / "history").glob("*.jsonl")):
        posts, torn = read_history(file)
        found.posts += posts
        found.torn += torn
    journal = list(_lines(folder / "faults.jsonl"))
    found.faults = read_faults(journal)
    found.undone = [
        (line["fault"], line["target"], line["why"]) for line in journal if line["type"] == "undone"
    ]
    found.rows = [_row(line) for line in _lines(folder / "ledger.jsonl")]
    found.transitions = [_transition(line) for line in _lines(folder / "transitions.jsonl")]
    for line in _lines(folder / "attempts.jsonl"):
        if line["outcome"] == "retry":
            spans = found.retried.setdefault(line["message_id"], [])
            spans.append((line["started_ms"], line["ended_ms"]))
    found.left = _left(json.loads((folder / "redis.json").read_text()))
    found.shown = [
        (one["message_id"], one["digest"], one.get("why", ""))
        for one in _lines(folder / "shown.jsonl")
    ]
    run = folder / "run.json"
    if run.exists():
        found.lease_seconds = json.loads(run.read_text()).get("lease_seconds", 30.0)
    return found


def read_history(file: Path) -> tuple[list[Post], int]:
    """The posts of one client. Its last line may be torn: the client may have been killed."""
    posts: dict[str, list[Post]] = {}
    torn = 0
    for text in file.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            torn += 1
            continue
        if line["type"] == "invoke":
            posts[line["op"]] = [_asked(line, item) for item in line["items"]]
        else:
            _hear(posts[line["op"]], line)
    return [post for asked in posts.values() for post in asked], torn


def read_faults(lines: list[dict[str, Any]]) -> list[Fault]:
    """`end` ends a fault, and so does `skip`: it could not be done whole, and was given up."""
    open_: dict[tuple[str, str], list[dict[str, Any]]] = {}
    faults = []
    for line in lines:
        name = (line.get("fault", ""), line.get("target", ""))
        if line["type"] == "begin":
            open_.setdefault(name, []).append(line)
        elif line["type"] in ("end", "skip") and open_.get(name):
            faults.append(_fault(open_[name].pop(0), line))
    last = max(lines, key=lambda line: line["mono"], default=None)
    for begun in open_.values():
        faults += [_fault(one, last or one) for one in begun]
    return sorted(faults, key=lambda fault: fault.begin)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as stream:
        for text in stream:
            yield json.loads(text)


def _asked(line: dict[str, Any], item: dict[str, Any]) -> Post:
    return Post(
        op=line["op"],
        kind=line["kind"],
        client=line["client"],
        marker=item["marker"],
        key=item.get("key"),
        expect=item.get("expect", "deliver"),
        asked=line["mono"],
        asked_wall=line["wall"],
        injected_id=_plain(item.get("message_id")),
        gate=line.get("gate"),
        digest=item.get("digest"),
        shown=item.get("shown"),
    )


def _hear(posts: list[Post], line: dict[str, Any]) -> None:
    for post in posts:
        post.answered, post.answered_wall = line["mono"], line["wall"]
    if line["type"] == "ok":
        for post, heard in zip(posts, line["items"], strict=True):
            _note(post, heard)
            post.outcome = _outcome(heard["status"], post.problem)
    elif line["type"] == "fail":
        for post in posts:
            _note(post, line.get("heard", {}))
            post.outcome, post.whole = DECLINED, True


def _note(post: Post, heard: dict[str, Any]) -> None:
    post.status = heard.get("status")
    post.problem = heard.get("type")
    post.message_id = _plain(heard.get("message_id"))
    post.durability = heard.get("durability")
    post.retry_after = heard.get("retry_after")


def _plain(message_id: str | None) -> str | None:
    """Ids as the ledger's dump has them: 32 hexadecimal digits."""
    return message_id.replace("-", "").lower() if message_id else None


def _outcome(status: int, problem: str | None) -> str:
    """What an answer says. One of our side's faults (500, outcome-unknown) says nothing."""
    if status == 202:
        return ACCEPTED
    if problem == OUTCOME_UNKNOWN:
        return UNKNOWN
    if status in _TRY_AGAIN:
        return DECLINED
    return REFUSED if 400 <= status < 500 else UNKNOWN


def _fault(begin: dict[str, Any], end: dict[str, Any]) -> Fault:
    return Fault(
        name=begin["fault"],
        target=begin["target"],
        begin=begin["mono"],
        begin_wall=begin["wall"],
        end=end["mono"],
        end_wall=end["wall"],
        destroyed=bool(begin.get("destroyed") or end.get("destroyed")),
        held=tuple(begin.get("held", ())),
    )


def _row(line: dict[str, Any]) -> Row:
    return Row(**{name: line[name] for name in Row.__slots__})


def _transition(line: dict[str, Any]) -> Transition:
    return Transition(**{name: line[name] for name in Transition.__slots__})


def _left(queues: dict[str, Any]) -> dict[str, Left]:
    places: dict[str, list[str]] = {}
    markers: dict[str, str | None] = {}
    for queue in queues["queues"].values():
        for place in ("ready", "delayed", "leased", "payload", "exposed"):
            for message_id in queue[place]:
                places.setdefault(message_id, []).append(place)
        markers |= queue.get("markers", {})
    return {one: Left(one, tuple(where), markers.get(one)) for one, where in places.items()}
