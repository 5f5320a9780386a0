"""Makes HTML of reports, by templates of ours for whoever has an environment, and by their
sheet."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    PackageLoader,
    PrefixLoader,
    StrictUndefined,
)
from markupsafe import Markup

from gatepost.insight.pictures import cards_of, charts_of
from gatepost.insight.shapes import Reports
from gatepost.insight.waiting import waiting_of
from gatepost.insight.words import figure, milliseconds, share

BODY = "insight/body.html"
_ABOVE, _HIGH = 6.0, 82.0
"""Shares of a chart's height, in hundredths: the room above, for the topmost label, and the
drawing; below it are the labels of the places."""
_LEFT, _WIDE = 13.0, 87.0
"""Shares of its width: the room at the left, for the labels of heights, and the drawing."""


def with_reports(environment: Environment, *others: BaseLoader) -> None:
    """Make our templates known beside those of the environment."""
    ours = PrefixLoader({"insight": PackageLoader("gatepost.insight")})
    environment.loader = ChoiceLoader([*others, ours])
    environment.filters |= {
        "figure": figure,
        "milliseconds": milliseconds,
        "share": share,
        "plot": lambda at: round(_ABOVE + at * _HIGH / 100, 2),
        "across": lambda at: round(_LEFT + at * _WIDE / 100, 2),
    }
    environment.globals |= {"plot_height": _HIGH, "plot_width": _WIDE}


def shown(reports: Reports) -> dict[str, Any]:
    """Return what the body wants to be given, but for `link`."""
    return {
        "reports": reports,
        "cards": cards_of(reports),
        "pictures": charts_of(reports),
        "waiting": waiting_of(reports),
    }


class Whole:
    """The maker of pages that need nothing beside themselves: no server, no script, nothing from
    elsewhere."""

    def __init__(self) -> None:
        environment = Environment(
            autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        with_reports(environment)
        self._template = environment.get_template("insight/page.html")
        sheet = read_sheet() + (files("gatepost.insight") / "page.css").read_text()
        digest = b64encode(sha256(sheet.encode()).digest()).decode()
        self._style = {"style": Markup(sheet), "style_hash": f"sha256-{digest}"}

    def make(
        self, title: str, reports: Reports | None, links: Sequence[tuple[str, str]], made: str
    ) -> str:
        """Return a page. `made` says which run it is of; `links` are names with addresses beside
        the page."""
        content = shown(reports) if reports else {"reports": None}
        given = {"title": title, "links": links, "made": made, "link": None}
        return self._template.render(**given, **content, **self._style)


def read_sheet() -> str:
    return (files("gatepost.insight") / "charts.css").read_text()
