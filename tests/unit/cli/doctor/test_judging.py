"""What is made of what was found."""

import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from gatepost.cli.doctor.look import State
from gatepost.cli.doctor.looks import owners
from gatepost.cli.doctor.looks.certificates import judge_leaf, judge_signers
from gatepost.cli.doctor.looks.machine import judge_disk, judge_disks
from gatepost.cli.doctor.looks.owners import User, find_user, judge, reaches
from gatepost.cli.doctor.looks.programs import (
    judge_core_pattern,
    judge_port,
    judge_readiness,
    judge_unit,
)
from gatepost.cli.doctor.looks.redis import judge_time, judge_version
from gatepost.cli.doctor.site import Part, Site
from gatepost.cli.doctor.systemd import Systemd, units_of
from gatepost.config.settings import ServiceSettings, named
from gatepost.install.shipped import shipped_file
from gatepost.room import existing
from main_server.commands.doctor import ledger
from main_server.commands.doctor.keys import judge_list
from main_server.commands.doctor.nights import judge_age
from main_server.commands.doctor.queue import judge_waiting
from main_server.commands.doctor.redis import judge_memory
from main_server.health.watching.repository import Connections
from main_server.settings import MainServerSettings

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
OK, WARNING, WRONG = State.OK, State.WARNING, State.WRONG


def certificate(days: float, left: float, name: str = "leaf", by: str = "ca") -> x509.Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, one)]) for one in (name, by)]
    end = NOW + timedelta(days=left)
    builder = x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1])
    builder = builder.public_key(key.public_key()).serial_number(7)
    builder = builder.not_valid_before(end - timedelta(days=days)).not_valid_after(end)
    return builder.sign(key, hashes.SHA256())


@pytest.mark.parametrize(
    ("days", "left", "state"),
    [
        (90, 60, OK),
        (90, 29, OK),  # due since yesterday: the timer has tried, and will again
        (90, 22, WARNING),
        (90, 7, WRONG),
        (90, -1, WRONG),
        (3, 0.9, OK),
        (3, 0.6, WARNING),
        (90, 100, WRONG),  # not yet good
    ],
)
def test_a_certificate_is_judged_by_its_own_life(days: float, left: float, state: State) -> None:
    assert judge_leaf(certificate(days, left), NOW).state is state


def test_of_signers_the_one_that_lasts_longest_counts() -> None:
    root = certificate(3650, 2000, "root", "root")
    old, new = certificate(365, -3, "a", "root"), certificate(365, 300, "b", "root")
    assert judge_signers([root, old, new], NOW).state is OK
    assert judge_signers([root, old], NOW).state is WRONG
    assert judge_signers([root, certificate(365, 20, "c", "root")], NOW).state is WARNING
    assert judge_signers([certificate(3650, 5, "root", "root"), new], NOW).state is WRONG


@pytest.mark.parametrize(
    ("used", "state"),
    [
        ({"room": 0.5, "files": 0.1}, OK),
        ({"room": 0.81, "files": 0.1}, WARNING),
        ({"room": 0.96, "files": 0.1}, WRONG),
        ({"room": 0.3, "files": 0.97}, WRONG),
        ({}, OK),
    ],
)
def test_a_disk_is_as_full_as_what_it_has_least_left_of(
    used: dict[str, float], state: State
) -> None:
    found = judge_disk(Path("/var"), used)
    assert found.state is state
    assert ("files" in found.found) is (used.get("files", 0) > 0.9)


def test_each_disk_is_looked_at_once(tmp_path: Path) -> None:
    places = {existing(tmp_path / "not" / "there"), existing(tmp_path), existing(tmp_path.parent)}
    assert len(list(judge_disks(places))) == 1


@pytest.mark.parametrize(
    ("pattern", "state"),
    [
        ("core", OK),
        ("/var/crash/core.%p", OK),
        ("|/usr/lib/systemd/systemd-coredump %P %u", OK),
        ("|/usr/share/apport/apport -p%p", OK),
        ("|/opt/keeper --all", WARNING),
    ],
)
def test_a_kernel_that_hands_dumps_to_a_program(pattern: str, state: State) -> None:
    assert judge_core_pattern(pattern).state is state


