"""`./dev logs`: shows what the services have said, one short line an event; -f goes on as they
speak."""

import sys
import time

from infra.dev.follow import Follower
from infra.dev.lines import colours_wanted, render
from infra.dev.options import stack as options
from infra.dev.paths import VAR
from infra.dev.place import SERVICES, Place

TURN_SECONDS = 0.1


def main() -> None:
    arguments = options.logs().parse_args()
    place = Place(VAR)
    names = [arguments.service] if arguments.service else list(SERVICES)
    files = {name: place.log(name) for name in names}
    if not any(file.exists() for file in files.values()):
        print("Nothing has been said here yet. Start it: ./dev up", file=sys.stderr)
    follower = Follower(files, from_end=False)
    colour = colours_wanted()
    while True:
        for line in follower.new_lines():
            print(render(line.name, line.text, colour))
        sys.stdout.flush()
        if not arguments.follow:
            return
        time.sleep(TURN_SECONDS)


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.stderr.close()  # nothing more to be said
