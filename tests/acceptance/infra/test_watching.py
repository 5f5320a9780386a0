"""What we give to Prometheus and Grafana, on a real run: each panel and each rule finds data.

What only a night makes is written by those who write it at night.
"""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from analytics.metrics import Metrics
from analytics.nightly import Done
from gatepost.clock import from_ms, to_ms
from infra.grafana.__main__ import FOLDER as BOARDS
from main_server.backup import metrics as backups
from main_server.health.watching.gauges import OTHERS
from main_server.retention import metrics as retention
from main_server.retention.plan import Plan
from main_server.retention.prove import Proof
from main_server.retention.run import Done as Retained
from main_server.retention.run_repository import Run
from main_server.store.database import transact
from main_server.tenants.domains.repository import list_queues
from tests.acceptance.infra.prometheus_run import Prometheus, queries_of_boards, watching
from tests.acceptance.site import Site, accepted, eventually, post
from tests.rules import Alert, read_rules

OF_US = re.compile(r"\b(?:(?:gatepost|node)[_:][a-z0-9_:]+[a-z0-9]|up)\b", re.IGNORECASE)
COMPARED = re.compile(r"\s(?:[=!]=|[<>]=?)\s[\d.*\s]+$")
NOT_OURS = {"__name__", "job", "instance", "le"}
LONG_NUMBER = re.compile(r"\d{5}")
MOST_VALUES = 250
"""There are more routes than of anything else."""
SECONDS = 40.0
LEADS = "sum(gatepost_reconciler_leads)"


@pytest.fixture(scope="module")
def prometheus(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    folder = tmp_path_factory.mktemp("prometheus")
    textfiles = folder / "textfiles"
    textfiles.mkdir()
    write_a_night(textfiles)
    with watching(folder, site.status["metrics"], textfiles) as found:
        yield found


def write_a_night(folder: Path) -> None:
    now = from_ms(to_ms(datetime.now(UTC)))
    Metrics(folder).succeeded("nightly", Done(days=1, rows=7), 12.0, to=now)
    run = Run("run", "done", "system", now, now, 3, 2, 1, "[]", None)
    plan = Plan(now.date(), [], [], [], 100, 10, now.date(), [])
    retention.tell_run(folder, Retained(run, plan, Proof(now.date())), 1.5)
    backups.tell_success(folder, 2.0, 10_000)
    backups.tell_drill(folder, 3.0)


def measured(alert: Alert) -> list[str]:
    """What an alert compares with its threshold."""
    sides = [COMPARED.sub("", side) for side in alert.expr.split(" or ")]
    assert sides != [alert.expr] or "absent(" in alert.expr
    return [re.sub(r"^absent\((.*)\)$", r"\1", side) for side in sides]


def all_queries() -> dict[str, str]:
    queries = queries_of_boards(BOARDS)
    for rule in read_rules():
        if isinstance(rule, Alert):
            queries |= {f"{rule.name} {n}": one for n, one in enumerate(measured(rule))}
        else:
            queries[rule.name] = rule.expr
    return queries


def unanswered(prometheus: Prometheus, queries: dict[str, str]) -> dict[str, str]:
    """Those that find no number, or name what there is not: that may hide behind another part."""
    names = prometheus.names()
    unknown = {where: set(OF_US.findall(query)) - names for where, query in queries.items()}
    found = {where: f"there is no {one}" for where, one in unknown.items() if one}
    asked = {where: query for where, query in queries.items() if where not in found}
    return found | {w: query for w, query in asked.items() if not prometheus.values(query)}


def test_each_panel_and_each_rule_finds_data(site: Site, prometheus: Prometheus) -> None:
    """While messages come in: rates need to have risen since they were first seen."""
    left, deadline = all_queries(), time.monotonic() + SECONDS
    why: dict[str, str] = {}
    assert len(left) > 100
    with site.calling() as client, site.calling(service="portal") as portal:
        while left:
            assert time.monotonic() < deadline, why
            for _ in range(5):
                accepted(post(client))
            portal.get("/login")
            why = unanswered(prometheus, left)
            left = {where: left[where] for where in why}


def test_a_misspelt_metric_is_seen(prometheus: Prometheus) -> None:
    wrong = {
        "alone": "sum(rate(gatepost_proxy_requets_total[5m]))",
        "behind another": "vector(0) or gatepost_proxy_requets_total",
        "a label": 'gatepost_troubled_processes{check="legder"}',
    }
    assert unanswered(prometheus, wrong).keys() == wrong.keys()


def test_processes_are_added_up_and_main_servers_are_not(
    site: Site, prometheus: Prometheus
) -> None:
    (url,) = site.status["metrics"]["proxy"]
    said = text_string_to_metric_families(httpx.get(url, trust_env=False).text)
    samples = [one for family in said for one in family.samples]
    counted = [one.value for one in samples if one.name == "gatepost_proxy_messages_total"]
    for _ in range(12):  # each over a connection of its own: either process may get it
        with site.calling() as client:
            accepted(post(client))
    count, all_of_them = "sum(gatepost_proxy_messages_total)", [sum(counted) + 12]
    eventually(lambda: prometheus.values(count) == all_of_them, "all of them")
    assert prometheus.values('gatepost_processes_wanted{service="proxy"}') == [2]
    for query, value in {'gatepost_processes{service="proxy"}': 2, LEADS: 1}.items():
        eventually(lambda q=query, v=value: prometheus.values(q) == [v], query)  # type: ignore[misc]


def with_queues(prometheus: Prometheus) -> dict[str, set[str]]:
    """The values of each label, once queues are among them; nothing before."""
    values: dict[str, set[str]] = {}
    for one in prometheus.series():
        for name, value in one.items():
            values.setdefault(name, set()).add(value)
    return values if "queue" in values else {}


def test_no_label_carries_what_was_sent(site: Site, prometheus: Prometheus) -> None:
    with site.calling() as client:
        for path in ("/4915112345678", "/api/v1/messages/4915112345678", "/api/v1/CANARY"):
            client.get(path)
            client.post(path, json={"4915112345678": "CANARY"})
    count = 'sum(gatepost_proxy_requests_total{route="other"})'
    eventually(lambda: prometheus.values(count), "they are counted")
    values = eventually(lambda: with_queues(prometheus), "what main servers say is there")
    named = {name or "message_queue" for name in transact(site.engine, list_queues)}
    assert values.pop("queue") <= {*named, OTHERS}, "their names are an administrator's"
    for name in values.keys() - NOT_OURS:
        assert len(values[name]) <= MOST_VALUES, name
        assert [one for one in values[name] if LONG_NUMBER.search(one)] == []
        assert [one for one in values[name] if "CANARY" in one] == []
