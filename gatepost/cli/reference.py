"""Writes the page of all settings, docs/configuration.md, out of their classes.

A test compares it with the page; `gatepost config reference > docs/configuration.md` mends it.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic_core import PydanticUndefined

from gatepost.cli.configuring import configured, settings_class
from gatepost.config.settings import ENVIRONMENT_NAMES, leaves, section_of

_HEAD = """\
# Configuration

This page is written by `gatepost config reference` from the classes of the settings.

Each service has one YAML file, `/etc/gatepost/SERVICE/config.yaml`, and so has what runs at night
([analytics](pipeline.md), [backup](backup.md), [retention](retention.md)) and who changes the
ledger's tables (`migration`); [samples](../proxy/config.yaml) are beside the code. A setting comes
from the first of these that has it:

1. a credential of systemd: a file named like the setting (`redis.password`) in the folder of the
   service's credentials. Of a secret its content is the value, of a file its place is. Commands
   take it from the folder named credentials beside the YAML, if they may
2. the environment, under the names below
3. the file .env in the folder that the service starts in ([a sample](../.env.example))
4. the YAML file; `${VAR}` in a text stands for a variable of the environment or of that file
5. the default below

`gatepost config check` says all that is wrong at once, and `gatepost config show` where each value
came from. A name that isn't known is a mistake, and so is one that is there twice. What is secret
is never shown.

**While it runs.** On SIGHUP (`systemctl reload gatepost-proxy@1`) a service reads its settings
again. Processes with the new ones take the places of the others one by one, and nobody is cut off;
`log.level` changes in place. Ports and numbers of processes (`server`, `pki`, `ops`,
`worker.concurrency`) change with a restart only. Settings that can't be used are refused in the log
and in `systemctl status`, and all stays as it was. Certificates are taken up within a second of
being replaced, domains and clients' limits within two of being changed in the ledger: for these
there is nothing to reload.

**Several on one machine.** `--instance 2` moves a service's ports up by 10, `--instance 3` by 20.
"""
_KINDS = {
    "array": "list",
    "boolean": "`true` `false`",
    "integer": "whole number",
    "number": "number",
    "object": "names and values",
    "password": "secret",
    "path": "file or folder",
    "string": "text",
}
_VARIABLES = {path: name for name, path in ENVIRONMENT_NAMES.items()}


def write_reference() -> str:
    parts = [_HEAD]
    for name, one in configured().items():
        parts += [f"\n## {name}\n", *_page(settings_class(one))]
    return "".join(parts)


def _page(settings: type[BaseModel]) -> Iterator[str]:
    schema = settings.model_json_schema()
    yield "\n| setting | what it is | values | default | environment |\n|---|---|---|---|---|\n"
    for name, info in leaves(settings):
        path = name.split(".")
        default = _default(settings, path)
        values = ", ".join(_values(_find(schema, path)))
        variable = f"`{_VARIABLES[name]}`" if name in _VARIABLES else ""
        words = (info.description or "").replace("\n", " ")
        yield f"| `{name}` | {words} | {_cell(values)} | {_cell(default)} | {variable} |\n"


def _default(settings: type[BaseModel], path: list[str]) -> str:
    """Return the default of a setting. A section may have defaults of its own for what is in it."""
    info = settings.model_fields[path[0]]
    value = info.get_default(call_default_factory=True)
    for part in path[1:]:
        if not isinstance(value, BaseModel):
            section = section_of(info)
            assert section is not None
            info = section.model_fields[part]
            value = info.get_default(call_default_factory=True)
        else:
            info, value = type(value).model_fields[part], getattr(value, part)
    if value is PydanticUndefined:
        return "**to be given**"
    if value in (None, "", {}, []) or isinstance(value, SecretStr):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _find(schema: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """Return the JSON schema of one setting, without the None that may stand beside it."""
    node = schema
    for part in path:
        node = _plain(node["properties"][part], schema)
    return node


def _plain(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in node:
        node = next(one for one in node["anyOf"] if one.get("type") != "null")
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _values(node: dict[str, Any]) -> Iterator[str]:
    if "enum" in node:
        yield " ".join(f"`{one}`" for one in node["enum"])
    elif "const" in node:
        yield f"`{str(node['const']).lower()}`"
    else:
        yield _KINDS.get(node.get("format", ""), _KINDS[node["type"]])
    if "pattern" in node:
        yield f"matches `{node['pattern']}`"
    if "minimum" in node:
        yield f"{node['minimum']:g} or more"
    if "exclusiveMinimum" in node:
        yield f"above {node['exclusiveMinimum']:g}"
    if "maximum" in node:
        yield f"at most {node['maximum']:.15g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
