"""Where the libraries of unpacked packages are looked for."""

from pathlib import Path

from infra.dev.engines.find import libraries_of


def test_what_a_package_keeps_in_a_folder_for_itself_is_found_too(tmp_path: Path) -> None:
    common = tmp_path / "usr" / "lib" / "x86_64-linux-gnu"
    own = common / "pulseaudio"
    for folder, name in ((common, "libpulse.so.0"), (own, "libpulsecommon-16.1.so")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (common / "gtk-3.0").mkdir()
    assert libraries_of(tmp_path) == f"{common}:{own}"
