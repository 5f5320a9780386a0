"""Make pages out of templates: what a template names must be there, and all that it shows is
text."""

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from gatepost.cli.words import duration
from gatepost.insight.rendering import with_reports
from gatepost.problem import describe
from gatepost.service.requests import context_of
from gatepost.zones import zone_of
from portal import charts, forms, refusals, times
from portal.assets import Assets
from portal.lives import validity_of
from portal.menu import menu_for
from portal.visits import Visit


class Pages:
    def __init__(self, assets: Assets) -> None:
        self.environment = Environment(
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        with_reports(self.environment, PackageLoader("portal"))
        self.environment.filters |= {
            "validity": validity_of,
            "in_zone": times.in_zone,
            "duration": duration,
            "chart_line": charts.line,
            "highest": charts.highest,
        }
        self.environment.globals["told"] = refusals.told
        self._assets = assets

    def make(
        self,
        request: Request,
        template: str,
        visit: Visit | None,
        status: int = 200,
        *,
        error: Exception | None = None,
        **shown: Any,
    ) -> HTMLResponse:
        """Make a page. `visit` is that of the person whose page it is; None where nobody has signed
        in. `error` is why what they asked for was not done: the page says it, and has its
        status."""
        about = context_of(request.scope)
        problem = describe(error, about.request_id) if error else None
        zone = zone_of(visit.claims.time_zone if visit else None)
        with times.seen_from(zone):
            text = self.environment.get_template(template).render(
                style=self._assets.style.path,
                icon=self._assets.icon.path,
                form_token=forms.token_of(request),
                menu=menu_for(visit.claims, request.url.path) if visit else None,
                visit=visit,
                zone=str(zone),
                problem=problem.document if problem else None,
                **shown,
            )
        if problem is None:
            return HTMLResponse(text, status)
        about.fields["problem"] = problem.document["type"]
        told = {name.decode(): value.decode() for name, value in problem.headers}
        return HTMLResponse(text, problem.status, headers=told)

    def part(self, template: str, visit: Visit, **shown: Any) -> str:
        """Render a part of a page that is shown already, as it is now."""
        with times.seen_from(visit.zone):
            return self.environment.get_template(template).render(**shown)
