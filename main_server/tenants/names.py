"""The names that domains and clients can have."""

from gatepost.errors import BadIdentity, Invalid
from gatepost.trust.identity import Identity, Role


def check_names(domain: str | None = None, name: str | None = None) -> None:
    """Check names; raise Invalid for what nobody can be called, before the ledger is asked for
    it."""
    try:
        Identity("any" if domain is None else domain, Role.CLIENT, "any" if name is None else name)
    except BadIdentity as error:
        raise Invalid(f"Nobody is called that: {error.detail}.") from None
