"""A CA's folder as the main server has it, and what it would answer."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from cryptography import x509

from gatepost.client.files import Files
from gatepost.trust.identity import Identity, Role
from main_server.ca import founding
from main_server.ca.authority import Authority, Order, Usage, new_key, new_serial, utc_now
from main_server.ca.authority import load_authority as load
from main_server.ca.parts import key_to_pem

Answer = Mapping[str, str]
HOLDER = Identity("example.com", Role.CLIENT, "client_001")


class Issuing:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        founding.init_authority(folder, utc_now())

    @property
    def root(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate((self.folder / "root.pem").read_bytes())

    @property
    def authority(self) -> Authority:
        return load(self.folder)

    @property
    def pins(self) -> bytes:
        return founding.read_pins(self.folder)

    def answer(self, csr: bytes, holder: Identity = HOLDER, usage: Usage = Usage.CLIENT) -> Answer:
        key = x509.load_der_x509_csr(csr).public_key()
        return {"cert": sign(self.authority, key, holder, usage), "ca": self.pins.decode()}

    def give(self, folder: Path) -> Files:
        """A holder's files."""
        folder.mkdir()
        key = new_key()
        files = Files(folder / "ca.pem", folder / "client.pem", folder / "client.key")
        files.ca.write_bytes(self.pins)
        files.cert.write_text(sign(self.authority, key.public_key()))
        files.key.write_bytes(key_to_pem(key))
        return files

    def prepare(self) -> None:
        founding.prepare(self.folder, utc_now())


def sign(
    authority: Authority, key: Any, holder: Identity = HOLDER, usage: Usage = Usage.CLIENT
) -> str:
    """The chain."""
    order = Order(holder, usage, timedelta(days=1))
    return authority.chain(authority.sign(order, key, new_serial(), utc_now())).decode()


def smuggled(pem: bytes) -> bytes:
    """A block that OpenSSL trusts as well, and that others pass over."""
    return pem.replace(b" CERTIFICATE", b" TRUSTED CERTIFICATE")
