"""What is installed into a root folder: all of it, once; upgraded, taken back, taken away."""

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gatepost.install import plans
from gatepost.install.configuration import ETC, MASTER_KEY, PASSPHRASE
from gatepost.install.machine import Machine
from gatepost.install.placing import BEFORE, CURRENT, version_at
from gatepost.install.services import FIRST, MAIN_SERVER, TARGET, UNITS, WITH_ANALYTICS, enabled
from gatepost.install.shipped import Release
from gatepost.install.steps import Failure, Step, carry_out, show
from tests.unit.install.pretended import Pretended

HOST = "gateway.example.net"
Releases = Callable[[str], Release]


@pytest.fixture
def machine(tmp_path: Path) -> Pretended:
    return Pretended(tmp_path / "root")


def install(machine: Machine, release: Release, *, analytics: bool = False) -> list[str]:
    wanted = plans.Wanted(HOST, analytics)
    return carry_out(plans.install(machine, release, wanted), lambda _: None).changed


def tree(machine: Machine) -> dict[str, tuple[int, bytes]]:
    """All that is there, with modes, content, and where links lead."""
    found = {}
    for one in machine.root.rglob("*"):
        content = str(one.readlink()).encode() if one.is_symlink() else b""
        if one.is_file() and not one.is_symlink() and os.access(one, os.R_OK):
            content = one.read_bytes()
        found[str(one)] = (one.lstat().st_mode, content)
    return found


def test_a_dry_run_shows_every_step_and_changes_nothing(
    machine: Pretended, release: Releases
) -> None:
    before = tree(machine)
    steps = plans.install(machine, release("1.0.0"), plans.Wanted(HOST))
    said: list[str] = []
    assert show(steps, said.append) >= len(steps) - 1
    assert len(said) == len(steps)
    assert tree(machine) == before


def test_again_nothing_is_changed(machine: Pretended, release: Releases) -> None:
    install(machine, release("1.0.0"))
    before = tree(machine)
    machine.commands.clear()
    assert install(machine, release("1.0.0")) == []
    assert tree(machine) == before
    changing = ("venv", "pip", "upgrade", "grant", "issue", "enable", "restart", "tmpfiles")
    assert not [one for one in machine.commands if any(word in one for word in changing)]


def test_it_is_ready_to_be_started(machine: Pretended, release: Releases) -> None:
    install(machine, release("1.0.0"))
    assert enabled(machine) == {TARGET, *FIRST}
    assert version_at(machine, CURRENT) == "1.0.0"
    text = machine.path("/etc/gatepost/main_server/config.yaml").read_text()
    assert f"https://{HOST}:8001" in text
    assert f"http://{HOST}:8002" in text
    assert "gatepost.example" not in text


def test_with_spark_the_nightly_jobs_are_enabled(machine: Pretended, release: Releases) -> None:
    install(machine, release("1.0.0"))
    install(machine, release("1.0.0"), analytics=True)
    assert enabled(machine) == {TARGET, *FIRST, *WITH_ANALYTICS}


