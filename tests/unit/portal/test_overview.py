"""The overview: as it is at each load, and going on by itself until it may not be shown."""

import asyncio
import json
from typing import Any

import pytest

from gatepost.errors import TooManyTries
from gatepost.insight.words import figure
from gatepost.wire.people import UserRole
from portal import streams
from portal.charts import line
from portal.pages import overview as page
from portal.streams import MOST_EACH, EventStream, Streams, event
from tests.heard import until
from tests.unit.portal.browser import Browser

NOW = "2026-11-18T10:00:00.000Z"
FLOW = {"per_second": 12.5, "count": 25, "series": [None, 12.5]}
SHOWN: dict[str, Any] = {
    "at": NOW,
    "domain": "example.com",
    "covers_seconds": 4,
    "accepted": FLOW,
    "delivered": FLOW,
    "retried": FLOW,
    "failed": FLOW,
    "waiting": None,
    "parts": [{"name": "Redis", "state": "ok", "words": "Answers."}],
    "processes": [],
    "domains": [],
    "certificates": [],
}


class Stream:
    """What the browser's stream has brought, event after event."""

    def __init__(self, browser: Browser) -> None:
        self.events: list[tuple[str, Any]] = []
        self.status = 0
        self.headers: dict[str, str] = {}
        self.task = asyncio.create_task(self._read(browser))

    async def _read(self, browser: Browser) -> None:
        """By the application itself: httpx's transport waits for the end of an answer."""
        transport: Any = browser.http._transport
        cookie = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/overview/stream",
            "raw_path": b"/overview/stream",
            "query_string": b"",
            "root_path": "",
            "scheme": "https",
            "http_version": "1.1",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "headers": [(b"host", b"portal.example:8080"), (b"cookie", cookie.encode())],
            "server": ("portal.example", 8080),
            "client": ("127.0.0.1", 1),
        }

        async def receive() -> Any:
            await asyncio.sleep(3600)

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.headers = {k.decode(): v.decode() for k, v in message["headers"]}
            elif message.get("body"):
                lines = message["body"].decode().splitlines()
                self.events.append((lines[0].removeprefix("event: "), _data(lines)))

        await transport.app(scope, receive, send)


def _data(lines: list[str]) -> Any:
    (said,) = [one.removeprefix("data: ") for one in lines if one.startswith("data: ")]
    return json.loads(said)


