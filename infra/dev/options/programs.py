"""Chooses the program that is meant by a command with several, such as `./dev chaos recovery`."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

Parser = Callable[[], argparse.ArgumentParser]


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """Return a type for argparse, whose `choices` would refuse a list that may be left empty."""

    def read(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"there is no {text}, but {', '.join(names)}")
        return text

    return read


@dataclass(frozen=True)
class Programs:
    """A command with several programs; `default` is the one that is meant where none is named."""

    command: str
    summary: str
    parsers: Mapping[str, Parser]
    default: str | None = None

    def choose(self, arguments: Sequence[str]) -> tuple[str, list[str]]:
        """Return the program's name and its own arguments; end, in words, if there is none."""
        name, rest = self.default, list(arguments)
        if rest and not rest[0].startswith("-"):
            name = rest.pop(0)
        if rest[:1] and rest[0] in ("-h", "--help") and len(arguments) == 1:
            self._show_help()
        if name is None or name not in self.parsers:
            self._parser().error(f"NAME is one of: {', '.join(self.parsers)}")
        return name, rest

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Read the arguments as the program that they name would."""
        name, rest = self.choose(arguments)
        return self.parsers[name]().parse_args(rest)

    def _show_help(self) -> NoReturn:
        self._parser().print_help()
        if self.default is not None:
            print(f"\nWithout a name:\n\n{self.parsers[self.default]().format_help()}", end="")
        raise SystemExit(0)

    def _parser(self) -> argparse.ArgumentParser:
        name = "NAME" if self.default is None else "[NAME]"
        return argparse.ArgumentParser(
            prog=f"./dev {self.command}",
            usage=f"%(prog)s {name} …",
            description=f"{self.summary} NAME is one of: {', '.join(self.parsers)}."
            f" `./dev {self.command} NAME --help` tells the options of each.",
            add_help=False,
        )