def test_nothing_secret_is_in_an_argument_and_nobody_else_reads_it(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    found = [*machine.path("/etc/gatepost").glob("*/credentials/*")]
    files = [file for file in found if not file.is_symlink()]
    assert len(files) == 12
    for file in (*files, machine.path("/etc/app_secrets/aes.key")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o400
    secrets = [file.read_text().strip() for file in files]
    assert len(set(secrets)) == len(secrets)
    assert not [one for one in machine.commands if any(secret in one for secret in secrets)]
    assert not list(machine.path("/run").glob("gatepost-install-*")), "copies are left"


def test_what_the_operator_has_changed_stays(machine: Pretended, release: Releases) -> None:
    install(machine, release("1.0.0"))
    mine = machine.path("/etc/gatepost/proxy/config.yaml")
    beside = machine.path(f"{UNITS}/gatepost-portal.service.d/50-mine.conf")
    mine.write_text("mine: true\n")
    beside.parent.mkdir()
    beside.write_text("[Service]\n")
    carry_out([_disable(machine)], lambda _: None)
    install(machine, release("1.0.1"))
    assert mine.read_text() == "mine: true\n"
    assert beside.exists()
    assert "gatepost-portal.service" not in enabled(machine)


def _disable(machine: Machine) -> Step:
    link = machine.path(f"{UNITS}/{TARGET}.wants/gatepost-portal.service")
    return Step("it is off", lambda: not link.is_symlink(), link.unlink)


def test_a_unit_of_the_release_before_that_this_one_lacks_goes(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    names = machine.path("/opt/gatepost/releases/1.0.0/units.txt")
    names.write_text(names.read_text() + "\ngatepost-former.service")
    machine.path(f"{UNITS}/gatepost-former.service").touch()
    machine.path(f"{UNITS}/gatepost-mine.service").touch()
    install(machine, release("1.0.1"))
    assert not machine.path(f"{UNITS}/gatepost-former.service").exists()
    assert machine.path(f"{UNITS}/gatepost-mine.service").exists(), "it is the operator's"


def test_an_upgrade_that_fails_leaves_the_release_that_runs(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    for broken in ("pip install", "config check", "db upgrade"):
        machine.broken = broken
        with pytest.raises(Failure, match="can't be done"):
            install(machine, release("1.1.0"))
        assert version_at(machine, CURRENT) == "1.0.0"
    machine.broken = None
    install(machine, release("1.1.0"))
    assert (version_at(machine, CURRENT), version_at(machine, BEFORE)) == ("1.1.0", "1.0.0")


def test_a_release_half_made_is_made_anew(machine: Pretended, release: Releases) -> None:
    machine.broken = "pip install"
    with pytest.raises(Failure, match="it is broken"):
        install(machine, release("1.0.0"))
    assert not machine.path("/opt/gatepost/releases/1.0.0").exists()
    left = machine.path("/opt/gatepost/releases/1.0.0/of-one-that-was-killed")
    left.mkdir(parents=True)
    machine.broken = None
    install(machine, release("1.0.0"))
    assert not left.exists()


def test_spark_is_added_to_the_release_that_runs_by_its_own_wheel(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    folder = machine.path("/opt/gatepost/releases/1.0.0")
    kept = {one.name: one.stat().st_ino for one in folder.iterdir() if one.is_dir()}
    own = replace(release("1.0.0"), wheel=next(folder.glob("*.whl")))
    machine.broken = "pip install"
    with pytest.raises(Failure, match="it is broken"):
        install(machine, own, analytics=True)
    assert own.wheel.exists(), "services run on that release"
    machine.broken = None
    install(machine, own, analytics=True)
    assert {one.name: one.stat().st_ino for one in folder.iterdir() if one.is_dir()} == kept
    assert (folder / "made-of").read_text().endswith(" analytics\n")
    machine.commands.clear()
    install(machine, own)
    assert not [one for one in machine.commands if "pip" in one], "nothing is taken out of it"


def test_another_wheel_of_the_same_version_is_refused(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    mark = machine.path("/opt/gatepost/releases/1.0.0/made-of")
    mark.write_text("another server\n")
    with pytest.raises(Failure, match="a version of its own"):
        install(machine, release("1.0.0"))
    assert mark.exists()


def test_there_is_a_way_back_where_the_tables_have_not_changed(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    with pytest.raises(Failure, match="no release before"):
        plans.demand_way_back(machine)
    install(machine, release("1.0.1"))
    assert plans.demand_way_back(machine) == "1.0.0"
    install(machine, release("1.0.0"))
    assert (version_at(machine, CURRENT), version_at(machine, BEFORE)) == ("1.0.0", "1.0.1")
    install(machine, release("1.1.0"))
    with pytest.raises(Failure, match="backup restore"):
        plans.demand_way_back(machine)


def test_the_way_back_from_what_was_broken_off_is_to_the_release_that_ran(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    install(machine, release("1.0.1"))
    for broken in ("pip install", "config check", "db upgrade", "enable"):
        machine.broken = broken
        with pytest.raises(Failure, match="can't be done"):
            install(machine, release("1.0.2" if broken == "enable" else "1.1.0"), analytics=True)
        machine.broken = None
        assert plans.demand_way_back(machine) == "1.0.1", broken
    back(machine, release("1.0.1"))
    assert plans.demand_way_back(machine) == "1.0.0"


def test_a_way_back_that_was_broken_off_goes_on_to_where_it_went(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    install(machine, release("1.0.1"))
    machine.broken = "config check"
    with pytest.raises(Failure, match="can't be done"):
        back(machine, release("1.0.0"))
    assert plans.demand_way_back(machine) == "1.0.0"
    machine.broken = None
    back(machine, release("1.0.0"))
    assert plans.demand_way_back(machine) == "1.0.1"


def back(machine: Machine, release: Release) -> None:
    carry_out(plans.install(machine, release, plans.Wanted(HOST, is_return=True)), lambda _: None)


def test_what_an_upgrade_has_left_standing_is_said(tmp_path: Path, release: Releases) -> None:
    machine = Pretended(tmp_path / "live", live=True)
    install(machine, release("1.0.0"))
    assert plans.what_stands(machine) == ""
    machine.broken = "db upgrade"
    with pytest.raises(Failure, match="can't be done"):
        install(machine, release("1.1.0"))
    assert MAIN_SERVER not in machine.active
    words = plans.what_stands(machine)
    assert f"{MAIN_SERVER} stands still" in words
    assert "Back to 1.0.0, which ran until now: gatepost install --back" in words
    machine.broken = None
    back(machine, release("1.0.0"))
    assert MAIN_SERVER in machine.active
    assert plans.what_stands(machine) == ""


@pytest.mark.parametrize("file", [MASTER_KEY, f"{ETC}/{PASSPHRASE}"])
@pytest.mark.parametrize("what_else_is_gone", ["nothing", "the release"])
def test_what_has_sealed_something_is_not_made_anew(
    machine: Pretended, release: Releases, file: str, what_else_is_gone: str
) -> None:
    install(machine, release("1.0.0"))
    if what_else_is_gone == "the release":
        carry_out(plans.uninstall(machine), lambda _: None)
    place = machine.path(file)
    kept = place.read_bytes()
    place.unlink()
    with pytest.raises(Failure, match="Put the copy back") as failure:
        install(machine, release("1.0.1"))
    assert file in str(failure.value)
    assert not place.exists()
    place.write_bytes(kept)
    install(machine, release("1.0.1"))
    assert place.read_bytes() == kept


def test_what_comes_with_a_release_is_enabled_and_started_once(
    tmp_path: Path, release: Releases
) -> None:
    machine = Pretended(tmp_path / "live", live=True)
    install(machine, release("1.0.0"))
    names = machine.path("/opt/gatepost/releases/1.0.0/units.txt")
    of_later = ("gatepost-backup.timer", "gatepost-certificates@.timer", "gatepost-portal.service")
    lines = names.read_text().splitlines()
    names.write_text("\n".join(line for line in lines if line not in of_later))
    for name in (one for one in FIRST if one.endswith((".timer", "portal.service"))):
        machine.path(f"{UNITS}/{TARGET}.wants/{name}").unlink()
        machine.active.pop(name, None)
    install(machine, release("1.0.1"))
    assert enabled(machine) == {TARGET, *FIRST}
    assert machine.active.keys() >= set(FIRST)
    carry_out([_disable(machine)], lambda _: None)
    install(machine, release("1.0.2"))
    assert "gatepost-portal.service" not in enabled(machine), "it is the operator's choice"


def test_taken_away_it_leaves_data_settings_keys_and_users(
    machine: Pretended, release: Releases
) -> None:
    install(machine, release("1.0.0"))
    kept = {name: one for name, one in tree(machine).items() if _is_kept(machine, name)}
    carry_out(plans.uninstall(machine), lambda _: None)
    left = tree(machine)
    assert kept.items() <= left.items()
    assert not [name for name in left if "/opt/gatepost" in name or f"{UNITS}/gatepost" in name]
    assert enabled(machine) == set()
    assert "gatepost-proxy" in machine.path("/etc/passwd").read_text()
    assert carry_out(plans.uninstall(machine), lambda _: None).changed == []
    changed = install(machine, release("1.0.0"))
    made = ("at random", "a certificate", "whom it trusts")
    assert not [what for what in changed if any(words in what for words in made)]


def _is_kept(machine: Machine, name: str) -> bool:
    kept = ("/etc/gatepost", "/etc/app_secrets", "/var/lib/gatepost", "/etc/mysql")
    return name.startswith(tuple(str(machine.path(one)) for one in kept))


@pytest.mark.parametrize(("to", "stopped"), [("1.0.1", False), ("1.1.0", True)])
def test_services_are_restarted_in_order_the_main_server_first(
    tmp_path: Path, release: Releases, to: str, stopped: bool
) -> None:
    machine = Pretended(tmp_path / "live", live=True)
    install(machine, release("1.0.0"))
    machine.active = dict.fromkeys(machine.active, 1)  # long ago
    machine.commands.clear()
    install(machine, release(to))
    said = [one for one in machine.commands if one.startswith("systemctl") and "gatepost" in one]
    ours = [f"systemctl restart {name}" for name in FIRST if name.endswith(".service")]
    assert [one for one in said if "restart" in one] == ours
    assert (f"systemctl stop {MAIN_SERVER}" in said) == stopped
    if stopped:
        upgrade = next(n for n, one in enumerate(machine.commands) if "db upgrade" in one)
        assert machine.commands.index(f"systemctl stop {MAIN_SERVER}") < upgrade
