"""What is typed wrongly, or can't be done, is refused in words; and where settings are found."""

from pathlib import Path

import pytest

from gatepost.cli.configuration import file_of
from gatepost.cli.doctor.site import find_site
from gatepost.cli.doctor.systemd import Systemd
from gatepost.cli.failure import Failure
from gatepost.cli.main import run

WORKER = """
environment: production
main_server:
  {url: "https://127.0.0.1:1", cert_file: no.pem, key_file: no.key, ca_file: no.pem}
redis: {url: "redis://worker:secret@127.0.0.1:1/0"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "worker").mkdir()
    (tmp_path / "worker" / "config.yaml").write_text(WORKER)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-look"], "There is no look no-such-look."),
        (["--without", "x"], "There is no look x."),
        (["--folder", "/nowhere"], "There is no SERVICE/config.yaml in /nowhere."),
        (["--bundle", "/nowhere/a.tar.gz"], "There is no folder /nowhere."),
    ],
)
def test_nonsense(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err


def test_an_archive_takes_no_files_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there, other = folder / "there.tar.gz", folder / "other.tar.gz"
    there.write_text("mine")
    other.symlink_to(folder / "elsewhere")
    for file in (there, other):
        assert run(["doctor", "settings", "--folder", str(folder), "--bundle", str(file)]) == 2
        assert "is there already" in capsys.readouterr().err
    assert there.read_text() == "mine"
    assert not (folder / "elsewhere").exists()


def test_settings_that_can_not_be_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "settings", "secrets", "--folder", str(folder)]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("wrong       settings  with settings that")
    assert lines[1].strip().startswith("worker: no.pem and no.key can't be used")
    assert lines[2].strip() == "$ gatepost config check"
    assert lines[3].startswith("wrong       secrets")
    assert "its password is from a sample" in lines[4]
    assert "has a password in it, and can be read by others" in lines[6]
    assert lines[7].strip() == f"$ chmod 640 {folder / 'worker' / 'config.yaml'}"
    assert "secret@" not in "".join(lines)
    (folder / "worker" / "config.yaml").write_text("redis: [")
    assert run(["doctor", "settings", "--folder", str(folder)]) == 2
    assert "is not YAML" in capsys.readouterr().out


def test_the_settings_of_a_checkout_are_found_from_below(tmp_path: Path) -> None:
    configuration, below = tmp_path / "var" / "config", tmp_path / "docs" / "deep"
    for place in (configuration, below, tmp_path / "var" / "run"):
        place.mkdir(parents=True)
    with pytest.raises(Failure):
        find_site(tmp_path / "none", below, given=False)
    (configuration / "worker.yaml").write_text(WORKER)
    (tmp_path / "var" / "run" / "supervisor.lock").touch()
    site = find_site(tmp_path / "none", below, given=False)
    assert (site.folder, site.checkout, list(site.parts)) == (configuration, True, ["worker"])
    assert site.start("main_server", again=True) == "./dev down && ./dev up --detach"
    with pytest.raises(Failure):
        find_site(tmp_path / "none", below, given=True)
    assert file_of(configuration, "proxy") == configuration / "proxy" / "config.yaml"


def test_on_a_machine_with_systemd_its_commands_are_named(folder: Path) -> None:
    site = find_site(folder, folder, given=True)
    assert site.start("worker") == "systemctl start gatepost-worker@1"
    assert site.start("proxy@2", again=True) == "systemctl restart gatepost-proxy@2"
    assert site.start("main_server") == "systemctl start gatepost-main-server"


SHOWN = """\
Id=gatepost-proxy@1.service
ActiveState=active
UnitFileState=enabled

Id=gatepost-proxy@3.service
ActiveState=failed
UnitFileState=disabled

Id=gatepost-proxy@2.service
ActiveState=inactive
UnitFileState=disabled

Id=gatepost-portal.service
ActiveState=inactive
UnitFileState=disabled

Id=gatepost-main-server.service
ActiveState=inactive
UnitFileState=enabled
"""


def test_what_is_to_run_here_systemd_knows(tmp_path: Path) -> None:
    """As a real systemctl says it, replayed: there is no systemd where tests run."""
    program = tmp_path / "systemctl"
    program.write_text(
        "#!/bin/sh\n"
        'if [ "$2" = list-unit-files ]; then\n'
        "echo 'gatepost-backup.timer disabled enabled'; echo 'gatepost-proxy@.service disabled -'\n"
        f"else echo \"$@\" > {tmp_path}/asked; cat <<'END'\n{SHOWN}END\nfi\n"
    )
    program.chmod(0o755)
    systemd = Systemd(str(program))
    assert systemd.instances("proxy") == [1, 3]
    asked = (tmp_path / "asked").read_text().split()
    assert asked[1:4] == ["show", "gatepost*", "gatepost-backup.timer"]
    assert "gatepost-proxy@.service" not in asked
    assert systemd.wants("main_server")
    assert not systemd.wants("portal")
    assert not systemd.wants("nothing")
    assert Systemd(str(tmp_path / "none")).units == {}
