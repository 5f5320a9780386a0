"""`gatepost` as a partner uses it: the installed command, real mTLS, a real stack."""

import json
from pathlib import Path

from infra.dev.stack import Stack
from tests.acceptance.client.conftest import SECONDS, Command
from tests.unit.client.gateway import Authority, Pair

NUMBER = "+15550100277"
BODY = "Words that are to be seen nowhere."
MESSAGE = json.dumps({"sender_number": NUMBER, "message_body": BODY})
NO_SUCH_ID = "019a6f00-0000-7000-8000-000000000001"


def test_send_show_and_watch(gatepost: Command) -> None:
    sent = gatepost("message", "send", "--json", stdin=MESSAGE)
    assert (sent.code, sent.err) == (0, "")
    message_id = sent.result["message_id"]

    watched = gatepost("message", "watch", message_id, "--timeout", SECONDS, "--json")
    assert watched.code == 0
    assert json.loads(watched.out.splitlines()[-1])["status"] == "delivered"

    shown = gatepost("message", "show", message_id, "--json")
    assert shown.code == 0
    assert (shown.result["message_id"], shown.result["status"]) == (message_id, "delivered")
    assert shown.result["attempt_count"] == 1


def test_send_and_wait_in_words(gatepost: Command) -> None:
    ran = gatepost("message", "send", "--wait", stdin=MESSAGE)
    assert (ran.code, ran.err) == (0, "")
    queued, delivered = ran.out.splitlines()
    assert queued.startswith("queued ")
    assert delivered.startswith("delivered ")
    assert delivered.endswith("1 attempt")


def test_many_lines_in_one_go(gatepost: Command) -> None:
    ran = gatepost("message", "send", "--lines", "--json", stdin=f"{MESSAGE}\n" * 50)
    ids = {json.loads(line)["message_id"] for line in ran.out.splitlines()}
    assert ran.code == 0
    assert len(ids) == 50


def test_whoami(gatepost: Command) -> None:
    identity = gatepost("whoami", "--json").result
    assert (identity["domain"], identity["role"]) == ("example.com", "client")
    assert identity["name"] == "client_001"


def test_the_gateways_words_about_a_wrong_value(gatepost: Command) -> None:
    wrong = json.dumps({"sender_number": "0155", "message_body": " "})
    ran = gatepost("message", "send", "--json", stdin=wrong)
    assert ran.code == 3
    assert {place["pointer"] for place in ran.error["errors"]} == {
        "/sender_number",
        "/message_body",
    }


def test_a_message_that_is_not_there(gatepost: Command) -> None:
    assert gatepost("message", "show", NO_SUCH_ID).code == 4


def test_a_wrong_ca(gatepost: Command, foreign: tuple[Authority, Pair]) -> None:
    ran = gatepost("message", "send", "--ca", foreign[0].ca, stdin=MESSAGE)
    assert ran.code == 6
    assert "Give the CA file" in ran.err


def test_a_certificate_of_a_ca_that_the_gateway_does_not_know(
    gatepost: Command, foreign: tuple[Authority, Pair]
) -> None:
    pair = foreign[1]
    ran = gatepost("message", "send", "--cert", pair.cert, "--key", pair.key, stdin=MESSAGE)
    assert ran.code == 6
    assert "does not know the CA of your client certificate" in ran.err


def test_the_certificate_of_another_role(gatepost: Command, stack: Stack) -> None:
    pki = stack.place.pki
    ran = gatepost("whoami", "--cert", pki / "worker.pem", "--key", pki / "worker.key")
    assert ran.code == 8


def test_bodies_and_numbers_are_in_no_arguments_and_no_environment(
    gatepost: Command, stack: Stack
) -> None:
    running = gatepost.start("message", "send", "--lines", "--wait", "--json")
    assert running.stdin is not None
    assert running.stdout is not None
    try:
        running.stdin.write(MESSAGE + "\n")
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["status"] == "delivered"
        pids = {running.pid, *(pid for pids in stack.status()["pids"].values() for pid in pids)}
        for pid in pids:
            for name in ("cmdline", "environ"):
                content = Path(f"/proc/{pid}/{name}").read_bytes()
                assert content
                assert NUMBER.encode() not in content
                assert BODY.encode() not in content
    finally:
        running.communicate(timeout=SECONDS)
    assert running.returncode == 0
