"""What operators are told to type, by the pages for them and by alerts, typed on the machine.

Begins and ends with all services running.
"""

import re
from datetime import UTC, datetime

from tests.drills.debian.operator import Operator, demand
from tests.typed import read_lines

PASSWORD = "/etc/gatepost/redis/credentials/operator.password"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Reader:
    """What a reader has of their own, by what it is called in the table."""

    def __init__(self, operator: Operator) -> None:
        self._machine = operator.machine
        self._fresh = 0
        self.said = ""
        """Last."""

    def type(self, line: str) -> tuple[int, str]:
        password = self._machine.run("cat", PASSWORD) if "--askpass" in line else None
        done = self._machine.call("sh", "-c", f"cd /root && {line}", text=password)
        return done.returncode, done.stdout + done.stderr

    def meant(self, name: str) -> str:
        self._fresh += 1
        if name == "a client":
            words = ("issue", f"c{self._fresh}.example.com", "--out", f"/root/c{self._fresh}")
            self._machine.run("gatepost", "cert", *words)
        return {
            "a client": f"c{self._fresh}.example.com",
            "a proxy that is lost": "proxy-2",
            "host": "127.0.0.1",
            "today": f"{datetime.now(UTC):%Y-%m-%d}",
            "hold": next(iter(_UUID.findall(self.said)), ""),
            "a new file": f"/root/f{self._fresh}",
            "the backup of the keys": "/var/backups/gatepost/keys/keys.backup",
            "a new folder": f"/root/f{self._fresh}",
            "a new domain": f"d{self._fresh}.example",
            "somebody new ": f"p{self._fresh} ",
            "main_server": "http://127.0.0.1:9000",
            "proxy": "http://127.0.0.1:9001",
        }[name]


def what_is_printed_is_typed(operator: Operator) -> str:
    """In the order of the pages; all that doesn't work is told at once."""
    reader, wrong, typed = Reader(operator), list[str](), 0
    for line in read_lines():
        if line.there is not True:
            continue
        typed += 1
        try:
            reader.said = line.type_with(reader.type, reader.meant)
        except AssertionError as error:
            wrong.append(str(error))
    demand(not wrong, "\n".join(wrong))
    operator.machine.run("systemctl", "restart", "gatepost-proxy@1")  # it drains, and says all
    operator.send()
    return f"{typed} lines"


SCENES = (what_is_printed_is_typed,)
