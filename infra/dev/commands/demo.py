"""`./dev demo`: runs tests/chaos/demo.py."""

import os
import sys

if __name__ == "__main__":
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "tests.chaos.demo", *sys.argv[1:]])
