"""Every template is rendered, with all that it may show; what is missing is not forgiven."""

from typing import Any
from uuid import uuid4

import pytest
from jinja2 import StrictUndefined

from gatepost.service.access_tokens import Claims
from gatepost.wire.holders import Ending
from gatepost.wire.overview import ExpiresSoon, Flow, OfDomain, Overview, Part, Process, Waiting
from gatepost.wire.people import Account, PasswordLink, Person, SecondStep, UserRole
from gatepost.wire.shown import (
    FailedReason,
    FailedReasons,
    Listed,
    Message,
    MessagePage,
    OpenedMessage,
    Redrive,
    Step,
)
from portal.assets import read_bootstrap, with_dark
from portal.filters import Filters
from portal.menu import menu_for
from portal.pages.users import Looked
from portal.rendering import Pages
from portal.visits import Visit
from tests.unit.portal import domain_cases, holder_cases, kept_cases, report_cases
from tests.unit.portal.browser import ASSETS
from tests.unit.portal.hostile import HOSTILE, NOW, OPTIONS, PROBLEM, WRONG


def visit_of(role: UserRole, endings: tuple[Ending, ...] = ()) -> Visit:
    return Visit("token", Claims(uuid4(), uuid4(), HOSTILE, HOSTILE, role), endings)


VISIT = visit_of(UserRole.ADMIN)
EVERYBODYS = visit_of(UserRole.SUPER_ADMIN, holder_cases.ENDINGS)


def person(role: UserRole, clients: list[str], last: str | None) -> Person:
    now = "2026-11-18T10:00:00.000Z"
    return Person(HOSTILE, HOSTILE, role, clients, now, last)


ACCOUNT: dict[str, Any] = {"zones": ("UTC", HOSTILE), "done": HOSTILE}
CASES: list[tuple[str, dict[str, Any]]] = [
    (
        "login.html",
        {"domain": domain, "done": done, "not_done": done, "problem": problem, "typed": HOSTILE},
    )
    for domain in (None, HOSTILE)
    for done in (None, HOSTILE)
    for problem in (None, PROBLEM, {"detail": HOSTILE})
]
CASES += [
    (
        "prove.html",
        {
            "held": {HOSTILE: HOSTILE},
            "by_code": by_code,
            "field": HOSTILE,
            "back": HOSTILE,
            "problem": problem,
        },
    )
    for by_code in (True, False)
    for problem in (None, PROBLEM, {"detail": HOSTILE})
]
CASES += [("arriving.html", {"address": HOSTILE})]
CASES += [("set_password.html", {"problem": problem}) for problem in (None, PROBLEM)]
CASES += [
    ("problem.html", {"problem": problem}) for problem in (PROBLEM, {"title": "t", "detail": "d"})
]
CASES += [
    ("account.html", {"person": person(role, clients, last), "problem": problem} | ACCOUNT)
    for role in UserRole
    for clients in ([], [HOSTILE, "b"])
    for last in (None, "2026-11-17T10:00:00.000Z")
    for problem in (None, PROBLEM)
]
STEPS = [
    Step(kind, at, HOSTILE, HOSTILE) for kind in ("done", "trouble", "next") for at in (NOW, None)
]
LISTED: dict[str, Any] = {
    "message_id": "m",
    "client_id": HOSTILE,
    "domain": HOSTILE,
    "reason": HOSTILE,
    "created_at": NOW,
    "attempt_count": 1,
}


def listed(**given: Any) -> Listed:
    rest = {"reason_in_words": None, "delivered_at": None, "due_at": None}
    return Listed(**(LISTED | rest | {"status": "failed", "sender_number_masked": None} | given))


def message(**given: Any) -> Message:
    rest = {"queued_at": NOW, "delivered_at": None, "expires_at": NOW, "queue": HOSTILE}
    more = {"generation": 0, "duplicate_of": None, "readable": True, "why": HOSTILE}
    whole = LISTED | rest | more | {"status": "queued", "timeline": STEPS}
    return Message(**(whole | given))


def redrive(**given: Any) -> Redrive:
    whole: dict[str, Any] = {
        "redrive_id": "r",
        "domain": HOSTILE,
        "client_id": None,
        "reason": HOSTILE,
        "rate_per_second": 10,
        "expected": 3,
        "redriven": 1,
        "state": "running",
        "actor": HOSTILE,
        "created_at": NOW,
        "ended_at": None,
    }
    return Redrive(**(whole | given))


