"""Issuing: serial and intent are in the ledger before the signature is made.

A certificate that was signed but never recorded would be one that nobody can revoke.
"""

from datetime import datetime, timedelta
from functools import partial

from cryptography.hazmat.primitives.hashes import SHA256
from sqlalchemy import Engine

from gatepost.clock import from_ms, to_ms
from main_server.ca import repository
from main_server.ca.authority import Authority, Issued, Order, new_serial
from main_server.database import transact


def issue(engine: Engine, authority: Authority, order: Order, now: datetime) -> Issued:
    serial = new_serial()
    text = f"{serial:032x}"
    moment = from_ms(to_ms(now))
    validity = (moment, moment + timedelta(seconds=order.lifetime.total_seconds()))
    record = partial(
        repository.record_intent,
        serial=text,
        issuer=authority.kid,
        identity=order.identity,
        validity=validity,
        now=moment,
    )
    transact(engine, record)
    issued = authority.issue(order, serial, now)
    fingerprint = issued.certificate.fingerprint(SHA256())
    transact(engine, lambda c: repository.activate(c, text, fingerprint))
    return issued
