"""The settings of traces: where spans go, and which traces are recorded."""

import ssl
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from gatepost.config.settings import Block
from gatepost.errors import ConfigurationError
from gatepost.safety import private_file_faults
from gatepost.trust.key_exchange import keep_to_curves

_ENDPOINT = r"^https?://(\[[0-9a-fA-F:.]+\]|[^/\s:@\[\]]+)(:[0-9]{1,5})?$"
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class Tracing(Block):
    """Traces, for a collector of OpenTelemetry (OTLP over HTTP). Off until it has an endpoint;
    all services have the same."""

    endpoint: Annotated[str, Field(pattern=_ENDPOINT)] | None = None
    """Of the collector, without a path: spans are posted to its `/v1/traces`."""
    ca_file: Path | None = None
    """PEM: whom the collector's certificate must be of; without it whom this machine trusts."""
    cert_file: Path | None = None
    """PEM: what the collector is shown, where it asks for a certificate."""
    key_file: Path | None = None
    """PEM; its owner's alone."""

    @model_validator(mode="after")
    def _whole(self) -> "Tracing":
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file go together")
        return self

    def context(self) -> ssl.SSLContext:
        """Return the TLS context of calls to the collector; raise ConfigurationError if its files
        can't be used."""
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.cert_file is not None:
                context.load_cert_chain(self.cert_file, self.key_file)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(str(f) for f in (self.ca_file, self.cert_file, self.key_file) if f)
            why = error.strerror or type(error).__name__
            raise ConfigurationError(f"tracing: {files} can't be used: {why}") from None
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        keep_to_curves(context)
        return context

    def check(self) -> None:
        """Check that traces can be sent; raise ConfigurationError if they are on and can't be."""
        if self.endpoint is None:
            return
        if find_spec("opentelemetry") is None or find_spec("opentelemetry.proto") is None:
            raise ConfigurationError(
                "tracing.endpoint is set, and what makes OTLP of spans is not installed: "
                "pip install 'gatepost[server,tracing]'"
            )
        self.context()

    def faults(self) -> list[str]:
        faults = private_file_faults(self.key_file) if self.key_file else []
        parts = urlsplit(self.endpoint or "")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            faults.append("endpoint: over http only to this machine; elsewhere by https")
        return faults


class SampledTracing(Tracing):
    """Traces, for a collector of OpenTelemetry (OTLP over HTTP). Off until it has an endpoint;
    all services have the same. Which traces are recorded is decided here, where messages come in.
    """

    ratio: Annotated[float, Field(ge=0, le=1)] = 0.01
    """So large a part of all traces is recorded, chosen by their ids."""
    follow_clients: bool = True
    """A trace that the client says it records is recorded here as well, whatever the ratio."""
