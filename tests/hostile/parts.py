"""One part of an attack: what it sent, what was answered, what was measured."""

from dataclasses import dataclass, field

from tests.hostile.exchange import Answers


@dataclass
class Part:
    """`unanswered` are inputs that no status answers: hellos, and what is read within a process."""

    name: str
    answers: Answers = field(default_factory=Answers)
    figures: dict[str, str] = field(default_factory=dict)
    unanswered: int = 0

    @property
    def inputs(self) -> int:
        return self.answers.count + self.unanswered
