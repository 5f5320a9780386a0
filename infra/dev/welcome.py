"""What `./dev up` says when all is ready: where everything listens, and what to do next."""

from pathlib import Path
from typing import Any

from infra.dev.first_message import BODY, NUMBER
from infra.dev.paths import ROOT, VENV

TEXT = """
Gatepost is running.

  proxy         {proxy}   send messages here
  main server   {main_server}   certificates and CRL: {pki}
  certificate   {cert} (client_001 in example.com)
  key           {key}
  CA            {ca}
  data, logs    {data}

Send a message:

  {curl}

Or, and see it delivered:  {gatepost} message send --help
Next:  ./dev status   ./dev logs -f   ./dev down
"""


def welcome(status: dict[str, Any]) -> str:
    names = {name: _short(status[name]) for name in ("proxy", "main_server", "pki", "ca", "data")}
    pair = {name: _short(file) for name, file in status["client"].items()}
    gatepost = _short(str(VENV / "bin" / "gatepost"))
    return TEXT.format(**names, **pair, curl=curl_line(status), gatepost=gatepost)


def curl_line(status: dict[str, Any]) -> str:
    """A message sent by curl, to be pasted. It comes by standard input: arguments can be seen."""
    message = (
        f'{{"sender_number": "{NUMBER}", "message_body": "{BODY}",'
        ' "metadata": {"client_id": "client_001", "timestamp": "2025-10-20T12:34:56.789Z"}}'
    )
    cert, key, ca = (_short(f) for f in (*status["client"].values(), status["ca"]))
    options = f"--cacert {ca} --cert {cert} --key {key} -H 'Content-Type: application/json'"
    return f"echo '{message}' | curl {options} -d @- {status['proxy']}/api/v1/messages"


def _short(name: str) -> str:
    """A file's name as one would type it in the checkout."""
    path = Path(name)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else name
