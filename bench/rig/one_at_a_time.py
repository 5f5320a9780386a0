"""The same code, one message at a time: groups and batches of one, no pacing.

What group commit is worth is the difference to this.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import yaml

import proxy.groups
import proxy.stores
import worker.delivering
from infra.dev.ports import free_port


def main() -> None:
    folder, port, service = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    json.load(sys.stdin)
    settings: dict[str, Any] = yaml.safe_load((folder / "config" / f"{service}.yaml").read_text())
    settings["ops"]["port"] = free_port()
    if service == "proxy":
        settings["server"]["port"] = port
    file = folder / "config" / f"{service}-one.yaml"
    file.write_text(yaml.safe_dump(settings))

    defaults: Any = proxy.groups.Group.__init__.__kwdefaults__
    defaults["limit"] = 1
    proxy.stores.PACE_SECONDS = 0.0
    worker.delivering.BATCH = 1
    worker.delivering.TURN_SECONDS = 0.0
    sys.argv = [service, "--config", str(file)]
    runpy.run_module(service, run_name="__main__")


if __name__ == "__main__":
    main()
