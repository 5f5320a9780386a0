"""Shows who this certificate is to the gateway."""

from datetime import UTC, datetime

from gatepost.cli.options import Options
from gatepost.cli.output import Output
from gatepost.cli.session import session
from gatepost.cli.words import moment, validity


def show(options: Options) -> None:
    output = Output(json=options.json)
    with session(options) as opened:
        identity = opened.client.whoami()
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
