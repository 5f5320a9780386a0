"""A page of the portal, and how somebody comes to it."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.acceptance.browser.chrome import Visitor
from tests.acceptance.browser.harbour import Harbour

Way = Callable[[Visitor, Harbour], object]


@dataclass(frozen=True)
class Place:
    name: str
    route: str
    """As portal.app declares it."""
    template: str
    who: str | None
    """Whose browser: the harbour's `user`, its `admin`, a `root` of all domains; or nobody's."""
    way: Way
    menu: bool = True
    """Whether the menu says that this is where one is."""


def at(path: str, status: int = 200) -> Way:
    return lambda visitor, harbour: visitor.goto(path.format(h=harbour), status)
