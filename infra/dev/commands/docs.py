"""`./dev docs`: makes the documents a site, in var/docs. A link that leads nowhere is a failure."""

import subprocess
import sys
from pathlib import Path

from infra.dev.options import checks
from infra.dev.paths import DOCS, ROOT
from infra.dev.steps import Failure, give_up, step
from infra.site.checking import wrong_with_site
from infra.site.generated import write_pages

SETTINGS = ROOT / "infra" / "site"


def build(folder: Path) -> Path:
    """Build the site and return its folder. Warnings are errors, and all of them are told."""
    site = folder / "site"
    options = ["--fail-on-warning", "--fresh-env", "--quiet", "--jobs", "2"]
    places = ["-d", str(folder / "read"), "-c", str(SETTINGS), "-b", "html", str(ROOT), str(site)]
    command = [sys.executable, "-m", "sphinx", *options, *places]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise Failure(f"The documents can't be made a site:\n{done.stderr.strip()}")
    if wrong := wrong_with_site(site):
        raise Failure("\n".join(["The site isn't whole:", *wrong]))
    return site


def main() -> None:
    if checks.docs().parse_args().write:
        print(*(f"{name} is new" for name in write_pages()), sep="\n")
    with step("the documents, as a site"):
        site = build(DOCS)
    print(f"Open {(site / 'index.html').as_uri()}")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        give_up(failure)
