"""Tile sizes and warps that tuning found best, for programs that leave them open.

`table.json` has them by kernel, target and problem size, as `benchmarks/make_defaults.py` wrote
it: the best of the tuner's model. A size that is not in it takes the nearest one's, if none of its
extents is more than twice or less than half as large.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import log2

_FURTHEST = 1.0
"""Doublings that an extent may be away from one of the table."""


@dataclass(frozen=True)
class Default:
    """What the table has for a problem.

    Attributes:
        parameters: of the kernel, by name.
        sizes: the problem that they were found for, by name.
        target: the GPU.
    """

    parameters: Mapping[str, int]
    sizes: Mapping[str, int]
    target: str

    def __str__(self) -> str:
        return f"the table of defaults for {'x'.join(map(str, self.sizes.values()))}, {self.target}"


def default_of(kernel: str, target: str, sizes: Mapping[str, int]) -> Default | None:
    """What the table has for a problem, or for the nearest one; None where none is near.

    Args:
        kernel: `gemm`, of 16-bit elements with sums in f32, or `attention`.
        target: such as `sm_90a`.
        sizes: of the problem, by name.
    """
    near = [
        (distance, number, one)
        for number, one in enumerate(_table().get(kernel, {}).get(target, ()))
        if (distance := _distance(sizes, one.sizes)) is not None
    ]
    return min(near)[2] if near else None


def _distance(sizes: Mapping[str, int], known: Mapping[str, int]) -> float | None:
    """How far a problem is from one of the table, in doublings; None where that is too far."""
    if sizes.keys() != known.keys() or min(sizes.values()) < 1:
        return None
    away = [abs(log2(sizes[name] / known[name])) for name in known]
    return None if max(away) > _FURTHEST else sum(away)


@cache
def _table() -> Mapping[str, Mapping[str, Sequence[Default]]]:
    """The table, by kernel and target."""
    text = resources.files(__name__).joinpath("table.json").read_text(encoding="utf-8")
    return {
        kernel: {
            target: tuple(Default(one["parameters"], one["sizes"], target) for one in rows)
            for target, rows in by_target.items()
        }
        for kernel, by_target in json.loads(text)["kernels"].items()
    }