@pytest.mark.parametrize(
    ("unit", "state"),
    [
        ({"ActiveState": "active", "UnitFileState": "enabled"}, OK),
        ({"ActiveState": "failed", "UnitFileState": "static", "Result": "exit-code"}, WRONG),
        ({"ActiveState": "inactive", "UnitFileState": "enabled"}, WRONG),
        ({"ActiveState": "inactive", "UnitFileState": "static"}, None),
    ],
)
def test_a_unit(unit: dict[str, str], state: State | None) -> None:
    found = [one.state for one in judge_unit("gatepost-backup.service", unit)]
    assert found == ([state] if state else [])


def test_a_timer_that_is_off() -> None:
    unit = {"ActiveState": "inactive", "UnitFileState": "disabled"}
    (found,) = judge_unit("gatepost-backup.timer", unit)
    assert found.command == "systemctl enable --now gatepost-backup.timer"


def test_what_systemd_says_of_units() -> None:
    said = "Id=a.service\nActiveState=active\nStatusText=x=y\n\nId=b.timer\nActiveState=failed\n"
    assert units_of(said) == {
        "a.service": {"ActiveState": "active", "StatusText": "x=y"},
        "b.timer": {"ActiveState": "failed"},
    }
    assert units_of("") == {}


READY = b'{"ready": true, "checks": {"processes": {"ok": true, "detail": "2 of 2"}%s}}'


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (READY % b"", OK),
        (READY % b', "redis": {"ok": true, "detail": "Redis does not answer"}', WARNING),
        (READY % b', "ledger": {"ok": false, "detail": null}', WRONG),
        (b"<html>", WRONG),
        (b'{"checks": [1]}', WRONG),
        (None, WRONG),
    ],
)
def test_what_a_service_says_of_itself(answer: bytes | None, state: State) -> None:
    assert judge_readiness("proxy", answer, "start it").state is state


def test_a_port_that_somebody_else_holds() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        assert judge_port("proxy", port, set()).state is OK
        sock.listen()
        found = judge_port("proxy", port, {1})
        assert found.state is WRONG
        assert f"{port} is held by" in found.found


@pytest.mark.parametrize(("ms", "state"), [(900, OK), (-2500, WARNING), (400_000, WRONG)])
def test_clocks_apart(ms: float, state: State) -> None:
    assert judge_time("Redis", ms).state is state


@pytest.mark.parametrize(
    ("version", "state"), [("6.2.14", WRONG), ("7.0.15", OK), ("8.1.3", OK), ("10.0.0", OK)]
)
def test_versions_of_redis(version: str, state: State) -> None:
    assert judge_version("redis", version).state is state


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ("10.11.14-MariaDB-0+deb12u2", OK),
        ("10.6.22-MariaDB-log", WRONG),
        ("11.8.3-MariaDB", OK),
        ("8.0.43", OK),
        ("8.4.6-commercial", OK),
        ("5.7.44-log", WRONG),
    ],
)
def test_versions_of_the_database(version: str, state: State) -> None:
    assert ledger.judge_version(version).state is state


@pytest.mark.parametrize(
    ("used", "ours", "state"),
    [((20, 200), 22, OK), ((170, 200), 22, WARNING), ((1, 20), 22, WRONG)],
)
def test_connections(used: tuple[int, int], ours: int, state: State) -> None:
    assert ledger.judge_connections(Connections(*used), ours).state is state


@pytest.mark.parametrize(("ahead", "state"), [(14, OK), (13, OK), (9, WARNING), (-4, WRONG)])
def test_days_for_which_there_are_partitions(ahead: int, state: State) -> None:
    assert ledger.judge_partitions("messages", ahead, "restart").state is state


@pytest.mark.parametrize(
    ("memory", "state"),
    [((10, 100), OK), ((85, 100), WARNING), ((10, 0), WARNING)],
)
def test_memory_of_redis(memory: tuple[int, int], state: State) -> None:
    used, most = memory
    assert judge_memory({"used_memory": used, "maxmemory": most}, "redis-cli").state is state


@pytest.mark.parametrize(("oldest", "state"), [(59_000, OK), (61_000, WARNING)])
def test_a_queue_that_waits_for_workers(oldest: int, state: State) -> None:
    assert judge_waiting("message_queue", 7, oldest, "look").state is state


