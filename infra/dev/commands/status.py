"""`./dev status`: tells what runs and where; with --json, all that a script needs to use it."""

import json
import sys
from typing import Any

from infra.dev.options import stack as options
from infra.dev.paths import VAR
from infra.dev.place import Place


def main() -> None:
    arguments = options.status().parse_args()
    place = Place(VAR)
    status = place.status()
    if status is None:
        starting = place.supervisor() is not None
        print(
            "It is starting." if starting else "Nothing runs here. Start it: ./dev up",
            file=sys.stderr,
        )
        sys.exit(1)
    print(json.dumps(status, indent=2) if arguments.json else describe(status))


def describe(status: dict[str, Any]) -> str:
    rows = [(name, status[name]) for name in ("proxy", "portal", "main_server", "pki")]
    rows += [(name, _without_password(status[name])) for name in ("redis", "database")]
    rows += [(f"metrics of {name}", " ".join(urls)) for name, urls in status["metrics"].items()]
    rows += [("client", status["client"]["cert"]), ("CA", status["ca"]), ("data", status["data"])]
    rows += [(f"processes of {name}", " ".join(map(str, p))) for name, p in status["pids"].items()]
    return "\n".join(f"{name.replace('_', ' '):26} {value}" for name, value in rows)


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    user, _, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}@{place}"


if __name__ == "__main__":
    main()
