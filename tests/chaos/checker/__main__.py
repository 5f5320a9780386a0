"""`python -m tests.chaos.checker FOLDER`: judges a run, writes verdict.json, ends with 1 if red."""

import argparse
import sys
from pathlib import Path

from tests.chaos.checker.verdict import judge


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.checker")
    parser.add_argument("folder", type=Path, help="where the run has put its evidence")
    folder: Path = parser.parse_args().folder
    verdict = judge(folder)
    verdict.write(folder / "verdict.json")
    for name, promise in verdict.promises.items():
        print(f"{name:8} {promise.state:9} {promise.name} ({promise.judged_by})")
        for reason in promise.reasons:
            print(f"                 {reason}")
    print(verdict.line())
    return 0 if verdict.green else 1


if __name__ == "__main__":
    sys.exit(main())
