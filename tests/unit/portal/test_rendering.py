"""Every template is rendered, with all that it may show; what is missing is not forgiven."""

from typing import Any
from uuid import uuid4

import pytest
from jinja2 import StrictUndefined

from gatepost.people import Person, UserRole
from gatepost.service.access_tokens import Claims
from portal.assets import read_bootstrap, with_dark
from portal.rendering import Pages
from portal.visits import Visit
from tests.unit.portal.browser import ASSETS

HOSTILE = "<img src=x onerror=alert(1)>\"'{{ 7*7 }}"
PROBLEM = {"title": HOSTILE, "detail": HOSTILE, "status": 503, "retry_after": 5, "request_id": "r"}
VISIT = Visit("token", Claims(uuid4(), uuid4(), HOSTILE, HOSTILE, UserRole.ADMIN))


def person(role: UserRole, clients: list[str], last: str | None) -> Person:
    now = "2026-11-18T10:00:00.000Z"
    return Person(HOSTILE, HOSTILE, role, clients, now, last)


CASES: list[tuple[str, dict[str, Any]]] = [
    ("login.html", {"domain": domain, "done": done, "problem": problem, "typed": HOSTILE})
    for domain in (None, HOSTILE)
    for done in ("", "signed-out", "password-set", HOSTILE)
    for problem in (None, PROBLEM, {"detail": HOSTILE})
]
CASES += [("set_password.html", {"problem": problem}) for problem in (None, PROBLEM)]
CASES += [
    ("problem.html", {"problem": problem}) for problem in (PROBLEM, {"title": "t", "detail": "d"})
]
CASES += [
    ("account.html", {"person": person(role, clients, last), "problem": problem})
    for role in UserRole
    for clients in ([], [HOSTILE, "b"])
    for last in (None, "2026-11-17T10:00:00.000Z")
    for problem in (None, PROBLEM)
]
PARTS = {"base.html", "fields.html"}


def render(template: str, visit: Visit | None, shown: dict[str, Any]) -> str:
    environment = Pages(ASSETS).environment
    assert environment.undefined is StrictUndefined
    whole = {"style": "/s", "icon": "/i", "form_token": "t", "path": "/", "visit": visit}
    return environment.get_template(template).render(**(whole | shown))


@pytest.mark.parametrize("visit", [None, VISIT])
def test_all_that_is_shown_is_text(visit: Visit | None) -> None:
    for template, shown in CASES:
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
        text = render(template, VISIT, shown)
        fields = text.count("<input") - text.count('type="hidden"') - text.count(" hidden>")
        assert fields == text.count("<label"), template


def test_the_sheet_is_dark_for_those_who_like_it_dark() -> None:
    sheet = with_dark(read_bootstrap())
    assert "Bootstrap  v5.3" in sheet.replace("Bootstrap v", "Bootstrap  v")
    dark = sheet.partition("@media (prefers-color-scheme:dark){:root{")[2]
    assert dark.startswith("color-scheme:dark;--bs-body-color:#")
    assert "--bs-body-bg:#212529" in dark
    assert "sourceMappingURL" not in sheet
    assert "http://" not in sheet.replace("http://www.w3.org/", "").replace("//github.com", "")
