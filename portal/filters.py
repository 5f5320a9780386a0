"""The filters of a list, as an address says them and as the main server is asked. Pure.

An address never holds a number: `sender` stands for it there, which the main server has named.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from gatepost.clock import iso, to_ms
from gatepost.errors import FieldError, Invalid
from gatepost.trust.identity import is_domain, is_name
from gatepost.zones import begin_of


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters as typed; dates are days where the reader is, the last one included. Empty is no
    filter."""

    first: str = ""
    last: str = ""
    status: str = ""
    reason: str = ""
    client: str = ""
    domain: str = ""
    sender: str = ""
    actor: str = ""
    action: str = ""
    subject: str = ""

    @property
    def any(self) -> bool:
        return self != Filters()

    def asked(self, zone: ZoneInfo) -> dict[str, str]:
        """Return the filters in UTC, as the main server wants them.

        Raise Invalid for a date that is none, and for what nobody is called: a number may have been
        typed there, and none is to get into an address.
        """
        whole = {
            "from": _day("from", self.first, zone),
            "to": _day("to", self.last, zone),
            "status": self.status,
            "reason": self.reason,
            "client": _client(self.client.strip()),
            "domain": _domain(self.domain.strip()),
            "sender": self.sender,
            "actor": self.actor.strip(),
            "action": self.action,
            "subject": self.subject.strip(),
        }
        return {name: value for name, value in whole.items() if value}

    def address(self, path: str, **more: str | None) -> str:
        """Return the address of the page that shows this."""
        whole = {name: value for name, value in (asdict(self) | more).items() if value}
        return f"{path}?{urlencode(whole)}" if whole else path

    def without(self, name: str) -> "Filters":
        return replace(self, **{name: ""})


_NAMES = frozenset(field.name for field in fields(Filters))


def filters_in(given: Mapping[str, str]) -> Filters:
    return Filters(**{name: value for name, value in given.items() if name in _NAMES})


def _client(text: str) -> str:
    domain, _, name = text.rpartition(":")
    if text and not (is_name(name) and (not domain or is_domain(domain))):
        raise _refused("client", "is written as its name, or as domain:name")
    return text


def _domain(text: str) -> str:
    if text and not is_domain(text):
        raise _refused("domain", "is written as example.com")
    return text


def _day(field: str, text: str, zone: ZoneInfo) -> str:
    """Return when the day begins; for the last one, when it is over."""
    if not text:
        return ""
    try:
        day = date.fromisoformat(text) + timedelta(days=field == "to")
        return iso(to_ms(begin_of(day, zone)))
    except (ValueError, OverflowError):
        raise _refused(field, "is a day, written as 2026-11-18") from None


def _refused(field: str, words: str) -> Invalid:
    """Return the refusal as the main server would say it."""
    return Invalid(errors=[FieldError(f"/{field}", words)])
