"""The people that a portal serves (I12): everybody's, or those of the domain of its certificate.

At a portal that is confined to a domain, somebody of another one is nobody.
"""

from gatepost.trust.identity import INFRASTRUCTURE_DOMAIN, Identity


def serves(portal: Identity, domain: str) -> bool:
    return portal.domain in (INFRASTRUCTURE_DOMAIN, domain)
