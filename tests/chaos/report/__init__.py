"""The report of a run: what happened second by second, and the line that matters.

Made from the evidence and the verdict alone, so that it can be made again from the files.
"""

from tests.chaos.report.facts import write_facts
from tests.chaos.report.writing import write_report

__all__ = ["write_facts", "write_report"]
