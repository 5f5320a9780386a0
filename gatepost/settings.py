"""Settings: one frozen pydantic class for each service, composed of the blocks here.

Read once, in the entry point: a YAML file (with `${VAR}`), over it `.env` and the environment under
the names of the table below. All mistakes are told at once, and no value is repeated in them: it
may be a secret.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

import yaml
from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from gatepost.errors import ConfigurationError
from gatepost.safety import private_file_faults, url_password_faults
from gatepost.tls import TlsFiles, check_files

ENVIRONMENT_NAMES = {
    "GATEPOST_ENVIRONMENT": "environment",
    "DATABASE_URL": "database.url",
    "DB_HOST": "database.host",
    "DB_PORT": "database.port",
    "DB_NAME": "database.name",
    "DB_USER": "database.user",
    "DB_PASSWORD": "database.password",
    "REDIS_URL": "redis.url",
    "REDIS_HOST": "redis.host",
    "REDIS_PORT": "redis.port",
    "AES_KEY_PATH": "keys.master_key_file",
    "MAIN_SERVER_URL": "main_server.url",
    "PROXY_URL": "public_url",
    "WORKER_CONCURRENCY": "worker.concurrency",
}

Port = Annotated[int, Field(ge=1, le=65535)]


class Block(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    def faults(self) -> list[str]:
        """What must not be so in production: of this block, by default that of those in it."""
        inner = [(name, getattr(self, name)) for name in type(self).model_fields]
        return [
            f"{name}: {fault}"
            for name, block in inner
            if isinstance(block, Block)
            for fault in block.faults()
        ]


def _is_redis_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("redis", "rediss") and parts.port != 0
    except ValueError:
        return False


def refuse_both(block: Block, whole: str, *parts: str) -> None:
    """What is given whole would silently win over a part that is given beside it."""
    beside = sorted(block.model_fields_set & set(parts))
    if whole in block.model_fields_set and beside:
        raise ValueError(f"give {whole} or {', '.join(beside)}, not both")


class Listen(Block):
    """Where a port of ours listens."""

    host: str = "127.0.0.1"
    port: Port


class Server(Listen):
    """An mTLS port, and the number of processes that share it."""

    workers: Annotated[int, Field(ge=1, le=64)] = 1


class Tls(Block):
    """Our server certificate. `verify_client` is there to be refused: it can't be turned off."""

    cert_file: Path
    key_file: Path
    ca_file: Path
    verify_client: Literal[True] = True

    def files(self) -> TlsFiles:
        return TlsFiles(self.cert_file, self.key_file, self.ca_file)

    def check(self) -> None:
        check_files(self.files())

    def faults(self) -> list[str]:
        return private_file_faults(self.key_file)


class MainServer(Block):
    """How to call the main server, and the certificate to do it with."""

    url: Annotated[str, Field(pattern=r"^https://[^/\s]+$")]
    timeout: Annotated[float, Field(gt=0, le=25)] = 10.0
    cert_file: Path
    key_file: Path
    ca_file: Path

    def files(self) -> TlsFiles:
        return TlsFiles(self.cert_file, self.key_file, self.ca_file)

    def check(self) -> None:
        check_files(self.files())

    def faults(self) -> list[str]:
        return private_file_faults(self.key_file)


class Redis(Block):
    """The queue's Redis: a URL, or host and port."""

    url: SecretStr = SecretStr("")
    host: str = "127.0.0.1"
    port: Port = 6379
    queue_name: Annotated[str, Field(pattern=r"^[a-z0-9_.:-]{1,64}$")] = "message_queue"

    @model_validator(mode="after")
    def _readable(self) -> "Redis":
        refuse_both(self, "url", "host", "port")
        if not _is_redis_url(self.address()):
            raise ValueError("url must be redis://… or rediss://…, with a port that is a number")
        return self

    def address(self) -> str:
        return self.url.get_secret_value() or f"redis://{self.host}:{self.port}/0"

    def faults(self) -> list[str]:
        return url_password_faults(self.address())


class Logging(Block):
    level: Literal["debug", "info", "warning", "error"] = "info"


class ServiceSettings(Block):
    """What each service's settings begin with."""

    environment: Literal["development", "production"] = "production"
    log: Logging = Logging()


S = TypeVar("S", bound=ServiceSettings)


def load(settings: type[S], file: Path | None) -> S:
    """The settings of a service, or one ConfigurationError with every mistake in it."""
    environment = {**_dotenv(Path(".env")), **os.environ}
    tree = _read_yaml(file, environment) if file else {}
    for name, path in ENVIRONMENT_NAMES.items():
        if name in environment and path.split(".")[0] in settings.model_fields:
            _put(tree, path.split("."), environment[name])
    try:
        return settings.model_validate(tree)
    except ValidationError as error:
        mistakes = [
            f"  {'.'.join(str(part) for part in e['loc']) or 'file'}: {e['msg']}"
            for e in error.errors(include_input=False, include_url=False)
        ]
        source = str(file) if file else "the environment"
        raise ConfigurationError(f"{source} can't be used:\n" + "\n".join(mistakes)) from None


def _read_yaml(file: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise ConfigurationError(f"{file} can't be read: {reason}") from None
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        raise ConfigurationError(f"{file} is not YAML{place}") from None
    if not isinstance(tree, dict):
        raise ConfigurationError(f"{file} must hold a mapping of sections")
    missing: set[str] = set()
    expanded = _expand(tree, environment, missing)
    if missing:
        names = ", ".join(sorted(missing))
        raise ConfigurationError(f"{file} names variables that are not set: {names}")
    assert isinstance(expanded, dict)
    return expanded


def _expand(value: Any, environment: Mapping[str, str], missing: set[str]) -> Any:
    """`${VAR}` in every string; a name that isn't set is noted, so that all are told at once."""
    if isinstance(value, dict):
        return {k: _expand(v, environment, missing) for k, v in value.items()}
    if isinstance(value, list):
        return [_expand(v, environment, missing) for v in value]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        if match[1] not in environment:
            missing.add(match[1])
        return environment.get(match[1], "")

    return re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", replace, value)


def _dotenv(file: Path) -> dict[str, str]:
    return {name: value for name, value in dotenv_values(file).items() if value is not None}


def _put(tree: dict[str, Any], path: list[str], value: str) -> None:
    for part in path[:-1]:
        child = tree.setdefault(part, {})
        if not isinstance(child, dict):
            return  # the section itself is wrong, which validation will say
        tree = child
    tree[path[-1]] = value
