"""Clients behind a load balancer, while commands run: python callers.py PORT… -- COMMAND… -- …

Each port is a proxy's, on this machine, its metrics 1000 further up. As in infra/haproxy.cfg it is
asked for /readyz each half second, is out after two bad answers and in after two good ones. What
can't be connected to is sent to the next one; nothing is sent twice. At the end each message that
was accepted must be delivered. What was seen is printed as JSON.
"""

import json
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from threading import Event, Lock, Thread

import httpx

HOST, PLACE = "gateway.test", "/root/client"
BODY = {"sender_number": "+1234567890", "message_body": "Hello"}
CLIENTS, PAUSE, LOOK, LOOKS = 4, 0.1, 0.5, 2
SOME, WITHIN = 20, 30.0


class Proxy:
    """As the balancer sees it: `said` is what it said, without repetitions."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.up = True
        self.said: list[str] = []
        self._against = 0

    def look(self) -> None:
        words = self._ask()
        self._against = 0 if (words == "ready") == self.up else self._against + 1
        if self._against == LOOKS:
            self.up, self._against = not self.up, 0
        if self.said[-1:] != [words]:
            self.said.append(words)

    def _ask(self) -> str:
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.port + 1000}/readyz", timeout=2.0)
        except httpx.HTTPError:
            return "away"
        if answer.status_code == httpx.codes.OK:
            return "ready"
        drain = answer.json()["checks"].get("drain", {"ok": True})
        return "not ready" if drain["ok"] else str(drain["detail"]).partition(":")[0]


class Callers:
    def __init__(self, ports: list[int]) -> None:
        self.proxies = [Proxy(port) for port in ports]
        self.outcomes: Counter[str] = Counter()
        self.accepted: list[str] = []
        self._lock, self._stop = Lock(), Event()

    @contextmanager
    def calling(self) -> Iterator[None]:
        threads = [Thread(target=self._look, args=[one]) for one in self.proxies]
        threads += [Thread(target=self._send) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def more(self) -> None:
        """Waits until some more were accepted."""
        least, deadline = len(self.accepted) + SOME, time.monotonic() + WITHIN
        while len(self.accepted) < least and time.monotonic() < deadline:
            time.sleep(0.05)

    def undelivered(self) -> list[str]:
        waiting, deadline = list(self.accepted), time.monotonic() + WITHIN
        with caller() as client:
            while waiting and time.monotonic() < deadline:
                waiting = [one for one in waiting if not self._is_delivered(client, one)]
        return waiting

    def _look(self, proxy: Proxy) -> None:
        while not self._stop.wait(LOOK):
            proxy.look()

    def _send(self) -> None:
        with caller() as client:
            while not self._stop.wait(PAUSE):
                outcome = self._post(client)
                with self._lock:
                    self.outcomes[outcome] += 1

    def _post(self, client: httpx.Client) -> str:
        for proxy in [one for one in self.proxies if one.up]:
            try:
                answer = client.post(url(proxy, "/api/v1/messages"), json=BODY)
            except httpx.ConnectError:
                continue
            except httpx.HTTPError as error:
                return f"{proxy.port} {type(error).__name__}"
            if answer.status_code == httpx.codes.ACCEPTED:
                self.accepted.append(answer.json()["message_id"])
            return f"{proxy.port} {answer.status_code}"
        return "nobody"

    def _is_delivered(self, client: httpx.Client, message: str) -> bool:
        proxy = next(one for one in self.proxies if one.up)
        answer = client.get(url(proxy, f"/api/v1/messages/{message}"))
        return answer.is_success and answer.json()["status"] == "delivered"


def url(proxy: Proxy, path: str) -> str:
    return f"https://{HOST}:{proxy.port}{path}"


def caller() -> httpx.Client:
    """Connections are kept, as partners keep them."""
    context = ssl.create_default_context(cafile=f"{PLACE}/ca.pem")
    context.load_cert_chain(f"{PLACE}/client_001.pem", f"{PLACE}/client_001.key")
    return httpx.Client(verify=context, trust_env=False)


def main(arguments: list[str]) -> None:
    ports, *commands = (list(part) for same, part in groupby(arguments, "--".__ne__) if same)
    callers, seconds = Callers([int(port) for port in ports]), []
    with callers.calling():
        callers.more()
        for command in commands:
            begun = time.monotonic()
            subprocess.run(command, check=True)
            seconds.append(time.monotonic() - begun)
            callers.more()
    seen = {
        "seconds": seconds,
        "outcomes": callers.outcomes,
        "said": {one.port: one.said for one in callers.proxies},
        "undelivered": len(callers.undelivered()),
    }
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1:])
