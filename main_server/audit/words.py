"""Words for what entries of the audit log say. Pure.

An action that isn't here is shown by its own name: the log outlives releases.
"""

import json
from collections.abc import Mapping
from typing import Any

from gatepost.errors import BadIdentity
from gatepost.trust.identity import parse_uri
from main_server.audit.chain import SYSTEM

ACTIONS: Mapping[str, str] = {
    "anchor.added": "trusted another's CA",
    "anchor.removed": "trusted another's CA no more",
    "audit.check_ended": "checked the audit log to its end",
    "audit.check_started": "began to check the audit log",
    "audit.listed": "looked through the audit log",
    "certificate.enrolled": "enrolled, by a token",
    "certificate.held": "put certificates on hold",
    "certificate.issued": "issued a certificate",
    "certificate.registered": "registered a certificate of another's CA",
    "certificate.released": "released certificates from hold",
    "certificate.renewed": "renewed a certificate",
    "certificate.revoked": "revoked certificates",
    "certificate.seen": "looked at a certificate",
    "certificates.listed": "looked at the certificates",
    "client.changed": "changed a client",
    "client.created": "added a client",
    "client.seen": "looked at a client",
    "clients.listed": "looked at the clients",
    "domain.changed": "changed a domain",
    "domain.created": "added a domain",
    "domain.disabled": "disabled a domain",
    "domain.enabled": "enabled a domain",
    "domain.seen": "looked at a domain",
    "domains.listed": "looked at the domains",
    "failed.counted": "counted failed messages",
    "failed.listed": "looked through failed messages",
    "hold.lifted": "lifted a legal hold",
    "hold.set": "put on legal hold",
    "intake.paused": "had nothing more taken in",
    "intake.resumed": "had messages taken in again",
    "issuer.prepared": "prepared another issuing CA",
    "issuer.retired": "retired an issuing CA",
    "issuer.switched": "switched to another issuing CA",
    "key.destroyed": "destroyed the key of a client's day",
    "message.discarded": "discarded failed messages",
    "ledger.restored": "restored the ledger from a backup",
    "message.opened": "opened a message",
    "message.purged": "discarded messages that waited",
    "message.redriven": "redrove messages",
    "message.seen": "looked at a message",
    "messages.listed": "looked through messages",
    "overview.seen": "looked at the overview",
    "queue.dead_forgotten": "had Redis forget dead letters",
    "queue.paused": "paused a queue",
    "queue.resumed": "resumed a queue",
    "redrive.counted": "counted what a redrive would redrive",
    "redrive.finished": "came to the end of a redrive",
    "redrive.started": "began a redrive",
    "redrive.stopped": "stopped a redrive",
    "redrives.listed": "looked at the redrives",
    "reports.seen": "looked at reports",
    "retention.applied": "took away what was past its day",
    "retention.changed": "changed for how long messages are kept",
    "retention.seen": "looked at for how long messages are kept",
    "second_step.codes_remade": "made new recovery codes",
    "second_step.refused": "gave a wrong code at the second step",
    "second_step.set_up": "set up the second step",
    "second_step.turned_off": "turned the second step off",
    "session.begun": "gave the right password, and was asked for a code",
    "session.ended": "signed out",
    "session.opened": "signed in",
    "session.password_refused": "gave a wrong password, being signed in",
    "session.proved": "showed again that it is them",
    "session.slowed_down": "had to wait after wrong passwords",
    "session.token_reused": "showed a session's token again: the session was ended",
    "subject.approved": "approved a report for a data subject",
    "subject.asked": "asked for a report for a data subject",
    "subject.reported": "fetched messages for a data subject",
    "token.created": "made a token to enrol with",
    "token.withdrawn": "withdrew tokens to enrol with",
    "tokens.listed": "looked at the tokens to enrol with",
    "user.break_glass": "broke the glass: made an emergency administrator",
    "user.created": "added somebody",
    "user.disabled": "disabled an account",
    "user.enabled": "enabled an account",
    "user.link_made": "made a link to set a password",
    "user.password_set": "set a password",
    "user.rights_changed": "changed what somebody may do",
    "user.second_step_reset": "took somebody's second step back",
    "user.seen": "looked at an account",
    "user.signed_out": "ended all of somebody's sessions",
    "users.listed": "looked at the accounts",
}


def action_in_words(action: str) -> str:
    return ACTIONS.get(action) or action.replace(".", " ").replace("_", " ")


def name_in_words(name: str) -> str:
    """Return an actor or a subject in words, where it is one of ours: `alice@example.com`, `client
    a of b.c`."""
    if name == SYSTEM:
        return "the gateway itself"
    kind, _, rest = name.partition(":")
    if kind == "shell":
        return f"{rest} at a shell"
    if kind == "token" and rest:
        return f"whoever had the token {rest}"
    parts = name.removeprefix("gatepost://").split("/")
    if name.startswith("gatepost://") and len(parts) == 3 and parts[1] == "user":
        return f"{parts[2]}@{parts[0]}"
    try:
        one = parse_uri(name)
    except BadIdentity:
        return name
    return f"{one.role} {one.name} of {one.domain}"


def details_in_words(details: str) -> list[tuple[str, str]]:
    """Return what each detail is called, and what it is. That somebody has changed it shows when
    the chain is verified."""
    try:
        said = json.loads(details).items()
        return [(name.replace("_", " "), _value(value)) for name, value in said]
    except (ValueError, AttributeError, RecursionError):
        return [("unreadable", details)]


def _value(value: Any) -> str:
    match value:
        case None | "" | []:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_value(one) for one in value)
        case dict():
            return ", ".join(
                f"{name.replace('_', ' ')} {_value(one)}" for name, one in value.items()
            )
    return str(value)
