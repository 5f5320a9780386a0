"""The settings of services: one frozen pydantic class for each, composed of the blocks here.

They are read in the entry point, from the sources of `gatepost.config.sources`, the environment
under the names of the table below. All mistakes are told at once, and no value is repeated in them:
it may be a secret.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo

from gatepost.config.sources import read_sources
from gatepost.errors import ConfigurationError
from gatepost.mistakes import did_you_mean, is_plain, nearest, of_pydantic
from gatepost.safety import private_file_faults, url_password_faults
from gatepost.trust.tls import TlsFiles, check_files, check_shown

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
    "PROXY_URL": "ca.gateway_url",
    "WORKER_CONCURRENCY": "worker.concurrency",
}

_STORES = ("database", "redis")

PORTS_APART = 10
"""The distance from an instance's ports to the next one's, so that no port of an instance meets one
of another service's."""

Port = Annotated[int, Field(ge=1, le=65535)]


class Block(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    def faults(self) -> list[str]:
        """Return what must not be so in production of this block; by default, the faults of those
        in it."""
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
    """Raise ValueError if a setting is given whole and in parts: what is given whole would silently
    win over a part that is given beside it."""
    beside = sorted(block.model_fields_set & set(parts))
    if whole in block.model_fields_set and beside:
        raise ValueError(f"give {whole} or {', '.join(beside)}, not both")


class Listen(Block):
    """Where a port of ours listens."""

    host: str = "127.0.0.1"
    """The address; `0.0.0.0` is all of this machine's."""
    port: Port
    """Of the first instance on a machine; each further one's is 10 further up."""


class Server(Listen):
    """An mTLS port, and the number of processes that share it."""

    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """How many processes; as many as there are cores for it."""
    bodies_mib: Annotated[int, Field(ge=128, le=65536)] = 128
    """What a process takes in of bodies at a time, in MiB. One sender may have a quarter of it."""

    @property
    def bodies_bytes(self) -> int:
        return self.bodies_mib * 1024 * 1024


class Tls(Block):
    """Our server certificate. `verify_client` is there to be refused: it can't be turned off."""

    cert_file: Path
    """PEM: our certificate, and the intermediate that signed it. Taken up when it is replaced."""
    key_file: Path
    """PEM; its owner's alone."""
    ca_file: Path
    """PEM: the roots that are trusted, and who may sign for them. Taken up when it is replaced."""
    verify_client: Literal[True] = True
    """Callers show certificates. It can't be turned off."""

    def files(self) -> TlsFiles:
        return TlsFiles(self.cert_file, self.key_file, self.ca_file)

    def check(self) -> None:
        check_shown(self.files())

    def faults(self) -> list[str]:
        return private_file_faults(self.key_file)


class MainServer(Block):
    """How to call the main server, and the certificate to do it with."""

    url: Annotated[str, Field(pattern=r"^https://[^/\s]+$")]
    """Without a path."""
    timeout: Annotated[float, Field(gt=0, le=25)] = 10.0
    """For a call, in seconds: shorter than a lease."""
    cert_file: Path
    """PEM: what the main server is shown. Taken up when it is replaced."""
    key_file: Path
    """PEM; its owner's alone."""
    ca_file: Path
    """PEM: whom the main server's certificate must be of. Taken up when it is replaced."""

    def files(self) -> TlsFiles:
        return TlsFiles(self.cert_file, self.key_file, self.ca_file)

    def check(self) -> None:
        check_files(self.files())

    def faults(self) -> list[str]:
        return private_file_faults(self.key_file)


class Redis(Block):
    """The queue's Redis: a URL, or its parts. By `rediss://` it is spoken to over TLS."""

    url: SecretStr = SecretStr("")
    """`redis://USER:PASSWORD@HOST:PORT/0`, instead of the parts."""
    host: str = "127.0.0.1"
    """Where it is."""
    port: Port = 6379
    """Its port."""
    user: str = ""
    """One of the ACL file's."""
    password: SecretStr = SecretStr("")
    """That user's."""
    queue_name: Annotated[str, Field(pattern=r"^[a-z0-9_.:-]{1,64}$")] = "message_queue"
    """Of the queue that domains share; all services have the same."""

    @model_validator(mode="after")
    def _readable(self) -> "Redis":
        refuse_both(self, "url", "host", "port", "user", "password")
        if not _is_redis_url(self.address()):
            raise ValueError("url must be redis://… or rediss://…, with a port that is a number")
        return self

    def address(self) -> str:
        if self.url.get_secret_value():
            return self.url.get_secret_value()
        password = quote(self.password.get_secret_value(), safe="")
        who = f"{quote(self.user, safe='')}:{password}@" if password else ""
        return f"redis://{who}{self.host}:{self.port}/0"

    def faults(self) -> list[str]:
        return url_password_faults(self.address())


class Logging(Block):
    """The log: JSON lines on standard output."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """From which on events are written. It changes in place; SIGUSR1 has all written."""


class ServiceSettings(Block):
    """What each service's settings begin with."""

    environment: Literal["development", "production"] = "production"
    """In production, what is unsafe is refused at the start."""
    log: Logging = Logging()

    def try_files(self) -> None:
        """Check the files that are named; raise ConfigurationError if one can't be used. Those of a
        service its Service reads."""

    def of_instance(self, number: int) -> Self:
        """Return the settings as another instance on the same machine has them: its ports are
        further up."""
        moved = {
            name: block.model_copy(update={"port": block.port + PORTS_APART * (number - 1)})
            for name in type(self).model_fields
            if isinstance(block := getattr(self, name), Listen)
        }
        return self.model_copy(update=moved)


S = TypeVar("S", bound=ServiceSettings)


def load(settings: type[S], file: Path | None) -> S:
    """Return the settings of a service, or raise one ConfigurationError with every mistake in
    it."""
    return load_with_origins(settings, file)[0]


def load_with_origins(settings: type[S], file: Path | None) -> tuple[S, Mapping[str, str]]:
    """Return the settings of a service, and where each that is set came from, by its dotted name;
    the others are as by default."""
    names = {n: path for n, path in ENVIRONMENT_NAMES.items() if _has(settings, path)}
    secrets, files = set(named(settings, SecretStr)), set(named(settings, Path))
    given = read_sources(file, names, secrets, files)
    if file is None:
        _demand_places(settings, given.origins)
    try:
        return settings.model_validate(given.tree), given.origins
    except ValidationError as error:
        errors = error.errors(include_input=False, include_url=False)
        mistakes = [f"  {_mistake(settings, one)}" for one in errors]
        mistakes += [f"  {words}" for words in misnamed(os.environ)]
        source = str(file) if file else "the environment"
        raise ConfigurationError(f"{source} can't be used:\n" + "\n".join(mistakes)) from None


def _mistake(settings: type[BaseModel], error: Mapping[str, Any]) -> str:
    """Say where a mistake is, and what it is; for a name that nobody knows, also which may have
    been meant."""
    *places, name = [str(part) for part in error["loc"]] or ["file"]
    words = of_pydantic(error)
    if error["type"] == "extra_forbidden":
        words += did_you_mean(name, _names_in(settings, places))
    return f"{'.'.join([*places, name])}: {words}"


def _names_in(block: type[BaseModel], places: Sequence[str]) -> Iterable[str]:
    for place in places:
        info = block.model_fields.get(place)
        section = section_of(info) if info is not None else None
        if section is None:
            return ()
        block = section
    return block.model_fields


def misnamed(environment: Iterable[str]) -> list[str]:
    """Return a warning for each name in the environment that is almost one of ours: nobody reads
    it."""
    strange = sorted(set(environment) - set(ENVIRONMENT_NAMES))
    found = ((one, nearest(one, ENVIRONMENT_NAMES)) for one in strange if is_plain(one))
    return [
        f"{one} in the environment is read by nobody; did you mean {meant}?"
        for one, meant in found
        if meant is not None and _is_slip(one, meant)
    ]


def _is_slip(name: str, meant: str) -> bool:
    """Return whether a name is a slip for the one that may be meant, and doesn't just have the
    beginning in common: others have names of their own."""
    return abs(len(name) - len(meant)) < 2


def refuse_unsafe(settings: ServiceSettings) -> None:
    """Raise ConfigurationError in production, with all that must not be so there, if anything
    is."""
    faults = settings.faults()
    if faults and settings.environment == "production":
        raise ConfigurationError("not in production:\n" + "\n".join(faults))


def leaves(block: type[BaseModel], before: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield each setting of a class by its dotted name, those of its sections in their places."""
    for name, info in block.model_fields.items():
        section = section_of(info)
        if section is None:
            yield before + name, info
        else:
            yield from leaves(section, f"{before}{name}.")


def value_of(settings: BaseModel, name: str) -> Any:
    """Return the value of a setting by its dotted name; None in a section that was left out."""
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def section_of(info: FieldInfo) -> type[BaseModel] | None:
    """Return the class of a section, also of one that may be left out; None for what is no
    section."""
    kinds = (info.annotation, *get_args(info.annotation))
    return next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)


def named(settings: type[BaseModel], kind: type) -> Iterator[str]:
    """Yield the names of the settings that are of this type, or may be."""
    for name, info in leaves(settings):
        if kind in (info.annotation, *get_args(info.annotation)):
            yield name


def _demand_places(settings: type[BaseModel], origins: Mapping[str, str]) -> None:
    """Check that the environment, without a file, says where each store is: at the port that it has
    by default there may be none, or somebody else's. Raise ConfigurationError if it doesn't."""
    names = {path: variable for variable, path in ENVIRONMENT_NAMES.items()}
    mistakes = [
        f"  {store}: where is it? {names[f'{store}.url']} says it, or {names[f'{store}.host']}"
        for store in _STORES
        if _has(settings, store) and not origins.keys() & {f"{store}.url", f"{store}.host"}
    ]
    if mistakes:
        raise ConfigurationError("the environment can't be used:\n" + "\n".join(mistakes))


def _has(settings: type[BaseModel], path: str) -> bool:
    return path.split(".")[0] in settings.model_fields
