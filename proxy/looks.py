"""The proxy's part of `gatepost doctor`: what it keeps, to start and accept without a main
server."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import msgspec

from gatepost.cli.doctor.look import CantTell, Finding, Findings, Look, See, fine, warning, wrong
from gatepost.cli.doctor.site import Site
from gatepost.cli.words import duration, plural
from gatepost.clock import Clock, from_ms
from gatepost.errors import ConfigurationError
from gatepost.trust.revocation import decode_revocations
from gatepost.trust.revoked import NotBelieved, open_view
from proxy.bundles import BundleCache
from proxy.revocations import kept_in
from proxy.settings import ProxySettings

SOON = timedelta(hours=12)
OLD_SECONDS = 3 * 3600
"""The age past which a list is old: a running main server makes a new one every hour."""


def of_proxy(see: Callable[[ProxySettings], Findings]) -> See:
    def of(site: Site) -> Findings:
        settings = site.of("proxy", ProxySettings)
        return () if settings is None else see(settings)

    return of


def see_bundle(settings: ProxySettings) -> Iterator[Finding]:
    cache = BundleCache(settings.cache.folder)
    if not settings.cache.folder.exists():
        yield wrong(f"there is no {settings.cache.folder}: nothing was ever kept")
        return
    bundle = cache.read()
    if bundle is None:
        yield wrong(f"there is none in {settings.cache.folder} that can be read")
        return
    left = from_ms(bundle.sealing_key.use_until).replace(tzinfo=UTC) - datetime.now(UTC)
    words = f"it knows {plural(len(bundle.clients), 'certificate')} of clients; its key counts"
    if left <= timedelta():
        yield wrong(f"{words} no more, since {duration(-left.total_seconds())}")
    else:
        words = f"{words} for {duration(left.total_seconds())}"
        yield warning(words) if left < SOON else fine(words)


def see_revoked(settings: ProxySettings) -> Iterator[Finding]:
    file = kept_in(settings.cache.folder)
    try:
        view = open_view(settings.tls.ca_file, Clock())
        view.learn(decode_revocations(file.read_bytes()))
    except FileNotFoundError:
        yield wrong(f"there is no {file}")
    except ConfigurationError as error:
        raise CantTell(error.detail, "gatepost doctor settings") from None
    except (msgspec.MsgspecError, NotBelieved):
        yield wrong(f"{file} is damaged, or signed by nobody that we trust")
    else:
        age = f"the list was made {duration(view.age_seconds)} ago"
        if view.seconds_left <= 0:
            yield wrong(f"{age}, and is past its time")
        else:
            yield warning(age) if view.age_seconds > OLD_SECONDS else fine(age)


LOOKS = (
    Look(
        name="bundle",
        at="what the proxy keeps on disk of clients and keys",
        why="with it a proxy starts, and accepts, while the main server is down",
        mend="gatepost doctor main-server",
        see=of_proxy(see_bundle),
    ),
    Look(
        name="edge-revoked",
        at="how old the list of revoked certificates is that the proxy keeps",
        why="past its time the proxy refuses everybody rather than guess",
        mend="gatepost doctor main-server",
        see=of_proxy(see_revoked),
    ),
)
