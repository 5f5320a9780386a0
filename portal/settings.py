"""The portal's settings."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, IPvAnyNetwork

from gatepost.addresses import proxies_faults
from gatepost.config.settings import Block, Listen, MainServer, Server, ServiceSettings
from gatepost.safety import private_file_faults
from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN
from gatepost.trust.tls import TlsFiles, check_shown


class Shown(Block):
    """The certificate that browsers are shown: of our CA, or of one that they trust already."""

    cert_file: Path
    """PEM: the certificate, and who signed it. Taken up when it is replaced."""
    key_file: Path
    """PEM; its owner's alone."""

    def faults(self) -> list[str]:
        return private_file_faults(self.key_file)


class PortalSettings(ServiceSettings):
    server: Server = Server(port=8080)
    ops: Listen = Listen(port=9002)
    tls: Shown
    main_server: MainServer
    domain: Annotated[str, Field(pattern=r"^[a-z0-9.-]{1,128}$")] = INFRASTRUCTURE_DOMAIN
    """Whose people sign in at /login by their name alone; others have /d/<domain>/login."""
    trusted_proxies: tuple[IPvAnyNetwork, ...] = ()
    """What stands between browsers and the portal, as 10.0.0.7 or 10.0.0.0/28: the last address in
    X-Forwarded-For that isn't one of these is where the browser is. From nobody else is that header
    taken."""

    def faults(self) -> list[str]:
        return super().faults() + proxies_faults(self.trusted_proxies)

    def shown_files(self) -> TlsFiles:
        return TlsFiles(self.tls.cert_file, self.tls.key_file, self.main_server.ca_file)

    def check_shown(self) -> None:
        check_shown(self.shown_files())
