"""Commands that a service adds: entry points of the group `gatepost.commands`, each a typer.Typer.

They are loaded only when they are listed or called, and one that can't be loaded (on a partner's
machine the services' libraries are not installed) is not listed and breaks nothing. So a module
that offers one should import little, and say with `needs` what its commands will want.
"""

from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command, get_group

from gatepost.cli.failure import Failure

GROUP = "gatepost.commands"


class NotInstalled(ImportError):
    """A library that a command wants is missing. Our `extras` bring it."""

    def __init__(self, module: str, extras: str) -> None:
        super().__init__(f"{module} is not installed", name=module)
        self.extras = extras


def needs(*modules: str, extras: str = "server") -> None:
    """Raise NotInstalled unless these modules can be imported; for the module of an entry point."""
    for module in modules:
        if find_spec(module) is None:
            raise NotInstalled(module, extras)


class Commands(TyperGroup):
    """The built-in commands and those that the services add."""

    group = GROUP

    def list_commands(self, ctx: Any) -> list[str]:
        for entry in sorted(entry_points(group=self.group), key=lambda entry: entry.name):
            if entry.name not in self.commands:
                try:
                    self._add(entry)
                except Failure:
                    continue
        return sorted(super().list_commands(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            for entry in entry_points(group=self.group, name=cmd_name):
                self._add(entry)
        return super().get_command(ctx, cmd_name)

    def _add(self, entry: EntryPoint) -> None:
        """Add an entry point's command; whatever its module does on import breaks that alone."""
        try:
            added = entry.load()
            added.rich_markup_mode = None
            command = _command(added, entry.name)
        except Exception as error:
            words = f"`gatepost {entry.name}` can't be loaded here: {error}."
            extras = error.extras if isinstance(error, NotInstalled) else "server"
            hint = f"It is for the machines of the gateway: pip install 'gatepost[{extras}]'."
            raise Failure("usage", words, hint) from error
        self.add_command(command, entry.name)


def _command(added: Any, name: str) -> Any:
    """Return the application as a group, or its only command if that has the entry's name."""
    names = [command.name for command in added.registered_commands]
    return get_command(added) if names == [name] else get_group(added)


class Joined(TyperGroup):
    """A group that every machine has, joined by what a machine of the gateway adds to it."""

    group: str

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._operators()})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or self._operators().get(cmd_name)

    def _operators(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for entry in entry_points(group=self.group):
            try:
                found |= get_group(entry.load()).commands
            except Exception:
                continue  # a partner's machine has no libraries for them
        return found


class CertCommands(Joined):
    group = f"{GROUP}.cert"


class MessageCommands(Joined):
    group = f"{GROUP}.message"
