"""The attributes of a field where what was typed into it was refused."""

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup


@pass_context
def told(context: Context, name: str, hint: str = "", *, by: str | None = None) -> Markup:
    """Return attributes of the field `name`: that it was refused, and where it stands why. `hint`
    is the id of what explains the field; `by` is what a problem calls it, if that is another
    name."""
    refused = by or name
    problem = context["problem"]
    errors = problem.get("errors", ()) if problem else ()
    is_refused = any(one["pointer"] == f"/{refused}" for one in errors)
    if is_refused:
        about = f"refused-{refused} {hint}".strip()
        return Markup('aria-invalid="true" aria-describedby="{}"').format(about)
    return Markup('aria-describedby="{}"').format(hint) if hint else Markup("")
