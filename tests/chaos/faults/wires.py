"""Wires that are cut, taken away, frozen, or lose and delay what passes. They need no root."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tests import wire
from tests.chaos.faults.fault import Fault

if TYPE_CHECKING:
    from tests.chaos.site import Site


class CutWire(Fault):
    """All connections of a wire end, in the middle of whatever they carry."""

    name: ClassVar[str] = "wire-cut"

    def begin(self, site: Site) -> None:
        site.wires[self.target].cut()


class RefuseWire(Fault):
    """Nobody seems to listen at the other end."""

    name: ClassVar[str] = "wire-refused"

    def begin(self, site: Site) -> None:
        site.wires[self.target].refuse()

    def end(self, site: Site) -> None:
        site.wires[self.target].accept()


class FreezeWire(Fault):
    """Nothing passes; connections stay, and what was said arrives when it is over."""

    name: ClassVar[str] = "wire-frozen"

    def begin(self, site: Site) -> None:
        site.wires[self.target].freeze()

    def end(self, site: Site) -> None:
        site.wires[self.target].thaw()


@dataclass
class LossyWire(Fault):
    """Now and then a request is lost, or it is carried out and its answer is lost."""

    name: ClassVar[str] = "wire-lossy"
    share: float = 0.1
    seed: int = 0

    def begin(self, site: Site) -> None:
        chance = random.Random(self.seed)
        losses = (wire.Fault.LOSE_REPLY, wire.Fault.LOSE_REPLY, wire.Fault.LOSE_REQUEST)

        def rule(_request: bytes) -> wire.Fault:
            return chance.choice(losses) if chance.random() < self.share else wire.Fault.NONE

        site.wires[self.target].rule = rule

    def end(self, site: Site) -> None:
        site.wires[self.target].heal()


@dataclass
class SlowWire(Fault):
    """Each piece of an answer takes so many seconds more."""

    name: ClassVar[str] = "wire-slow"
    delay: float = 0.3

    def begin(self, site: Site) -> None:
        site.wires[self.target].reply_delay = self.delay

    def end(self, site: Site) -> None:
        site.wires[self.target].reply_delay = 0.0
