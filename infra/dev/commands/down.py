"""`./dev down`: stops everything that `./dev up` has started; the data stays."""

from infra.dev.options import stack as options
from infra.dev.paths import VAR
from infra.dev.place import Place
from infra.dev.stack import stop
from infra.dev.steps import Failure, give_up, step


def main() -> None:
    options.down().parse_args()
    place = Place(VAR)
    if place.supervisor() is None:
        print("Nothing runs here.")
        return
    with step("stopping everything"):
        stop(place)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        give_up(failure)
