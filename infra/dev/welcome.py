"""Writes what `./dev up` says when all is ready: where everything listens, and what to do next."""

from pathlib import Path
from shlex import quote
from typing import Any

from infra.dev.first_message import BODY, NUMBER
from infra.dev.paths import ROOT, VENV

TEXT = """
Gatepost is running.

  proxy         {proxy}   send messages here
  portal        {portal}   sign in as {admin}; the password is in {password_file}
  main server   {main_server}   CA certificates: {pki}
  certificate   {cert} (client_001 in example.com)
  key           {key}
  CA            {ca}
  data, logs    {data}

Send a message with curl:

  {curl}

or with the client, until it is delivered:

  echo '{message}' | {gatepost} message send --wait

./dev status tells all of this again, ./dev logs -f shows what the services do, {stop} stops them.
"""
MESSAGE = f'{{"sender_number": "{NUMBER}", "message_body": "{BODY}"}}'
SAMPLE = (
    MESSAGE[:-1]
    + ', "metadata": {"client_id": "client_001", "timestamp": "2025-10-20T12:34:56.789Z"}}'
)


def welcome(status: dict[str, Any], stop: str) -> str:
    names = {
        name: _short(status[name])
        for name in ("proxy", "portal", "main_server", "pki", "ca", "data")
    }
    pair = {name: _short(file) for name, file in status["client"].items()}
    gatepost = _short(str(VENV / "bin" / "gatepost"))
    who = {"admin": status["admin"]["user"]}
    who["password_file"] = _short(status["admin"]["password_file"])
    words = who | {
        "curl": curl_line(status),
        "gatepost": gatepost,
        "message": MESSAGE,
        "stop": stop,
    }
    return TEXT.format(**names, **pair, **words)


def curl_line(status: dict[str, Any]) -> str:
    """Return a curl command to be pasted. Its message comes by stdin: arguments can be seen."""
    cert, key, ca = (_short(f) for f in (*status["client"].values(), status["ca"]))
    options = f"--cacert {ca} --cert {cert} --key {key} -H 'Content-Type: application/json'"
    return f"echo '{SAMPLE}' | curl {options} -d @- {status['proxy']}/api/v1/messages"


def _short(name: str) -> str:
    """Return a file's name as one would type it in the checkout."""
    path = Path(name)
    return quote(str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else name)