@pytest.fixture
async def admin(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Browser:
    monkeypatch.setattr(page, "ASK_SECONDS", 0.01)
    browser.main.answers["GET /overview"] = 200, SHOWN
    browser.main.role = UserRole.ADMIN
    await browser.sign_in()
    await browser.get("/account")  # by now the portal knows the keys
    return browser


async def test_administrators_begin_there_and_others_at_their_messages(admin: Browser) -> None:
    assert (await admin.get("/")).headers["location"] == "/overview"
    assert 'href="/overview"' in (await admin.get("/account")).text
    other = Browser()
    await other.sign_in()
    assert (await other.get("/")).headers["location"] == "/messages"
    assert 'href="/overview"' not in (await other.get("/account")).text


async def test_it_is_whole_without_a_script(admin: Browser) -> None:
    answer = await admin.get("/overview")
    assert answer.headers["cache-control"] == "no-store"
    for words in ("12.5 <small>a second", "Answers.", "Not shown: see Queue below.", "<path d="):
        assert words in answer.text
    for inline in ("<style", " style=", " onclick=", "javascript:", "<script>"):
        assert inline not in answer.text


async def test_only_this_page_may_run_a_script_and_only_ours(admin: Browser) -> None:
    answer = await admin.get("/overview")
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'; connect-src 'self'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers.get_list("content-security-policy") == [policy]
    assert "script-src" not in (await admin.get("/account")).headers["content-security-policy"]
    path = answer.text.partition('<script src="')[2].partition('"')[0]
    script = await admin.get(path)
    assert script.headers["content-type"].startswith("text/javascript")
    assert "immutable" in script.headers["cache-control"]


async def test_who_may_not_see_it_is_told_before_a_stream_begins(admin: Browser) -> None:
    admin.main.refuse("GET /overview", 403, "wrong-role")
    assert (await admin.get("/overview")).status_code == 403
    assert (await admin.get("/overview/stream")).status_code == 403
    admin.http.cookies.clear()
    by_script = {"sec-fetch-dest": "empty"}
    answer = await admin.http.get("/overview/stream", headers=by_script)
    assert answer.headers["location"] == "/login"


async def test_it_goes_on_with_what_is_new_and_says_when_nobody_can_be_asked(
    admin: Browser,
) -> None:
    stream = Stream(admin)
    await until(lambda: len(stream.events) > 2)
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.headers["cache-control"] == "no-store"
    admin.main.answers["GET /overview"] = 200, SHOWN | {"accepted": FLOW | {"per_second": 77}}
    await until(lambda: "77 <small>" in stream.events[-1][1])
    admin.main.away = True
    await until(lambda: stream.events[-1][0] == "away")
    assert "can't be asked" in stream.events[-1][1]
    admin.main.away = False
    await until(lambda: stream.events[-1][0] == "figures")
    admin.main.refuse("GET /overview", 401, "not-signed-in")
    await asyncio.wait_for(stream.task, 5)


@pytest.mark.parametrize(
    ("status", "slug"), [(401, "not-signed-in"), (403, "wrong-role"), (404, "not-found")]
)
async def test_it_ends_as_soon_as_it_may_not_be_shown(
    admin: Browser, status: int, slug: str
) -> None:
    stream = Stream(admin)
    await until(lambda: stream.events)
    admin.main.refuse("GET /overview", status, slug)
    await asyncio.wait_for(stream.task, 5)
    assert {name for name, _ in stream.events[:-1]} <= {"figures"}
    assert stream.events[-1] == ("over", page.OVER)


async def test_it_ends_by_itself_and_with_the_process(
    admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "STREAM_SECONDS", 0.05)
    await asyncio.wait_for(Stream(admin).task, 5)
    monkeypatch.setattr(page, "STREAM_SECONDS", 600)
    monkeypatch.setattr(page, "ASK_SECONDS", 600)
    stream = Stream(admin)
    await until(lambda: stream.events)
    admin.stop.set()
    await asyncio.wait_for(stream.task, 5)


async def test_one_person_has_only_so_many_and_an_ended_one_makes_room(admin: Browser) -> None:
    open_ = [Stream(admin) for _ in range(MOST_EACH)]
    await until(lambda: all(one.events for one in open_))
    assert (await admin.get("/overview/stream")).status_code == 429
    open_[0].task.cancel()
    await asyncio.wait([open_[0].task])
    another = Stream(admin)
    await until(lambda: another.events)
    admin.stop.set()
    await asyncio.wait([one.task for one in [*open_, another]])


def test_a_process_has_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST", 2)
    places = Streams()
    give_back = places.take("a")
    places.take("b")
    with pytest.raises(TooManyTries):
        places.take("c")
    give_back()
    places.take("c")


async def test_who_takes_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "SEND_SECONDS", 0.01)
    ended = asyncio.Event()

    async def events() -> Any:
        yield event("figures", "x")

    async def receive() -> Any:
        await asyncio.sleep(3600)

    async def send(_message: Any) -> None:
        await asyncio.sleep(3600)

    scope = {"type": "http", "asgi": {"spec_version": "2.3"}}
    await asyncio.wait_for(EventStream(events(), ended.set)(scope, receive, send), 5)
    assert ended.is_set()


def test_what_an_event_says_is_one_line() -> None:
    assert event("figures", "a\n\nevent: b\r\n").count(b"\n") == 4


@pytest.mark.parametrize(
    ("value", "words"), [(None, "–"), (0, "0"), (0.25, "0.2"), (12.5, "12.5"), (1234.5, "1,234")]
)
def test_figures_are_read_at_a_glance(value: float | None, words: str) -> None:
    assert figure(value) == words


@pytest.mark.parametrize(
    ("series", "path"),
    [
        ([], ""),
        ([None, None], ""),
        ([0.0, 0.0], "M299.0 47.0L300.0 47.0"),
        ([1.0, None, 2.0], "M298.0 24.0M300.0 1.0"),
        ([4.0, 2.0, 1.0], "M298.0 1.0L299.0 24.0L300.0 35.5"),
    ],
)
def test_a_chart_is_as_high_as_its_highest_and_shows_what_is_not_known(
    series: list[float | None], path: str
) -> None:
    assert line(series, 301) == path
