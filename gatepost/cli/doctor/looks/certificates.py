"""Looks at certificates and the CAs that sign them: how long each is still good for.

A certificate is renewed from two thirds of its life on, by a timer. What is left then is divided in
four: after the first quarter something keeps it from being renewed, in the last one it is urgent.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from cryptography import x509

from gatepost.cli.doctor.look import Finding, Look, fine, unknown, warning, wrong
from gatepost.cli.doctor.looks.reissue import reissue
from gatepost.cli.doctor.site import Site
from gatepost.cli.words import duration, validity
from gatepost.config.settings import ServiceSettings, named, value_of
from gatepost.trust.certificates import Unreadable, read_certificates
from gatepost.trust.expiry import stage_of
from gatepost.wire.renewal import renewable_from


def see_certificates(site: Site) -> Iterator[Finding]:
    now, seen = datetime.now(UTC), set[Path]()
    main_server = site.parts.get("main_server")
    ca = main_server.file if main_server is not None else None
    for part, settings in site.readable():
        renew = site.at_night(
            f"gatepost-certificates@{part.name}", f"gatepost cert renew --config {part.file}"
        )
        for file, key in _pairs(settings):
            if file not in seen:
                seen.add(file)
                judge = partial(_judge_own, file, key, ca, now)
                yield from _of_file(file, judge, renew)


def see_signers(site: Site) -> Iterator[Finding]:
    now, seen = datetime.now(UTC), set[Path]()
    for _, settings in site.readable():
        for file in _files(settings, "ca_file"):
            if file not in seen:
                seen.add(file)
                yield from _of_file(file, lambda trusted: judge_signers(trusted, now), None)


def _judge_own(
    file: Path, key: Path, ca: Path | None, now: datetime, chain: list[x509.Certificate]
) -> Finding:
    found = judge_leaf(chain[0], now)
    if now < chain[0].not_valid_after_utc:
        return found
    words = (
        found.found
        if ca is not None
        else f"{found.found}; the CA has to issue another, on its own machine"
    )
    return Finding(found.state, words, reissue(chain[0], file, key, ca))


def judge_leaf(leaf: x509.Certificate, now: datetime) -> Finding:
    begin, end = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    due = renewable_from(leaf)
    quarter = (end - due) / 4
    if now < begin:
        ahead = duration((begin - now).total_seconds())
        return wrong(f"is good in {ahead} only: is this machine's clock right?", "timedatectl")
    words = validity(end, now)
    if now >= end - quarter:
        return wrong(words)
    if now >= due + quarter:
        return warning(f"{words}, and ought to have been renewed")
    return fine(words)


def judge_signers(trusted: list[x509.Certificate], now: datetime) -> Finding:
    """Judge the root and the intermediate that last longest; the others are retired."""
    roots = [one for one in trusted if one.issuer == one.subject]
    groups = [group for group in (roots, [o for o in trusted if o not in roots]) if group]
    ends = min((max(o.not_valid_after_utc for o in g) for g in groups), default=now)
    stage, words = stage_of(ends, now), validity(ends, now)
    if stage is None:
        return fine(words)
    urgent = ends - now <= timedelta(days=7)
    return wrong(words) if urgent else warning(words)


def _files(settings: ServiceSettings, name: str) -> Iterator[Path]:
    for setting in named(type(settings), Path):
        value = value_of(settings, setting)
        if setting.split(".")[-1] == name and isinstance(value, Path):
            yield value


def _pairs(settings: ServiceSettings) -> Iterator[tuple[Path, Path]]:
    """Yield each certificate that a service has, with its key."""
    for setting in named(type(settings), Path):
        section, _, name = setting.rpartition(".")
        if name == "cert_file":
            cert, key = (value_of(settings, f"{section}.{one}") for one in (name, "key_file"))
            if isinstance(cert, Path) and isinstance(key, Path):
                yield cert, key


def _of_file(
    file: Path, judge: Callable[[list[x509.Certificate]], Finding], command: str | None
) -> Iterator[Finding]:
    """Judge the certificates in a file. If it isn't there, or is no certificate, the look at the
    settings tells it."""
    try:
        found = judge(read_certificates(file.read_bytes()))
    except PermissionError:
        yield unknown(f"{file} may not be read", "sudo gatepost doctor")
    except (OSError, Unreadable):
        return
    else:
        yield Finding(found.state, f"{file} {found.found}", found.command or command)


LOOKS = (
    Look(
        name="certificates",
        at="how long the services' own certificates are good for, and whether they are renewed",
        why="with an expired certificate a service speaks to nobody",
        mend="gatepost cert renew --config FILE",
        see=see_certificates,
    ),
    Look(
        name="signers",
        at="how long the CA certificates are good for that this machine trusts",
        why="when the one that signs has expired, so has all that it has signed",
        mend="gatepost ca status",
        see=see_signers,
    ),
)
