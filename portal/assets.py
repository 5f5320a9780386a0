"""The style sheet, the icon, one script: Bootstrap, from its package, and what we add; served by
ourselves.

Their addresses name what they hold, so that browsers keep them for good. Bootstrap is dark where a
page says so; ours is what the reader's system likes, without a script.
"""

import gzip
import re
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

from gatepost.errors import ConfigurationError
from gatepost.insight.rendering import read_sheet

_PACKAGE, _SHEET = "xstatic-bootstrap", "xstatic/pkg/bootstrap/data/css/bootstrap.min.css"
_DARK = re.compile(r"\[data-bs-theme=dark\]( \.form-select)?\{([^}]*)\}")
_MAP = re.compile(r"/\*# sourceMappingURL=.*?\*/")


@dataclass(frozen=True, slots=True)
class Asset:
    path: str
    media_type: str
    content: bytes
    packed: bytes


class Assets:
    """The files that are served beside pages."""

    def __init__(self) -> None:
        own = files("portal") / "static"
        sheet = with_dark(read_bootstrap()) + (own / "portal.css").read_text() + read_sheet()
        self.style = _asset("portal", "css", "text/css; charset=utf-8", sheet.encode())
        self.icon = _asset("icon", "svg", "image/svg+xml", (own / "icon.svg").read_bytes())
        script = (own / "overview.js").read_bytes()
        self.overview_script = _asset("overview", "js", "text/javascript; charset=utf-8", script)
        every = (self.style, self.icon, self.overview_script)
        self.by_path = {one.path: one for one in every}


def read_bootstrap() -> str:
    sheet = Path(str(distribution(_PACKAGE).locate_file(_SHEET)))
    try:
        return _MAP.sub("", sheet.read_text(encoding="utf-8"))
    except OSError as error:
        words = f"Bootstrap's style sheet can't be read: {sheet}: {error.strerror}"
        raise ConfigurationError(words) from None


def with_dark(sheet: str) -> str:
    """Add Bootstrap's colours for the dark, for those who like it dark."""
    found = _DARK.findall(sheet)
    if not any(not inside and "--bs-body-bg:" in rules for inside, rules in found):
        raise ConfigurationError("This Bootstrap has no dark colours: 5.3 is wanted.")
    dark = "".join(f":root{inside}{{{rules}}}" for inside, rules in found)
    return f"{sheet}\n@media (prefers-color-scheme:dark){{{dark}}}\n"


def _asset(name: str, ending: str, media_type: str, content: bytes) -> Asset:
    digest = sha256(content).hexdigest()[:16]
    packed = gzip.compress(content, mtime=0)
    return Asset(f"/static/{name}.{digest}.{ending}", media_type, content, packed)
