"""Hypotheses against results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Row = dict[str, Any]

KEPT = 64
"""Results that are kept as they are, at most."""


def answer(
    question: str,
    form: str,
    got: np.ndarray,
    hypotheses: Mapping[str, np.ndarray],
    given: Mapping[str, Any] | None = None,
) -> Row:
    """A row that says which hypotheses agree with every result.

    Args:
        question: in a few words.
        form: the instruction.
        got: bits of results, of any shape.
        hypotheses: what each expects, of the same shape.
        given: what the results came from, to be kept with them.
    """
    agreement = {name: float((want == got).mean()) for name, want in hypotheses.items()}
    right = [name for name, share in agreement.items() if share == 1.0]
    if right:
        verdict = "; or ".join(right)
    else:
        best = max(agreement, key=lambda name: agreement[name])
        verdict = f"none of {len(agreement)}; nearest, {agreement[best]:.1%}: {best}"
    digits = 2 * got.dtype.itemsize
    return {
        "work": "probe",
        "question": question,
        "form": form,
        "verdict": verdict,
        "agreement": agreement,
        "results": [f"{int(bits):0{digits}x}" for bits in got.ravel()[:KEPT]],
        "given": dict(given or {}),
        "says": f"{question} ({form}): {verdict}",
    }
