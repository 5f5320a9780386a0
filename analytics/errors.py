"""The errors of a run. Each one's words are for the operator: why, and what to do."""

from gatepost.errors import GatepostError


class AnotherRuns(GatepostError):
    """Another run of the pipeline is under way. `gatepost analytics status` shows it."""


class LockLost(GatepostError):
    """The connection to the ledger was lost, and with it the right to publish. Run it again."""


class CountsDisagree(GatepostError):
    """What the lake has is not what the ledger has, or not what its manifest says of it."""


class LakeUnreadable(GatepostError):
    """A folder of the lake can't be read."""


class PagesUnwritable(GatepostError):
    """The pages of the reports can't be written."""


class ClockDoubted(GatepostError):
    """A clock has jumped: nothing was done."""