FILTERS = [Filters(), Filters(*[HOSTILE] * 10)]
SOME = [
    listed(sender_number_masked=HOSTILE, reason_in_words=HOSTILE),
    listed(status="queued", due_at=NOW),
    listed(status="delivered", delivered_at=NOW),
]
PAGES = [
    MessagePage(some, before, looked, *kept)
    for some, kept in (([], (30, 30, NOW)), (SOME, (None, None)), (SOME, (90, 10, NOW)))
    for before, looked in ((None, None), ("ff", None), ("ff", NOW))
]
SOME_REASONS = [FailedReason(HOSTILE, HOSTILE, 3, True), FailedReason(None, HOSTILE, 1, True)]
REASONS = [FailedReasons([], None), FailedReasons(SOME_REASONS, NOW)]
CASES += [
    (
        "messages.html",
        {"filters": filters, "page": page, "statuses": OPTIONS, "problem": problem},
    )
    for filters in FILTERS
    for page in PAGES
    for problem in WRONG
]
CASES += [
    ("message.html", {"message": shown, "opened": opened, "problem": problem})
    for shown in (
        message(),
        message(readable=False, generation=2, duplicate_of=HOSTILE),
        message(readable=False, registered=False),
        message(status="failed", as_of=NOW),
    )
    for opened in (None, OpenedMessage("m", HOSTILE, HOSTILE))
    for problem in WRONG
]
CASES += [
    (
        "failed.html",
        {
            "filters": filters,
            "reasons": reasons,
            "page": page,
            "redrives": redrives,
            "done": done,
            "before": "",
            "chosen": chosen,
            "why": HOSTILE,
            "problem": problem,
        },
    )
    for filters, reasons in zip(FILTERS, REASONS, strict=True)
    for page in (PAGES[0], *PAGES[-2:])
    for redrives in ([], [redrive(), redrive(state="stopped", ended_at=NOW, domain=None)])
    for done, chosen in ((None, ()), (HOSTILE, {"m"}))
    for problem in WRONG
]
CASES += [
    (
        "redrive.html",
        {"filters": filters, "found": redrive(expected=count), "until": NOW, "problem": problem},
    )
    for filters in (*FILTERS, Filters(first=HOSTILE), Filters(last=HOSTILE))
    for count in (0, 1, 2)
    for problem in WRONG
]
FLOWS = [Flow(None, 0, []), Flow(12.0, 3, [None, 1.0])]
WAITING: dict[str, Any] = {
    "undelivered": 9,
    "ready": 1,
    "retrying": 2,
    "in_hand": 3,
    "exposed": 1,
    "oldest_ms": 1500,
    "series": [1.0, None],
}


def overview(flow: Flow, domain: str | None, *, full: bool) -> Overview:
    process: dict[str, Any] = {"service": HOSTILE, "machine": HOSTILE, "version": HOSTILE, "pid": 1}
    of_domain: dict[str, Any] = {"domain": HOSTILE, "retried": 0, "failed": 0}
    return Overview(
        at=NOW,
        domain=domain,
        covers_seconds=600,
        accepted=flow,
        delivered=flow,
        retried=flow,
        failed=flow,
        waiting=Waiting(**WAITING, in_line=1, limit=5 if domain else None) if full else None,
        parts=[Part(HOSTILE, state, HOSTILE) for state in ("ok", "trouble", "unknown", HOSTILE)],
        processes=[
            Process(**process, up_seconds=1, silent_seconds=silent, problems=problems)
            for silent in (0, 9)
            for problems in ([], [HOSTILE])
        ]
        * full,
        domains=[
            OfDomain(**of_domain, accepted=a, delivered=a, undelivered=w, oldest_ms=w, shared=full)
            for a, w in ((None, None), (1.5, 3))
        ]
        * full,
        certificates=[ExpiresSoon(d, HOSTILE, HOSTILE, NOW, n) for n in (0, 1, 2) for d in "ab"]
        * full,
    )


CASES += [
    ("overview.html", {"overview": overview(flow, domain, full=full), "script": HOSTILE})
    for flow in FLOWS
    for domain in (None, HOSTILE)
    for full in (True, False)
]
FOR_PEOPLE = {"messages.html", "message.html", "failed.html", "redrive.html"}
FOR_PEOPLE |= {"prove.html", "users.html", "user.html", "user_link.html"}
FOR_PEOPLE |= {name for name, _ in holder_cases.CASES}
FOR_PEOPLE |= {name for name, _ in domain_cases.CASES}
FOR_PEOPLE |= {name for name, _ in report_cases.CASES}
FOR_PEOPLE |= {name for name, _ in kept_cases.CASES}
PARTS = {
    "base.html",
    "accounts.html",
    "fields.html",
    "shown.html",
    "holders.html",
    "domain_fields.html",
    "kept_words.html",
}
PARTS |= {"overview_figures.html", "insight/body.html", "insight/charts.html"}
PARTS |= {"insight/page.html"}  # of its own: tests/unit/gatepost/insight/test_charts.py
CASES += holder_cases.CASES + domain_cases.CASES + report_cases.CASES + kept_cases.CASES


