"""The settings of a connection to the ledger: a URL, or its parts.

They are apart from gatepost.config.settings, since only programs that talk to a database have
SQLAlchemy loaded.
"""

from pydantic import SecretStr, model_validator
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from gatepost.config.settings import Block, Port, refuse_both
from gatepost.safety import password_faults

NIGHTLY_LOCK = "gatepost.analytics"
"""The name of a lock in the database: the nightly job and a backup never run beside each other."""


class DatabaseAddress(Block):
    """The ledger: a URL, or its parts."""

    url: SecretStr = SecretStr("")
    """`mysql+pymysql://USER:PASSWORD@HOST:PORT/NAME`, instead of the parts."""
    host: str = "127.0.0.1"
    """Where it is."""
    port: Port = 3306
    """Its port."""
    name: str = "gatepost"
    """The schema."""
    user: str = "gatepost"
    """Who we are there."""
    password: SecretStr = SecretStr("")
    """That user's."""

    @model_validator(mode="after")
    def _readable(self) -> "DatabaseAddress":
        refuse_both(self, "url", "host", "port", "name", "user", "password")
        try:
            url = self.address()
        except ArgumentError:
            raise ValueError("url is not a database URL") from None
        if url.get_backend_name() not in ("mysql", "mariadb"):
            raise ValueError("url must begin with mysql+pymysql://")
        return self

    def address(self) -> URL:
        if self.url.get_secret_value():
            return make_url(self.url.get_secret_value())
        return URL.create(
            "mysql+pymysql",
            self.user,
            self.password.get_secret_value(),
            self.host,
            self.port,
            self.name,
        )

    def faults(self) -> list[str]:
        address = self.address()
        return password_faults(address.password or "", address.username or "")
