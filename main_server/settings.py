"""The main server's settings."""

from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, IPvAnyNetwork

from gatepost.addresses import proxies_faults
from gatepost.config.collector import Tracing
from gatepost.config.database import DatabaseAddress
from gatepost.config.settings import Block, Listen, Redis, Server, ServiceSettings, Tls
from gatepost.safety import private_file_faults
from main_server.key_file import key_file_faults

PortalUrl = Annotated[str, Field(pattern=r"^https://[^/\s]+$")]


class Database(DatabaseAddress):
    """The ledger. The data keys live in a schema of their own."""

    user: str = "gatepost_main"
    """Who we are there."""
    keys_schema: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,64}$")] = "gatepost_keys"
    """Where the wrapped data keys are: in no backup of the ledger."""
    pool_size: Annotated[int, Field(ge=1, le=100)] = 10
    """Connections of each process."""


class Replica(DatabaseAddress):
    """A replica of the ledger, for what people are shown in the portal: lists, searches, messages
    that have ended, reports."""

    user: str = "gatepost_showing"
    """Who we are there; their rights are those of `gatepost db grant showing`."""
    pool_size: Annotated[int, Field(ge=1, le=100)] = 5
    """Connections of each process."""
    longest_lag: Annotated[float, Field(ge=2, le=3600)] = 60.0
    """Seconds. When it is further behind, the ledger is asked; from 5 s on a page says how old it
    is."""


class Keys(Block):
    """The master key: 32 bytes in a file that only we may read. And where keys are backed up."""

    master_key_file: Path
    """Made by `head -c 32 /dev/urandom`; mode 0400."""
    backup_file: Path | None = None
    """Written anew whenever a key is destroyed. Sealed under the master key, or a passphrase."""
    backup_passphrase_file: Path | None = None
    """By which the backup can be opened even when the master key is lost."""

    def faults(self) -> list[str]:
        passphrase = self.backup_passphrase_file
        return key_file_faults(self.master_key_file) + (
            private_file_faults(passphrase) if passphrase else []
        )


class Authority(Block):
    """Where the CA's certificates and keys are, where its lists go, and where both are found."""

    folder: Path
    """The certificates and keys; its owner's alone. The root's key may be elsewhere."""
    crl_file: Path = Path("main_server/crl/revoked.pem")
    """Where the list of what is revoked is written for whoever wants the file."""
    public_url: Annotated[str, Field(pattern=r"^http://[^/\s]+$")] | None = None
    """Of the PKI port, as others reach it: it is written into every certificate."""
    gateway_url: Annotated[str, Field(pattern=r"^https://[^/\s]+$")] | None = None
    """Of the proxy, as partners reach it: they are told it when they enrol."""

    def faults(self) -> list[str]:
        names = ("root", "intermediate", "next", "retiring")
        keys = (self.folder / f"{name}.key" for name in names)
        return [fault for key in keys for fault in private_file_faults(key)]


class Migrator(Database):
    """The ledger, as the user who makes and changes its tables."""

    user: str = "gatepost_migrate"
    """Who we are there."""


class MigrationSettings(ServiceSettings):
    """A file of its own, root's alone; `gatepost db` takes the main server's as well."""

    database: Migrator = Migrator()


class DatabaseOnly(ServiceSettings):
    """The part of the main server's settings, or of a migration's, that is the ledger."""

    model_config = ConfigDict(extra="ignore")
    database: Database = Database()


class KeysOnly(ServiceSettings):
    """The part of the main server's settings that changing keys needs."""

    model_config = ConfigDict(extra="ignore")
    database: Database = Database()
    keys: Keys


class StoresOnly(ServiceSettings):
    """The part of the main server's settings that a look into ledger and queue needs."""

    model_config = ConfigDict(extra="ignore")
    database: Database = Database()
    redis: Redis = Redis()


class CaOnly(ServiceSettings):
    """The part of the main server's settings that the CA's commands need."""

    model_config = ConfigDict(extra="ignore")
    database: Database = Database()
    redis: Redis = Redis()
    ca: Authority


class UsersOnly(ServiceSettings):
    """The part of the main server's settings that the commands on people need."""

    model_config = ConfigDict(extra="ignore")
    database: Database = Database()
    portal_url: PortalUrl | None = None


class MainServerSettings(ServiceSettings):
    second_step_in_development: bool = False
    """Who administers has an authenticator, or can do nothing but set one up. In development they
    do without, unless this is set; elsewhere there is no doing without."""
    server: Server = Server(port=8000)
    pki: Listen = Listen(port=8002)
    ops: Listen = Listen(port=9000)
    trusted_proxies: tuple[IPvAnyNetwork, ...] = ()
    """What stands before the PKI port, as 10.0.0.7 or 10.0.0.0/28: the last address in
    X-Forwarded-For that isn't one of these is who asks there, by which requests are counted. From
    nobody else is that header taken."""
    tls: Tls
    database: Database = Database()
    replica: Replica | None = None
    redis: Redis = Redis()
    keys: Keys
    ca: Authority
    portal_url: PortalUrl | None = None
    """Of the portal, as people reach it: links for them begin with it."""
    tracing: Tracing = Tracing()

    def faults(self) -> list[str]:
        return super().faults() + proxies_faults(self.trusted_proxies)

    @property
    def second_step_demanded(self) -> bool:
        return self.environment != "development" or self.second_step_in_development
