"""`./dev chaos teeth [NAME …]`: plants each bug in a copy of this tree and shows that the checker
turns red, by the promise that the bug breaks; and that each scene is green without it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from infra.dev.engines import find_engines
from infra.dev.options import chaos
from infra.dev.paths import ENGINES, ROOT, VAR
from infra.dev.steps import Failure, give_up, run
from tests.chaos.checker.verdict import judge
from tests.chaos.report.facts import commit
from tests.chaos.teeth.teeth import Tooth, read_teeth

SCENE_SECONDS = 240.0
RESULTS = VAR / "chaos" / "teeth.json"


@dataclass(frozen=True, slots=True)
class Bite:
    """One scene played, with a bug or without."""

    scene: str
    bug: str | None
    promise: str | None
    broken: list[str]
    why: str
    as_wanted: bool
    seconds: float


def main() -> int:
    arguments = chaos.teeth().parse_args()
    teeth = [one for one in read_teeth() if not arguments.names or one.name in arguments.names]
    find_engines().fetch()  # the copies share them
    bites = []
    for scene in sorted({tooth.scene for tooth in teeth}):
        if not arguments.no_clean:
            bites.append(bite(scene, None))
        bites += [bite(scene, tooth) for tooth in teeth if tooth.scene == scene]
    if not arguments.names:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        told = {"commit": commit(), "bites": [asdict(one) for one in bites]}
        RESULTS.write_text(json.dumps(told, indent=1, ensure_ascii=False))
    bitten = sum(one.as_wanted for one in bites if one.bug)
    clean = [one for one in bites if not one.bug]
    print(f"\n{bitten} of {len(teeth)} planted bugs turned the checker red;", end=" ")
    print(f"{sum(one.as_wanted for one in clean)} of {len(clean)} scenes are green without")
    return 0 if all(one.as_wanted for one in bites) else 1


def bite(scene: str, tooth: Tooth | None) -> Bite:
    """Plays a scene in a copy, with the bug if there is one, and says what came of it."""
    began = time.monotonic()
    name = f"  {scene}" if tooth is None else f"    {tooth.name}"
    print(name.ljust(60, "."), end=" ", flush=True)
    with tempfile.TemporaryDirectory(prefix="gatepost-tooth-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)  # where we are root the stores are others, and pass through
        tree = copy_tree(folder / "tree")
        if tooth is not None:
            run(f"planting {tooth.name}", ["git", "apply", str(tooth.patch)], folder=tree)
        (folder / "site").mkdir(mode=0o711)
        failure = play(tree, scene, folder / "site")
        found = _broken(folder / "site" / "evidence") if failure is None else {}
    why = failure or next((reasons[0] for reasons in found.values() if reasons), "")
    as_wanted = failure is None and (tooth.promise in found if tooth else not found)
    seconds = time.monotonic() - began
    print(f"{'red' if found else 'green':5} {' '.join(found):12} {seconds:4.0f} s", flush=True)
    if not as_wanted:
        print(f"      NOT AS WANTED. {why}", flush=True)
    bug, promise = (tooth.bug, tooth.promise) if tooth else (None, None)
    return Bite(scene, bug, promise, list(found), why, as_wanted, seconds)


def copy_tree(into: Path) -> Path:
    """What git knows of this tree, as it is now; the unpacked engines are shared."""
    listed = run("listing", ["git", "ls-files", "-co", "--exclude-standard", "-z"], folder=ROOT)
    for one in filter(None, listed.split("\0")):
        if (ROOT / one).is_file():
            (into / one).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / one, into / one)
    (into / "var").mkdir(mode=0o711)
    (into / "var" / "engines").symlink_to(ENGINES)
    run("noting", ["git", "init", "-q", "."], folder=into)  # so that patches apply here
    return into


def play(tree: Path, scene: str, folder: Path) -> str | None:
    """Why it could not be played; None when it was."""
    command = [sys.executable, "-m", "tests.chaos.teeth.play", scene, str(folder)]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SCENE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "The scene does not end."
    return f"The scene could not be played:\n{done.stderr[-3000:]}" if done.returncode else None


def _broken(evidence: Path) -> dict[str, list[str]]:
    """By promise that the checker finds broken: its reasons."""
    promises = judge(evidence).promises
    return {name: one.reasons for name, one in promises.items() if not one.holds}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        give_up(failure)
