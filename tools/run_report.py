"""What `tile-run` says of a run: as text, or as data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from tilec import sim
from tilec.runtime import cuda

from .run_reference import Outcome

if TYPE_CHECKING:
    from tilec.tuning.bound import Bound


def as_data(
    report: sim.Report | None,
    estimate: Bound | None,
    outcomes: Sequence[Outcome],
    schedule: sim.Schedule | None = None,
) -> dict[str, object]:
    """A run for JSON; without a report it was on the GPU."""
    document: dict[str, object] = {
        "device": str(cuda.gpu()) if report is None else "sim",
        "report": None if report is None else json.loads(report.to_json()),
        "check": [asdict(outcome) for outcome in outcomes],
    }
    if estimate is not None:
        document["estimate"] = estimate.json()
    if schedule is not None:
        document["schedule"] = schedule.json()
    return document


def as_text(
    report: sim.Report | None,
    estimate: Bound | None,
    outcomes: Sequence[Outcome],
    check: str | None,
    *,
    lines: bool,
    schedule: sim.Schedule | None = None,
) -> str:
    """A run in lines, those of the kernel's own output first.

    Args:
        report: of the simulator; None of the GPU.
        estimate: of the launch, if there is one.
        outcomes: of the check.
        check: what it was.
        lines: whether there are counts for each line of the PTX.
        schedule: of the launch by the timing model, if there is one.
    """
    if report is None:
        said = [f"ran on {cuda.gpu()}"]
    else:
        notes = [one.to_text() for one in (estimate, schedule) if one is not None]
        said = [report.output + report.to_text(lines=lines), *notes]
    return "\n".join([*said, *(f"check {check}: {outcome}" for outcome in outcomes)])
