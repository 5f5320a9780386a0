"""The report as one page of HTML, with nothing to load from anywhere."""

from html import escape
from pathlib import Path

from tests.chaos.checker.verdict import Verdict
from tests.chaos.report.facts import Facts
from tests.chaos.report.picture import draw
from tests.chaos.report.series import Series
from tests.chaos.report.text import counted, rates

_STYLE = Path(__file__).with_name("page.css").read_text()
_KEY = ("accepted", "declined", "unknown", "p50", "p99", "fault", "destroyed")


def render(facts: Facts, series: Series, verdict: Verdict) -> str:
    state = "green" if verdict.green else "red"
    faults = ", ".join(f"{name} {count}" for name, count in sorted(series.faults.items()))
    key = "".join(f'<span><i style="background: var(--{name})"></i>{name}</span>' for name in _KEY)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatepost under chaos, seed {escape(facts.seed)}</title>
<style>{_STYLE}</style>
<h1>Gatepost under chaos: {sum(series.faults.values())} faults in {series.seconds} s</h1>
<p class="line {state}">{escape(verdict.line())}</p>
<p>{escape(counted(verdict))}<br>{escape(rates(series))}</p>
{draw(series)}
<p class="key faint">{key}</p>
<table>
<tr><th>promise</th><th></th><th>judged by</th></tr>
{_promises(verdict)}
</table>
<p class="faint">Faults: {escape(faults or "none")}.<br>
Seed {escape(facts.seed)}, commit {escape(facts.commit)}, {escape(facts.started)};
{escape(facts.machine)}; {escape(facts.where)}.</p>
</html>
"""


def _promises(verdict: Verdict) -> str:
    rows = []
    for name, one in verdict.promises.items():
        colour = "red" if not one.holds else "green" if one.seen else "faint"
        reasons = "".join(f"<br>{escape(reason)}" for reason in one.reasons)
        rows.append(
            f'<tr><td>{name}: {escape(one.name)}</td><td class="{colour}">{one.state}</td>'
            f"<td>{escape(one.judged_by)}{reasons}</td></tr>"
        )
    return "\n".join(rows)
