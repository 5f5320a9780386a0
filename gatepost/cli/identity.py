"""Who this certificate is to the gateway, on a screen."""

from datetime import UTC, datetime

from gatepost.cli.output import Output
from gatepost.cli.session import Session
from gatepost.cli.words import moment, validity


def show(session: Session, output: Output) -> None:
    identity = session.client.whoami()
    if output.json:
        output.result(identity)
        return
    certificate, limits = identity.certificate, identity.limits
    output.say((identity.name, "bold"), f" of {identity.domain}, as {identity.role}")
    rows = {
        "certificate": f"{validity(certificate.not_after, datetime.now(UTC))}, "
        f"{moment(certificate.not_after)}",
        "serial": certificate.serial,
        "fingerprint": certificate.fingerprint,
        "limits": f"{limits.rate_per_second:g} requests a second, {limits.burst} at once",
        "body": f"up to {identity.formats.max_body_characters} characters",
    }
    for name, words in rows.items():
        output.say((f"  {name:<13}", "dim"), words)
