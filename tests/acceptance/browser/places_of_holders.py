"""The pages of clients, certificates and tokens, and how somebody comes to them."""

from tests.acceptance.browser.chrome import Visitor
from tests.acceptance.browser.harbour import DOMAIN, Harbour
from tests.acceptance.browser.place import Place, Way, at

GAUGE, CERTIFICATE = f"{DOMAIN}:tide-gauge", "/certificates/{serial}"


def _certificate(more: str = "") -> Way:
    return lambda visitor, harbour: visitor.goto(
        f"/certificates/{harbour.serial('tide-gauge')}{more}"
    )


def _issued(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto("/certificates/new")
    visitor.field("Client").fill("weather-mast")
    visitor.field("How it is given").select_option("shown")
    visitor.button("Issue it").click()
    visitor.says("The key is on this page and nowhere else")


def _not_issued(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto("/certificates/new")
    visitor.field("Client").fill("weather-mast")
    visitor.button("Issue it").click()
    visitor.says("paste it, or choose its file")


def _to_be_revoked(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto(f"/clients/{GAUGE}")
    visitor.button("Revoke all it has…").click()
    visitor.says("Nothing has been changed yet.")


def _token(visitor: Visitor, harbour: Harbour) -> None:
    visitor.goto("/tokens")
    visitor.field("For the client").fill("pilot-office")
    visitor.button("Make one").click()
    visitor.says("It is shown here and now only")


PLACES = [
    Place("clients", "/clients", "clients.html", "admin", at("/clients")),
    Place("clients-root", "/clients", "clients.html", "root", at("/clients")),
    Place("client", "/clients/{client_id}", "client.html", "admin", at(f"/clients/{GAUGE}")),
    Place("kept", "/clients/{client_id}/kept", "kept.html", "admin", at(f"/clients/{GAUGE}/kept")),
    Place(
        "kept-domain",
        "/domains/{domain}/kept",
        "kept.html",
        "root",
        at(f"/domains/{DOMAIN}/kept"),
    ),
    Place("certificates", "/certificates", "certificates.html", "admin", at("/certificates")),
    Place("certificates-root", "/certificates", "certificates.html", "root", at("/certificates")),
    Place(
        "certificates-none",
        "/certificates",
        "certificates.html",
        "admin",
        at("/certificates?state=held"),
    ),
    Place("certificate", CERTIFICATE, "certificate.html", "admin", _certificate()),
    Place("renew", f"{CERTIFICATE}/renew", "renew.html", "admin", _certificate("/renew")),
    Place("issue", "/certificates/new", "issue.html", "root", at("/certificates/new")),
    Place("issue-refused", "/certificates/new", "issue.html", "admin", _not_issued),
    Place("issued", "/certificates/new", "issued.html", "admin", _issued),
    Place("revoke", CERTIFICATE, "revoke.html", "admin", _to_be_revoked),
    Place("tokens", "/tokens", "tokens.html", "admin", at("/tokens")),
    Place("token", "/tokens", "token.html", "admin", _token),
]
