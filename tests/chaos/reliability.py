"""`./dev chaos reliability`: docs/reliability.md, written from the files that the last runs left.

Nothing in it is typed in by hand but how each promise is tested, and what isn't covered.
"""

from collections import Counter
from typing import Any

from infra.dev.options import chaos
from infra.dev.paths import ROOT, VAR
from tests.chaos.checker.promises import PROMISES
from tests.chaos.report.results import Results, Run, read_results

PAGE = ROOT / "docs" / "reliability.md"

HOW = {
    "I1": "Each 202 that a client has heard is looked for in the final dumps of both stores: there"
    " must be a row of that text, delivered. Excused is only what was acknowledged as `queue` and"
    " whose Redis we destroyed before both stores had been reachable for 5 s together.",
    "I2": "One delivered row a text, however often it was posted; a trigger of the harness writes"
    " down each change of each row, and each must be an arrow; a post that was told that nothing"
    " was kept has no row.",
    "I3": "Nobody waits longer than a lease and 3 s while nothing is wrong; the attempt of a worker"
    " that died counts.",
    "I4": "In a run's last seconds the ledger refuses one delivery of eight; while these wait for"
    " their next attempt and all else is calm, 99 % of the others are delivered within 2 s.",
    "I5": "When all is quiet no row says `queued`, and nothing of a message is left in Redis.",
    "I8": "Clients are revoked for good under load, amid all the other faults: nothing is accepted"
    " of them that began more than a second after the revoking call had answered.",
    "I11": "Each 429 and 503 carries Retry-After; nothing that was accepted while a store was full"
    " is gone.",
    "content": "Each delivered row is opened with the run's keys, and what it holds is compared"
    " with what was sent; and so is what the portal's API shows a person of them: of all, or of a"
    " sample of 1,000. Compared are keyed digests, which clients write down as they post.",
    "stores": "Where nothing has been wrong for ten seconds, no proxy says of thirty or more"
    " messages in a row that only one store has them.",
    "answers": "What is well-formed is accepted or declined for now, what isn't is refused; each"
    " row belongs to somebody's post; failed is exactly the poison.",
    "harness": "What can't be undone is tried for three minutes, each try is noted, and what then"
    " isn't done is named and turns the run red; the rest is judged all the same.",
}
NOT_COVERED = (
    "Clocks of Redis and MariaDB that are wrong: libfaketime hangs redis-server.",
    "More than one machine: network faults are between namespaces of one kernel.",
    "A disk that lies about its flushes, or returns other bytes than were written.",
    "A Redis Cluster, a replica that takes over, a MariaDB with replicas.",
    "Runs of days: what grows slowly is not seen in ten minutes.",
    "The portal and the nightly job, which don't carry messages.",
)


HEAD = """\
# Reliability

Written by `./dev chaos reliability --write` from the files that the last runs left. Real processes: two proxies, two main
servers, two pools of workers, redis-server, mariadbd. A checker judges them that has nothing but the histories of the
clients, the journal of what was broken, and the final dumps; it imports no code of ours.
"""  # noqa: E501
FOOT = """\
## Try it

`./dev demo` takes a minute. `./dev chaos --minutes 10 --seed N` is a full run, and the same one again with the same seed;
`./dev chaos recovery`, `./dev chaos outages`, `./dev chaos powercuts` and `./dev chaos teeth` are the others.
"""  # noqa: E501


def render(results: Results) -> str:
    parts = [
        HEAD,
        *_full(results.full),
        *_promises(results.full),
        *_broken(results.full),
        *_recovery(results.recovery),
        *_outages(results.outages),
        *_powercuts(results.powercuts),
        *_teeth(results.teeth),
        "## What is not covered",
        "",
        *(f"- {one}" for one in NOT_COVERED),
        "",
        FOOT,
    ]
    return "\n".join(parts)


