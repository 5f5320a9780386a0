"""`./dev lock`: writes locks/ from pyproject.toml, one self-contained file for each environment.

What is pinned stays where it still fits; `--upgrade` or `--upgrade-package NAME` (uv's own options)
choose anew. A lock names packages, versions and hashes: where they come from is each user's own
configuration. The larger environments keep to the versions of the smaller ones. So does npm's, of
what locks/npm/package.json names.

The hashes must be those of all files of a version, whatever the platform. So only the main index is
asked: an extra one may hold a part of them.
"""

from infra.dev.node import find_node, lock_packages
from infra.dev.options import checks
from infra.dev.paths import BOOT, LOCKS, ROOT
from infra.dev.python import tidy_cache, uv_environment
from infra.dev.steps import Failure, give_up, run, step

PROJECT = ["pyproject.toml"]
SERVER = [*PROJECT, "--extra", "server", "--group", "build"]
TRACING = [*SERVER, "--extra", "tracing"]
ANALYTICS = [*SERVER, "--extra", "analytics"]
TEST = [*ANALYTICS, "--extra", "tracing", "--group", "test"]
# What goes into each lock, and the locks whose versions it shares.
ENVIRONMENTS: dict[str, tuple[list[str], list[str]]] = {
    "boot": (["--group", "boot"], []),
    "valkey": (["--group", "valkey"], []),
    "node": (["--group", "node"], []),
    "clients": (["--group", "clients"], []),
    "base": (PROJECT, []),
    "server": (SERVER, ["base"]),
    "tracing": (TRACING, ["server"]),
    "analytics": (ANALYTICS, ["server"]),
    "test": (TEST, ["tracing", "analytics"]),
    "bench": ([*TEST, "--group", "bench"], ["test"]),
}
PARTIAL_SOURCES = ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
OPTIONS = ["--quiet", "--universal", "--python-version", "3.11"]
OPTIONS += ["--generate-hashes", "--no-header", "--no-annotate"]


def main() -> None:
    asked = checks.lock().parse_args()
    anew = ["--upgrade"] if asked.upgrade else []
    anew += [word for name in asked.upgrade_package for word in ("--upgrade-package", name)]
    environment = {k: v for k, v in uv_environment().items() if k not in PARTIAL_SOURCES}
    for name, (sources, smaller) in ENVIRONMENTS.items():
        constraints = [o for one in smaller for o in ("--constraint", str(LOCKS / f"{one}.txt"))]
        command = [str(BOOT / "bin" / "uv"), "pip", "compile", *OPTIONS, *sources, *constraints]
        command += ["--output-file", str(LOCKS / f"{name}.txt"), *anew]
        with step(f"locks/{name}.txt"):
            run(f"choosing versions for {name}", command, environment=environment, folder=ROOT)
    with step("locks/npm"):
        lock_packages(find_node())
    tidy_cache(environment)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        give_up(failure)