@pytest.mark.parametrize(("age", "left", "state"), [(1, 23, OK), (5, 19, WARNING), (30, -6, WRONG)])
def test_a_list_of_what_is_revoked(age: int, left: int, state: State) -> None:
    hours = timedelta(hours=age), timedelta(hours=left)
    assert judge_list(Path("revoked.pem"), *hours, "publish").state is state


def test_what_ought_to_be_done_each_night() -> None:
    now, most = datetime.now(UTC), timedelta(hours=26)
    assert judge_age("done", now - timedelta(hours=25), most, "do it").state is OK
    assert judge_age("done", now - timedelta(hours=27), most, "do it").command == "do it"
    assert judge_age("done", None, most, "do it").state is WRONG


def test_what_a_services_user_may_not_read(tmp_path: Path) -> None:
    """Whoever runs the test owns the files; the services' users are others."""
    tls = tmp_path / "tls"
    tls.mkdir(mode=0o700)
    key = tls / "proxy.key"
    key.touch(mode=0o600)
    status = key.stat()
    owner = User("owner", status.st_uid, frozenset({status.st_gid}))
    other = User("other", status.st_uid + 4711, frozenset({status.st_gid + 4711}))
    friend = User("friend", other.uid, owner.gids)
    assert (reaches(owner, key), reaches(other, key), reaches(friend, key)) == (True, False, False)
    assert judge(other, key).command == f"chown -R other: {key}"
    key.chmod(0o640)
    tls.chmod(0o750)
    assert not reaches(other, key)
    # pytest's own folders are for their owner alone: of who gets so far, the file's group reads on.
    assert reaches(friend, key) is all(reaches(friend, one) for one in (tmp_path, tls))
    assert reaches(other, tmp_path / "nothing")
    assert find_user("gatepost-no-such-service") is None


def test_where_there_are_units_what_they_make_is_theirs_to_make(tmp_path: Path) -> None:
    """What an operator types as root would be root's, and in the service's way from then on."""
    command = "gatepost backup create --config FILE"
    site = Site(tmp_path, False, {})
    unit, start = "gatepost-backup.service", "systemctl start gatepost-backup"
    for units, said in (
        ({}, command),
        ({"a.service": {"ActiveState": "active"}}, start),
        ({unit: {"ActiveState": "inactive"}}, start),
        ({unit: {"ActiveState": "failed"}}, f"systemctl reset-failed gatepost-backup && {start}"),
    ):
        systemd = Systemd("systemctl")
        systemd.__dict__["units"] = units
        site.__dict__["systemd"] = systemd
        assert site.at_night("gatepost-backup", command) == said
    assert Site(tmp_path, True, {}).at_night("gatepost-backup", command) == command


@pytest.mark.parametrize("setting", ["ca.crl_file", "keys.backup_file"])
def test_what_a_service_replaces_is_among_what_it_must_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    """The list of what is revoked, and the backup of the keys: made by root once, root's."""
    assert setting in set(named(MainServerSettings, Path))
    monkeypatch.setattr(owners, "named", lambda *_: [setting])
    file = tmp_path / "file"
    file.touch(mode=0o600)
    monkeypatch.setattr(owners, "value_of", lambda *_: file)
    other = User("gatepost-main_server", file.stat().st_uid + 1, frozenset())
    monkeypatch.setattr(owners, "find_user", {"gatepost-main_server": other}.get)
    settings = ServiceSettings.model_construct()
    site = Site(tmp_path, False, {"main_server": Part("main_server", tmp_path, None, settings)})
    assert f"may not read {file}" in "".join(one.found for one in owners.see_owners(site))


def test_a_command_of_nights_runs_as_its_units_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(owners, "find_user", asked.append)
    settings = ServiceSettings.model_construct()
    parts = {name: Part(name, tmp_path, None, settings) for name in ("backup", "retention")}
    assert [*owners.see_owners(Site(tmp_path, False, parts))] == []
    assert set(asked) == {"gatepost-main_server"}


def test_what_is_put_in_place_is_there_to_be_put() -> None:
    """In a release there is no checkout to copy it from."""
    assert shipped_file("my.cnf").is_file()