def _full(runs: list[Run]) -> list[str]:
    head = ["## The line that matters", ""]
    if not runs:
        return [*head, "No full run has been made yet.", ""]
    table = [
        "| seed | when | commit | seconds | faults | acknowledged | lost | twice | stuck | exposed"
        " | recovered | failed (poison) |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        found = run.verdict
        values = [run.facts.seed, run.facts.started, run.facts.commit, f"{run.seconds:.0f}"]
        values += [f"{run.faults.total():,}", f"{found['acknowledged']:,}"]
        values += [str(len(found[name])) for name in ("lost", "duplicated", "stuck", "exposed")]
        values += [f"{found['recovered']:,}", f"{found['failed']:,}"]
        table.append("| " + " | ".join(values) + " |")
    last = runs[-1].facts
    return [*head, *table, "", f"{last.machine}; {last.where}.", ""]


def _promises(runs: list[Run]) -> list[str]:
    parts = [
        "## The promises",
        "",
        "| | promise | how it is tested | last run |",
        "|---|---|---|---|",
    ]
    told = runs[-1].verdict["promises"] if runs else {}
    for name, how in HOW.items():
        one = told.get(name)
        state = f"{_state(one)}, by {one['judged_by']}" if one else "–"
        parts.append(f"| {name} | {PROMISES[name].name} | {how} | {state} |")
    return [*parts, ""]


def _state(one: dict[str, Any]) -> str:
    if not one["holds"]:
        return "BROKEN"
    return "held" if one["seen"] else "not shown"


def _broken(runs: list[Run]) -> list[str]:
    if not runs:
        return []
    total = sum((run.faults for run in runs), start=Counter[str]())
    told = ", ".join(f"{name} {count}" for name, count in sorted(total.items()))
    head = "Drawn by the seed, and overlapping. In these runs together:"
    return ["## What was broken", "", head, f"{told}.", ""]


def _recovery(cases: list[dict[str, Any]]) -> list[str]:
    if not cases:
        return []
    parts = [
        "## Recovery",
        "",
        "A run of its own, one fault at a time, both of a kind at once. Seconds from the end of the"
        " fault until 95 % of the rate.",
        "",
        "| fault | of | posting | delivering | no posting for | may take |",
        "|---|---|---|---|---|---|",
    ]
    for one in cases:
        seconds = [one["accepting"], one["delivering"], one["unavailable"], one["most"]]
        figures = " | ".join(f"{value:.1f}" for value in seconds)
        parts.append(f"| {one['fault']} | {one['target']} | {figures} |")
    return [*parts, ""]


def _outages(outages: dict[str, dict[str, float]]) -> list[str]:
    if not outages:
        return []
    parts = [
        "## Five minutes without",
        "",
        "What Redis alone has at an outage's end is exposed until the ledger has it: that takes as"
        " long as opening, encrypting and storing it.",
        "",
        "| without | accepted meanwhile | in Redis alone at the end | all in the ledger after |",
        "|---|---|---|---|",
    ]
    for name, one in outages.items():
        exposed, after = one["exposed"], one["registered_after"]
        took = f"{after:.1f} s" if exposed else "–"
        parts.append(f"| {name} | {one['accepted']:.3%} | {exposed:,} | {took} |")
    return [*parts, ""]


def _powercuts(run: Run | None) -> list[str]:
    if run is None:
        return []
    told = f"{run.faults.total()} power cuts in a row, both stores at one instant, under load:"
    return ["## Power cuts", "", f"{told} `{run.verdict['line']}`", ""]


def _teeth(found: dict[str, Any]) -> list[str]:
    if not found:
        return []
    bugs = [one for one in found["bites"] if one["bug"]]
    clean = [one for one in found["bites"] if not one["bug"]]
    bitten = sum(one["as_wanted"] for one in bugs)
    parts = [
        "## Teeth",
        "",
        f"`./dev chaos teeth` plants bugs in a copy of the tree: {bitten} of {len(bugs)} turned the"
        f" checker red, and {sum(one['as_wanted'] for one in clean)} of {len(clean)} scenes were"
        f" green without (commit {found['commit']}).",
        "",
        "| planted bug | breaks | shown by the scene | broken, says the checker |",
        "|---|---|---|---|",
    ]
    for one in bugs:
        scene = one["scene"].replace("_", " ")
        parts.append(f"| {one['bug']} | {one['promise']} | {scene} | {', '.join(one['broken'])} |")
    return [*parts, ""]


def main() -> None:
    asked = chaos.reliability().parse_args()
    text = render(read_results(VAR / "chaos"))
    if asked.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
