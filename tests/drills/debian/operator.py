"""What somebody types on a machine of a drill, and what they see of it."""

import json
import time

from tests.drills.debian.machine import HOST, Machine

CONFIG = ("--config", "/etc/gatepost/main_server/config.yaml")
PIP = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/packages"}
SERVICES = ("redis", "main-server", "worker@1", "proxy@1", "portal")
MESSAGE = json.dumps({"sender_number": "+1234567890", "message_body": "Hello"})
KNOWN_WITHIN, UNKNOWN = 10.0, 8


class Wrong(Exception):
    """What should not be so."""


class Operator:
    """What somebody types on that machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def install(self, *words: str, version: str | None = None, well: bool = True) -> str:
        """By the wheel of a version, as on an empty machine; else by the command that is there."""
        extra = {"PYTHONPATH": f"/root/gatepost-{version}-py3-none-any.whl"} if version else {}
        command = ("python3", "-m", "gatepost.install") if version else ("gatepost", *words[:1])
        rest = words if version else words[1:]
        done = self.machine.call(*command, *rest, environment={**PIP, **extra})
        said = done.stdout + done.stderr
        demand((done.returncode == 0) == well, f"{' '.join((*command, *rest))}: {said}")
        return said

    def gatepost(self, *words: str, text: str | None = None) -> str:
        return self.machine.run("gatepost", *words, text=text)

    def send(self, port: int = 8001) -> None:
        """Until a proxy knows the certificate, which takes a second or two when it is new."""
        place, deadline = "/root/client/client_001", time.monotonic() + KNOWN_WITHIN
        known = ("--url", f"https://{HOST}:{port}", "--ca", "/root/client/ca.pem")
        ours = ("--cert", f"{place}.pem", "--key", f"{place}.key")
        command = ("gatepost", "message", "send", "--wait", "--json", *known, *ours)
        while (done := self.machine.call(*command, text=MESSAGE)).returncode == UNKNOWN:
            demand(time.monotonic() < deadline, f"the certificate is not known: {done.stderr}")
            time.sleep(0.2)
        states = [json.loads(line).get("status") for line in done.stdout.splitlines()]
        demand(states[-1:] == ["delivered"], f"the message: {done.stdout} {done.stderr}")

    def digest(self, *places: str) -> str:
        """Of what is in all their files, and whose they are."""
        looked = (
            f"find {' '.join(places)} -type f | sort | xargs stat -c '%n %U %G %a' | sha256sum;"
        )
        looked += f"find {' '.join(places)} -type f | sort | xargs sha256sum | sha256sum"
        return self.machine.run("sh", "-c", looked)


def demand(fine: bool, words: str) -> None:
    if not fine:
        raise Wrong(words)
