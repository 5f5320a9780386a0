"""docs/doctor.md says what the looks say, and each command that they name exists."""

from gatepost.cli.doctor.reference import page
from gatepost.cli.doctor.registry import all_looks
from infra.dev.paths import ROOT
from tests.unit.docs.names import wrong_with_command


def test_the_page_is_fresh() -> None:
    text = (ROOT / "docs" / "doctor.md").read_text()
    assert text == page(all_looks()), "gatepost doctor --reference > docs/doctor.md"


def test_each_look_says_in_a_line_what_why_and_by_which_command() -> None:
    looks = all_looks()
    assert len({look.name for look in looks}) == len(looks)
    for look in looks:
        assert look.at
        assert look.why
        assert "\n" not in look.at + look.why + look.mend
        assert wrong_with_command(look.mend) is None, look.name


def test_each_unit_that_is_named_is_there() -> None:
    units = {file.name.partition(".")[0] for file in (ROOT / "systemd").iterdir()}
    for look in all_looks():
        if look.mend.startswith("systemctl") and "gatepost-" in look.mend:
            unit = look.mend.split("'")[1 if "'" in look.mend else 0].split(" ")[-1]
            assert unit.replace("*", "") in units, look.name
