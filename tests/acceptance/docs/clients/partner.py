"""A partner's program in Python, with a client that was made of docs/openapi: test_clients runs it.

Its arguments are the addresses of proxy, main server and PKI port, then the folder of certificates.
"""

import json
import ssl
import sys
from pathlib import Path

from made_admin import Client as AdminClient
from made_admin.api.default import list_certificates
from made_admin.models import CertificatePage, ListCertificatesStatus
from made_pki import Client as PkiClient
from made_pki.api.default import get_what_to_trust_now
from made_proxy import Client
from made_proxy.api.default import (
    ask_where_message_is,
    ask_who_you_are,
    send_many_messages,
    send_message,
)
from made_proxy.models import (
    Accepted,
    AcceptedDurability,
    BatchAnswer,
    BatchItem,
    MessageStatus,
    Metadata,
    Problem,
    Submission,
    Whoami,
)

NUMBER = "+491701234567"


def verifying(folder: Path, name: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return context


def main(proxy: str, main_server: str, pki: str, folder: Path) -> None:
    client = Client(base_url=proxy, verify_ssl=verifying(folder, "client_001"))
    who = ask_who_you_are.sync(client=client)
    assert isinstance(who, Whoami)
    message = Submission(NUMBER, "by a client", metadata=Metadata(client_id=who.client_id))
    sent = send_message.sync_detailed(client=client, body=message, idempotency_key="made-1")
    assert isinstance(sent.parsed, Accepted)
    assert sent.parsed.durability in AcceptedDurability
    state = ask_where_message_is.sync(sent.parsed.message_id, client=client)
    assert isinstance(state, MessageStatus)
    assert state.created_at.tzinfo is not None
    items = [BatchItem(NUMBER, "one of two", idempotency_key="made-2"), BatchItem("none", "two")]
    batch = send_many_messages.sync(client=client, body=items)
    assert isinstance(batch, BatchAnswer)
    refused = send_message.sync(client=client, body=Submission("none", "by a client"))
    assert isinstance(refused, Problem)
    admin = AdminClient(base_url=main_server, verify_ssl=verifying(folder, "admin"))
    page = list_certificates.sync(client=admin, status=ListCertificatesStatus.ACTIVE, limit=2)
    assert isinstance(page, CertificatePage)
    trusted = get_what_to_trust_now.sync(client=PkiClient(base_url=pki))
    found = {
        "role": who.role,
        "location": sent.headers["location"],
        "message_id": str(sent.parsed.message_id),
        "state": str(state.message_id),
        "batch": [one.status for one in batch.items],
        "refused": refused.type_,
        "pointers": [one.pointer for one in refused.errors or []],
        "certificates": [one.status for one in page.certificates],
        "trusted": str(trusted).count("BEGIN CERTIFICATE"),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    _, proxy, main_server, pki, folder = sys.argv
    main(proxy, main_server, pki, Path(folder))
