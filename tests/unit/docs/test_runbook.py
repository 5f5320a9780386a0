"""The runbook: each alert has its section and each section its alert, and they say the same."""

import pytest

from tests.rules import Alert, read_alerts
from tests.unit.docs.documents import Document, read_documents

(RUNBOOK,) = (one for one in read_documents() if one.name == "docs/runbook.md")
ALERTS = read_alerts()


def sections(runbook: Document) -> dict[str, list[str]]:
    """Of each alert its paragraphs."""
    found = {}
    for part in runbook.text.split("\n### ")[1:]:
        name, *paragraphs = part.split("\n## ")[0].strip().split("\n\n")
        found[name] = paragraphs
    return found


SECTIONS = sections(RUNBOOK)


def test_each_alert_has_its_section_and_each_section_its_alert() -> None:
    assert sorted(SECTIONS) == sorted(alert.name for alert in ALERTS)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda one: one.name)
def test_a_section_says_when_what_it_means_what_to_type_and_how_to_mend(alert: Alert) -> None:
    when, meaning, command, mend = SECTIONS[alert.name]
    waits = f" for {alert.waits}" if alert.waits else ""
    assert when == f"*{alert.severity}*: `{alert.expr}`{waits}"
    assert command == f"    {alert.command}"
    assert min(len(meaning), len(mend)) > 20


@pytest.mark.parametrize("alert", ALERTS, ids=lambda one: one.name)
def test_an_alert_points_to_its_section(alert: Alert) -> None:
    page, _, anchor = alert.runbook_url.partition("#")
    assert page == "{{ $externalLabels.runbook }}"
    assert anchor == alert.name.lower()
    assert anchor in RUNBOOK.anchors


def test_severities_are_two() -> None:
    assert {alert.severity for alert in ALERTS} == {"page", "ticket"}
