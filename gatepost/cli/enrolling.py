"""Enrols a holder, for `gatepost enrol`: asks for the token, and leaves files that are ready to
send with."""

import os
import sys
from dataclasses import dataclass
from json import dumps as json_text
from pathlib import Path

import typer
from cryptography.hazmat.primitives.serialization import Encoding

from gatepost.cli.connection import variables
from gatepost.cli.failure import Failure
from gatepost.cli.output import Output
from gatepost.client.configuration import configuration_file
from gatepost.client.connection import proxy_at
from gatepost.client.enrolling import Enrolled
from gatepost.client.enrolling import enrol as ask
from gatepost.client.errors import GatepostError, Refused
from gatepost.client.keys import KEY_USED, make_key
from gatepost.errors import ConfigurationError
from gatepost.trust.certificates import read_certificates
from gatepost.trust.identity import Certificate
from gatepost.whole_file import replace_file
from gatepost.wire.enrolment import Token, parse_token


@dataclass(frozen=True, slots=True)
class Place:
    """The files of a holder. The key has another name until there is a certificate for it."""

    folder: Path

    @property
    def key(self) -> Path:
        return self.folder / "client.key"

    @property
    def new_key(self) -> Path:
        return self.folder / "client.key.new"

    @property
    def cert(self) -> Path:
        return self.folder / "client.pem"

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def config(self) -> Path:
        return self.folder / "config.toml"


def enrol(
    url: str, folder: Path | None, token_file: Path | None, proxy: str | None, *, json: bool
) -> None:
    if not url.startswith(("http://", "https://")):
        raise Failure("usage", "The address to enrol at is http://host:port.")
    proxy = proxy or variables(os.environ).get("proxy")
    _check(proxy)
    place = Place(folder or configuration_file(os.environ).parent)
    if place.key.exists() or (place.cert.exists() and not place.new_key.exists()):
        words = f"There are a key or a certificate in {place.folder} already."
        raise Failure("usage", words, "Say another --folder, or renew: gatepost cert renew")
    token = _token(token_file)
    try:
        enrolled = _enrol(url, token, place, proxy)
        _write(place, enrolled, proxy)
    except ConfigurationError as error:
        raise Failure("usage", error.detail) from None
    except GatepostError as error:
        raise Failure(error.kind, str(error)) from None
    _tell(Output(json=json), place, enrolled)


def _check(proxy: str | None) -> None:
    try:
        proxy_at(proxy)
    except ValueError as error:
        raise Failure("usage", f"{error}.") from None


def _token(file: Path | None) -> Token:
    try:
        if file is not None:
            text = file.read_text("utf-8").splitlines()[0]
        elif sys.stdin.isatty():
            text = typer.prompt("Token", hide_input=True, err=True)
        else:
            text = sys.stdin.readline()
        return parse_token(text)
    except OSError as error:
        raise Failure("usage", f"{file} can't be read: {error.strerror}.") from None
    except (ValueError, IndexError):
        raise Failure("invalid-input", "This is not a token, or not the whole of it.") from None


def _enrol(url: str, token: Token, place: Place, proxy: str | None) -> Enrolled:
    """Enrol with the key of an earlier attempt, so that what it was perhaps granted isn't lost;
    another token doesn't get that, so a new key is made for it."""
    if place.new_key.exists():
        try:
            return ask(url, token, place.new_key.read_bytes(), proxy)
        except Refused as refused:
            if refused.type != KEY_USED:
                raise
    place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(place.new_key, make_key())
    return ask(url, token, place.new_key.read_bytes(), proxy)


def _write(place: Place, enrolled: Enrolled, proxy: str | None) -> None:
    """Write the files. The key takes its name last: until then, all of it can be done again."""
    replace_file(place.ca, enrolled.ca)
    if enrolled.gateway and not place.config.exists():
        files = 'ca = "ca.pem"\ncert = "client.pem"\nkey = "client.key"\n'
        files += f"proxy = {json_text(proxy)}\n" if proxy else ""  # TOML takes JSON's strings
        replace_file(place.config, f'url = "{enrolled.gateway}"\n{files}'.encode())
    replace_file(place.cert, enrolled.chain)
    os.link(place.new_key, place.key)  # unlike a rename, it never takes another's place
    place.new_key.unlink()


def _tell(output: Output, place: Place, enrolled: Enrolled) -> None:
    leaf = read_certificates(enrolled.chain)[0]
    identity = Certificate(leaf.public_bytes(Encoding.DER)).identity.uri
    if output.json:
        files = {"cert": str(place.cert), "key": str(place.key), "ca": str(place.ca)}
        said = {"identity": identity, "gateway": enrolled.gateway}
        output.result({**said, "not_after": leaf.not_valid_after_utc, **files})
        return
    output.say("You are ", (identity, "bold"), f", until {leaf.not_valid_after_utc:%Y-%m-%d}.")
    output.say(f"Key and certificate are in {place.folder}.")
    if enrolled.gateway:
        output.say(f"The gateway is {enrolled.gateway}: try `gatepost whoami`.")
