"""Timelines: what was recorded, as JSON, as a page, and at a prompt."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from tilec.isa.wording import counted

from .page import chart, page
from .record import Record


@dataclass(slots=True)
class Timeline(Record):
    """What the warps of one CTA did, in the order in which the simulator ran them.

    Attributes:
        kernel: its name.
        cta: the CTA's place in the grid, x first.
        steps: how many steps there were.
        cut: whether the CTA went on, and was not recorded any further.
        warps: the warps, in order.
        flights: copies and products in flight, by their first step.
    """

    def to_json(self) -> str:
        """Everything, as a JSON object with the names of the attributes."""
        return json.dumps(asdict(self), separators=(",", ":"))

    def to_html(self) -> str:
        """A page that stands alone: a row for each warp, and one for each thing in flight."""
        return page(self)

    def __repr__(self) -> str:
        """One line, for a prompt."""
        return (
            f"<timeline of CTA {self.cta} of kernel {self.kernel}: "
            f"{counted(len(self.warps), 'warp')}, {self.steps:,} "
            f"steps{', cut' if self.cut else ''}>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return chart(self)
