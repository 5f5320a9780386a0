"""A main server's own certificate, renewed where its CA is."""

from gatepost.client.files import Files
from gatepost.client.keys import make_key, make_request
from main_server.commands.own_certificate import renew_own
from tests.integration.main_server.ca.ca_room import CaRoom


def test_a_key_that_is_in_another_certificate_gives_way_to_a_new_one(room: CaRoom) -> None:
    """As an attempt before may have left it, whose certificate was revoked since."""
    whom = ["gatepost:main-9", "--role", "main", "--host", "main.example.com"]
    room.done("cert", "issue", *whom, "--out", str(room.out))
    files = Files(room.out / "ca.pem", room.out / "main-9.pem", room.out / "main-9.key")
    room.done("ca", "prepare")
    files.ca.write_text(room.done("ca", "pins").out)
    room.done("ca", "switch", "--yes")  # so that it may be renewed at once
    key = make_key()
    room.issue("other", "--csr", str(room.file("other.csr", make_request(key))))
    files.next_key.write_bytes(key)
    before = files.leaf()
    assert renew_own(room.config, files, only_if_due=False)
    assert files.leaf() != before
    assert files.key.read_bytes() != key
