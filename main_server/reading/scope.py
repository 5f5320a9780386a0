"""Whose messages a person sees (I12): a user those of their clients, an administrator their
domain's, a super-administrator everybody's. Pure; what is outside is answered as what isn't there.
"""

from main_server.users.viewer import UserRole, Viewer


def may_see(viewer: Viewer, client_id: str, domain: str) -> bool:
    match viewer.role:
        case UserRole.SUPER_ADMIN:
            return True
        case UserRole.ADMIN:
            return domain == viewer.domain
        case _:
            return domain == viewer.domain and client_id in viewer.client_ids
