"""What a message said, as a digest: so that what was sent and what is shown can be compared, and
nobody who reads a history reads a message.

Keyed by a secret of the run's, in its `site.json`: otherwise a short text could be guessed.
"""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256

_AHEAD, _BEHIND = 3, 3


def new_key() -> str:
    return secrets.token_hex(32)


@dataclass(frozen=True)
class Digests:
    key: str

    def of(self, number: str, body: str) -> str:
        """Return the digest of a message as it was sent, or as it is kept."""
        said = b"\0".join(part.encode("utf-8", "surrogatepass") for part in (number, body))
        return hmac.new(bytes.fromhex(self.key), said, sha256).hexdigest()[:32]

    def shown(self, number: str, body: str) -> str:
        """Return the digest of what a person is to be shown of it."""
        return self.of(masked(number), body)


def masked(number: str) -> str:
    """Return a number of eleven digits as people are to see it: said here once more, on purpose."""
    return f"{number[:_AHEAD]}****{number[-_BEHIND:]}"
