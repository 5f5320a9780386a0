"""`python -m tests.chaos.report FOLDER`: the report of a run, made (again) from its files."""

import argparse
import sys
from pathlib import Path

from tests.chaos.report.writing import write_report


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.report")
    parser.add_argument("folder", type=Path, help="where the run has put its evidence")
    folder: Path = parser.parse_args().folder
    verdict = write_report(folder)
    print((folder / "report.txt").read_text())
    return 0 if verdict.green else 1


if __name__ == "__main__":
    sys.exit(main())