ACCOUNTS = [
    Account("u", HOSTILE, HOSTILE, role, clients, NOW, disabled, last, bool(last))
    for role in UserRole
    for clients in ([], [HOSTILE])
    for disabled, last in ((None, None), ("2026-11-18T10:00:00.000Z",) * 2)
]
TYPED = {"name": HOSTILE, "role": "admin", "clients": HOSTILE}
CASES += [
    (
        "users.html",
        {
            "accounts": some,
            "roles": ["user"],
            "problem": p,
            "typed": TYPED,
            "done": d,
            "looked": looked,
            "following": following,
        },
    )
    for looked, following in ((Looked(), None), (Looked(HOSTILE), None), (Looked("", "a"), HOSTILE))
    for some in ([], ACCOUNTS)
    for p in (None, PROBLEM)
    for d in (None, HOSTILE)
]
LINK = PasswordLink(ACCOUNTS[0], "s", "2026-11-18T10:00:00.000Z")
CASES += [("user_link.html", {"made": LINK, "address": HOSTILE})]


CASES += [
    ("user.html", {"account": one, "roles": ["user"], "problem": p, "typed": TYPED})
    for one in ACCOUNTS
    for p in (None, PROBLEM)
]
CASES += [("code.html", {"problem": problem}) for problem in (None, PROBLEM, {"detail": HOSTILE})]
CASES += [("recovery_codes.html", {"codes": [HOSTILE, "b"]})]
CASES += [
    ("second_step.html", {"state": state, "picture": HOSTILE, "done": done, "problem": problem})
    for demanded in (True, False)
    for state in (
        SecondStep(True, demanded, 3),
        SecondStep(False, demanded, 0),
        SecondStep(False, demanded, 0, HOSTILE, HOSTILE),
    )
    for done in (None, HOSTILE)
    for problem in (None, PROBLEM, {"detail": HOSTILE})
]


ENVIRONMENT = Pages(ASSETS).environment


def render(template: str, visit: Visit | None, shown: dict[str, Any]) -> str:
    assert ENVIRONMENT.undefined is StrictUndefined
    whole = {
        "style": "/s",
        "icon": "/i",
        "form_token": "t",
        "menu": menu_for(visit.claims, "/") if visit else None,
        "visit": visit,
        "problem": None,
        "zone": "UTC",
    }
    return ENVIRONMENT.get_template(template).render(**(whole | shown))


@pytest.mark.parametrize("visit", [None, VISIT, EVERYBODYS])
def test_all_that_is_shown_is_text(visit: Visit | None) -> None:
    for template, shown in CASES:
        if visit is None and template in FOR_PEOPLE:
            continue
        text = render(template, visit, shown)
        assert "<img src=x" not in text
        assert "49" not in text
        assert text.startswith("<!doctype html>")
        assert "None" not in text.replace("None:", ""), template


def test_every_template_is_rendered_here() -> None:
    names = {one for one in Pages(ASSETS).environment.list_templates() if one.endswith(".html")}
    assert names == {template for template, _ in CASES} | PARTS


def test_every_field_has_a_label() -> None:
    for template, shown in CASES:
        text = render(template, EVERYBODYS, shown)
        fields = text.count("<input") + text.count("<select") + text.count("<textarea")
        fields -= text.count('type="hidden"')
        named = text.count("<label") + text.count('value="1" aria-label="Choose ')
        assert fields - text.count(" hidden>") == named, template


def test_the_sheet_is_dark_for_those_who_like_it_dark() -> None:
    sheet = with_dark(read_bootstrap())
    assert "Bootstrap  v5.3" in sheet.replace("Bootstrap v", "Bootstrap  v")
    dark = sheet.partition("@media (prefers-color-scheme:dark){:root{")[2]
    assert dark.startswith("color-scheme:dark;--bs-body-color:#")
    assert "--bs-body-bg:#212529" in dark
    assert "sourceMappingURL" not in sheet
    assert "http://" not in sheet.replace("http://www.w3.org/", "").replace("//github.com", "")
