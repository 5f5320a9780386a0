"""Looks at whether a service reaches the main server with the certificate that it shows there."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx

from gatepost.cli.doctor.look import Finding, Look, fine, unknown, wrong
from gatepost.cli.doctor.site import Site
from gatepost.config.settings import MainServer
from gatepost.errors import ConfigurationError
from gatepost.trust.identity import Role
from gatepost.trust.tls import client_context

SECONDS = 4.0


def see_main_server(site: Site) -> Iterator[Finding]:
    for part, settings in site.readable():
        if isinstance(callee := getattr(settings, "main_server", None), MainServer):
            yield from judge_call(part.name, callee, part.file)


def judge_call(name: str, callee: MainServer, file: Path) -> Iterator[Finding]:
    """Judge a call to the main server. Any answer will do: it shows that the main server is who it
    should be, and has let us in so far as to be asked. If certificates can't be used, the look at
    the settings tells it."""
    where = f"{name}: {callee.url}"
    try:
        context = client_context(callee.files(), Role.MAIN)
    except ConfigurationError as error:
        if isinstance(error.__context__, PermissionError):
            yield unknown(f"{name}: {error.detail}", "sudo gatepost doctor")
        return
    try:
        httpx.get(callee.url, verify=context, timeout=SECONDS, trust_env=False)
    except (httpx.HTTPError, ssl.SSLError, OSError) as error:
        said = str(error)
        if "CERTIFICATE" in said.upper() or "SSL" in said or "ALERT" in said.upper():
            renew = f"gatepost cert renew --now --config {file}"
            yield wrong(f"{where} and we don't accept each other's certificates: {said}", renew)
        else:
            yield wrong(f"{where} does not answer: {type(error).__name__}")
    else:
        yield fine(f"{where} answers, and takes our certificate")


LOOKS = (
    Look(
        name="main-server",
        at="whether the main server answers, and each side takes the other's certificate",
        why="without it proxies know no new client, and workers deliver nothing",
        mend="systemctl status gatepost-main-server",
        see=see_main_server,
    ),
)
