"""docs/configuration.md says what the settings' classes say."""

from gatepost.cli.configuring import configured, settings_class
from gatepost.cli.reference import write_reference
from gatepost.config.settings import leaves
from infra.dev.paths import ROOT


def test_the_page_is_fresh() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert page == write_reference(), "gatepost config reference > docs/configuration.md"


def test_each_setting_is_described() -> None:
    for name, one in configured().items():
        for setting, info in leaves(settings_class(one)):
            assert info.description, f"{name}: {setting}"


def test_what_must_be_given_and_what_is_as_by_default_can_be_seen() -> None:
    page = write_reference()
    proxy = page[page.index("## proxy") : page.index("## worker")]
    (url,) = (line for line in proxy.splitlines() if "`main_server.url`" in line)
    assert "**to be given**" in url
    assert "`MAIN_SERVER_URL`" in url
    (port,) = (line for line in proxy.splitlines() if "`server.port`" in line)
    assert "| `8001` |" in port
