"""`domains.yaml`: the domains that a new ledger begins with. From then on the ledger is right.

The file has the domains by their names, or as a list of which each has a `name`:

    domains:
      example.com: {queue_prefix: example, max_undelivered: 100000, retention_days: 30}

    domains:
      - name: example.com
        queue_prefix: example
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from gatepost.config.settings import load
from gatepost.config.strict_yaml import parse_yaml
from gatepost.errors import ConfigurationError, Invalid
from gatepost.mistakes import of_msgspec
from gatepost.wire.domains import DomainSettings
from main_server.settings import DatabaseOnly
from main_server.store.database import open_ledger
from main_server.tenants.domains import service
from main_server.tenants.domains.repository import Domain

FILE = "domains.yaml"


def read_domains(file: Path) -> dict[str, DomainSettings]:
    """Read the file; raise ConfigurationError with all that is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not YAML") from None
    tree = parse_yaml(file, text)
    named = _by_name(file, tree.get("domains") if isinstance(tree, dict) else None)
    mistakes, found = [], {}
    for name, fields in named.items():
        try:
            found[name] = msgspec.convert(fields or {}, DomainSettings)
            service.check(name, found[name])
        except msgspec.ValidationError as error:
            one = of_msgspec(error, DomainSettings.__struct_fields__)
            mistakes.append(f"  {name}: {one.pointer.strip('/') or 'it'} {one.detail}")
        except RecursionError:
            mistakes.append(f"  {name}: is nested too deep")
        except Invalid as error:
            wrong = [f"{one.pointer.strip('/')} {one.detail}" for one in error.errors]
            mistakes += [f"  {name}: {words}" for words in wrong or [error.detail]]
    if mistakes:
        raise ConfigurationError(f"{file} can't be used:\n" + "\n".join(mistakes))
    return found


def seed(engine: Engine, wanted: Mapping[str, DomainSettings], now: datetime, by: str) -> list[str]:
    """Add the domains that the ledger has not, and change none; return which were added."""
    known = {one.domain.domain for one in service.list_all(engine)}
    missing = [name for name in wanted if name not in known]
    for name in missing:
        service.create(engine, name, wanted[name], now, by)
    return missing


def differences(wanted: Mapping[str, DomainSettings], ledger: Mapping[str, Domain]) -> list[str]:
    """List the differences in words; the ledger is right."""
    found = [f"{name} is not in the ledger" for name in wanted if name not in ledger]
    found += [f"{name} is in the ledger alone" for name in ledger if name not in wanted]
    for name in sorted(wanted.keys() & ledger.keys()):
        here, there = msgspec.structs.asdict(wanted[name]), service.settings_of(ledger[name])
        for field, value in msgspec.structs.asdict(there).items():
            if here[field] != value:
                found.append(f"{name}: {field} is {value} in the ledger, {here[field]} in {FILE}")
    return found


def compare(folder: Path) -> list[str]:
    """Return what `gatepost config check` says of the file in its folder."""
    file, config = folder / FILE, folder / "main_server" / "config.yaml"
    if not file.exists():
        return []
    wanted = read_domains(file)
    with open_ledger(load(DatabaseOnly, config).database) as engine:
        try:
            listed = service.list_all(engine)
        except SQLAlchemyError as error:
            return [f"the ledger does not answer ({type(error).__name__}): {FILE} was not compared"]
    return differences(wanted, {one.domain.domain: one.domain for one in listed})


def _by_name(file: Path, listed: Any) -> dict[str, Any]:
    """Return the fields of each domain by its name, from either form of the file."""
    if isinstance(listed, dict):
        pairs = [(str(name), fields) for name, fields in listed.items()]
    elif isinstance(listed, list) and all(isinstance(o, dict) and "name" in o for o in listed):
        pairs = [(str(o["name"]), {k: v for k, v in o.items() if k != "name"}) for o in listed]
    else:
        raise ConfigurationError(f"{file} must have domains: by their names, or a list with names")
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ConfigurationError(f"{file} can't be used: a domain is there twice")
    return found
