"""`gatepost keys`: what it does to a ledger, what it says, and that it never shows a key."""

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from gatepost.cli.main import run
from infra.dev.engines import MariaServer
from main_server.key_file import read_keys
from main_server.keys.alone import alone
from main_server.keys.backup.content import read_backup
from main_server.keys.backup.form import Sealing
from main_server.keys.data_keys import unwrap
from main_server.keys.master import MasterKey
from main_server.keys.reencrypt import begin
from main_server.store.database import transact
from tests.integration.main_server.keys.conftest import LONG_AGO, House, empty

DAY = LONG_AGO.isoformat()


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


class Command:
    """`gatepost keys`, with the configuration of the house."""

    def __init__(self, house: House, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.house = house
        self._url = url
        self._capsys = capsys
        self.configure()

    def configure(self, **keys: object) -> None:
        tree = {
            "database": {"url": self._url, "keys_schema": "gatepost_keys"},
            "keys": {"master_key_file": str(self.house.file), **keys},
        }
        (self.house.folder / "main_server.yaml").write_text(yaml.safe_dump(tree))

    def __call__(self, *arguments: str) -> Said:
        config = ["--config", str(self.house.folder / "main_server.yaml")]
        code = run(["keys", *arguments, *config])
        captured = self._capsys.readouterr()
        self._shows_no_key(captured.out + captured.err)
        return Said(code, captured.out, captured.err)

    def _shows_no_key(self, said: str) -> None:
        secret = [*read_keys(self.house.file), self.house.room.ring.edge_mac_key()]
        secret += [unwrap(self.house.masters(), key) for key in self.house.data_keys()]
        for key in secret:
            for form in (key.hex(), base64.b64encode(key).decode(), repr(key)):
                assert form not in said


@pytest.fixture
def command(house: House, keys_server: MariaServer, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(house, keys_server.url("gatepost_main"), capsys)


def test_list_shows_every_key_by_client_and_day_with_its_messages(
    house: House, command: Command
) -> None:
    house.delivered(2, LONG_AGO)
    house.delivered(1)
    said = command("list")
    assert said.code == 0
    lines = said.out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "master", "number_mac", "edge_mac", "access_token", "totp", "sealing", "data", "data",
    ] or {line.split()[0] for line in lines} >= {"master", "sealing", "data"}  # fmt: skip
    assert f"data        {DAY}  {house.room.client_id}  current  2 messages" in lines
    documents = [json.loads(line) for line in command("list", "--json").out.splitlines()]
    data = [one for one in documents if one["kind"] == "data"]
    assert [(one["day"], one["state"], one["messages"]) for one in data] == [
        (DAY, "current", 2),
        (datetime.now(UTC).date().isoformat(), "current", 1),
    ]
    assert all(isinstance(one["key_id"], str) for one in data), "JavaScript would round it"
    assert {one["kind"] for one in documents} == {
        "master",
        "sealing",
        "number_mac",
        "edge_mac",
        "access_token",
        "totp",
        "data",
    }


def test_list_can_be_asked_of_one_client_or_day(house: House, command: Command) -> None:
    house.delivered(1, LONG_AGO)
    house.delivered(1)
    assert len(command("list", "--client", house.room.client_id).out.splitlines()) == 2
    assert len(command("list", "--day", DAY).out.splitlines()) == 1
    assert command("list", "--client", "nobody").out == ""


def test_list_tells_what_is_unfinished(house: House, command: Command) -> None:
    house.delivered(1, LONG_AGO)
    transact(house.engine, lambda c: begin(c, house.masters(), house.pair(LONG_AGO)))
    command("rotate", "master", "--prepare")
    said = command("list")
    assert "gatepost keys reencrypt goes on" in said.out
    assert "gatepost keys rotate master goes on" in said.out


@pytest.mark.parametrize(
    ("what", "purpose"),
    [
        ("sealing",) * 2,
        ("number-mac", "number_mac"),
        ("access-token", "access_token"),
        ("totp",) * 2,
    ],
)
def test_rotate_makes_another_key_current(
    house: House, command: Command, what: str, purpose: str
) -> None:
    (old,) = house.service_keys(purpose)
    said = command("rotate", what, "--json")
    assert said.code == 0
    new, replaced = house.service_keys(purpose)
    assert said.json == {"rotated": what, "kid": new.kid.hex()}
    assert (replaced.kid, replaced.retired_at is None) == (old.kid, False)


def test_rotate_master_wraps_all_keys_again(house: House, command: Command) -> None:
    sent = house.delivered(2)
    (old,) = read_keys(house.file)
    said = command("rotate", "master", "--json")
    (new,) = read_keys(house.file)
    assert new != old
    assert said.json == {
        "rotated": "master",
        "kid": MasterKey(new).kid.hex(),
        "keys": 6,
        "began": True,
    }
    house.assert_readable(*sent)


def test_rotate_master_can_be_prepared_and_gone_on_with(house: House, command: Command) -> None:
    said = command("rotate", "master", "--prepare")
    assert "Copy it to the other machines" in said.out
    assert len(read_keys(house.file)) == 2
    said = command("rotate", "master")
    assert "begun before" in said.out
    assert len(read_keys(house.file)) == 1
    assert command("rotate", "sealing", "--prepare").code == 2


def test_the_key_of_the_edge_can_not_be_rotated(command: Command) -> None:
    said = command("rotate", "edge-mac")
    assert said.code == 2
    assert "number-mac" in said.err


def test_destroy_only_shows_what_would_go(house: House, command: Command) -> None:
    house.delivered(2, LONG_AGO)
    said = command("destroy", "--client", house.room.client_id, "--day", DAY)
    assert said.code == 0
    assert "2 messages (2 delivered)" in said.out
    assert "--yes" in said.out
    assert house.statuses() == {"delivered": 2}
    assert len(house.data_keys()) == 1
    said = command("destroy", "--client", house.room.client_id, "--day", DAY, "--json")
    assert said.json["destroyed"] is False
    assert said.json["messages"] == {"delivered": 2}


def test_destroy_with_yes_does_it_once(house: House, command: Command) -> None:
    house.delivered(2, LONG_AGO)
    arguments = ("destroy", "--client", house.room.client_id, "--day", DAY)
    said = command(*arguments, "--yes", "--json")
    assert said.code == 0
    assert (said.json["destroyed"], said.json["erased"]) == (True, 2)
    assert "keys.backup_file is not set" in said.err
    assert house.statuses() == {"erased": 2}
    assert house.data_keys() == []
    said = command(*arguments)
    assert "is destroyed: 2 messages, all erased" in said.out
    assert command(*arguments, "--yes").code == 0
    assert "destroyed" in command("list", "--client", house.room.client_id).out
    assert "destroyed" not in command("list").out


def test_destroy_refuses_what_may_still_be_delivered(house: House, command: Command) -> None:
    house.delivered(1)
    today = datetime.now(UTC).date().isoformat()
    for more in ((), ("--yes",)):
        said = command("destroy", "--client", house.room.client_id, "--day", today, *more)
        assert said.code == 3
        assert "can be destroyed from" in said.err
    assert len(house.data_keys()) == 1


def test_destroy_refuses_what_is_on_legal_hold(house: House, command: Command) -> None:
    house.delivered(1, LONG_AGO)
    house.hold(whole=True)
    for more in ((), ("--yes",)):
        said = command("destroy", "--client", house.room.client_id, "--day", DAY, *more)
        assert said.code == 3
        assert f"{house.room.domain} is on legal hold since" in said.err
        assert "gatepost retention lift" in said.err
    assert house.statuses() == {"delivered": 1}


def test_destroy_takes_the_key_from_the_standing_backup(house: House, command: Command) -> None:
    file = house.folder / "keys.backup"
    command.configure(backup_file=str(file))
    house.delivered(1, LONG_AGO)
    command("backup", str(file))
    said = command("destroy", "--client", house.room.client_id, "--day", DAY, "--yes")
    assert said.err == ""
    assert read_backup(Sealing(house.masters()), file).data_keys == []
    empty(house.engine, keys_only=True)
    assert command("restore", str(file), "--json").json["restored"] == 5
    assert house.data_keys() == []


def test_reencrypt_gives_the_day_another_key(house: House, command: Command) -> None:
    sent = house.delivered(3)
    (old,) = house.data_keys()
    today = datetime.now(UTC).date().isoformat()
    said = command("reencrypt", "--client", house.room.client_id, "--day", today, "--json")
    assert said.json["messages"] == 3
    (new,) = house.data_keys()
    assert new.key_id != old.key_id
    house.assert_readable(*sent)


@pytest.mark.parametrize("verb", ["destroy", "reencrypt"])
def test_a_day_without_a_key_is_not_found(command: Command, verb: str) -> None:
    said = command(verb, "--client", "example.com:nobody", "--day", DAY)
    assert said.code == 4
    assert "gatepost keys list" in said.err


def test_backup_and_restore_by_a_passphrase(house: House, command: Command) -> None:
    sent = house.delivered(1)
    passphrase = house.folder / "passphrase"
    passphrase.write_text("a long enough passphrase\n")
    file = house.folder / "keys.backup"
    arguments = (str(file), "--passphrase-file", str(passphrase))
    said = command("backup", *arguments, "--json")
    assert said.json == {"file": str(file), "keys": 6}
    assert "Set keys.backup_file" in said.err
    empty(house.engine, keys_only=True)
    said = command("restore", *arguments)
    assert said.code == 0
    assert said.out.startswith("6 keys restored; 0 were there; 0 were destroyed")
    house.assert_readable(*sent)


def test_there_is_one_backup(house: House, command: Command) -> None:
    command.configure(backup_file=str(house.folder / "keys.backup"))
    said = command("backup", str(house.folder / "another"))
    assert said.code == 2
    assert "keys.backup_file" in said.err
    assert not (house.folder / "another").exists()


def test_restore_tells_what_found_no_room(house: House, command: Command) -> None:
    house.delivered(1)
    file = house.folder / "keys.backup"
    command("backup", str(file))
    empty(house.engine, keys_only=True)
    house.room.ring = house.main_server()
    house.delivered(1)
    transact(house.engine, lambda c: begin(c, house.masters(), house.pair()))
    said = command("restore", str(file))
    assert said.code == 3
    assert "reencrypt" in said.err


def test_what_is_no_backup_is_told(house: House, command: Command) -> None:
    for name, content in (("text", b"hello"), ("empty", b""), ("cut", b"gatepost-keys-1 mas")):
        file = house.folder / name
        file.write_bytes(content)
        said = command("restore", str(file))
        assert said.code == 2
        assert "not a backup" in said.err
    assert command("restore", str(house.folder / "none")).code == 2


def test_one_command_at_a_time(house: House, command: Command) -> None:
    house.delivered(1)
    with alone(house.engine):
        said = command("rotate", "master")
    assert said.code == 3
    assert "Another command" in said.err
    assert command("rotate", "master").code == 0


def test_a_ledger_without_keys_is_told(house: House, command: Command) -> None:
    empty(house.engine)
    assert "no keys yet" in command("list").out
    assert command("backup", str(house.folder / "x")).code == 5


def test_what_is_wrong_with_the_configuration_is_told(
    house: House, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house.file.chmod(0o644)
    assert run(["keys", "list", "--config", str(house.folder / "main_server.yaml")]) == 2
    assert "chmod 400" in capsys.readouterr().err
    house.file.chmod(0o400)
    assert run(["keys", "list", "--config", str(tmp_path / "none.yaml")]) == 2
    assert "can't be read" in capsys.readouterr().err
    assert run(["keys", "list"]) == 2
    assert "--config FILE" in capsys.readouterr().err
    command.configure()
    tree = yaml.safe_load((house.folder / "main_server.yaml").read_text())
    tree["database"]["url"] = "mysql+pymysql://gatepost_main:x@127.0.0.1:1/gatepost"
    (house.folder / "main_server.yaml").write_text(yaml.safe_dump(tree))
    assert run(["keys", "list", "--config", str(house.folder / "main_server.yaml")]) == 5
    said = capsys.readouterr().err
    assert "does not answer" in said
    assert "gatepost_main:x" not in said


@pytest.mark.parametrize("verb", ["list", "rotate", "destroy", "reencrypt", "backup", "restore"])
def test_every_command_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keys", verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert "--config" in said
    assert "--json" in said
