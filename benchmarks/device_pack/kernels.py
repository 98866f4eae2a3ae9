"""The kernels that are timed: one list, from which packs, sweeps and tables are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import tilec

from .gemm_kernel import Configuration, Gemm, gemm


def _dense(name: str, form: str, out: str, *, n_by_k: bool, tolerance: float) -> Gemm:
    return Gemm(name, f"mma.sync.aligned.{form}", out, n_by_k, tolerance)


_F16, _BF16 = "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.bf16.bf16.f32"
_F16_SUMS, _TF32 = "m16n8k16.row.col.f16.f16.f16.f16", "m16n8k8.row.col.f32.tf32.tf32.f32"
_E4M3, _S8 = "m16n8k32.row.col.f32.e4m3.e4m3.f32", "m16n8k32.row.col.s32.s8.s8.s32"

GEMMS = (
    _dense("f16", _F16, "f16", n_by_k=False, tolerance=2.0**-7),
    _dense("f16-f16", _F16_SUMS, "f16", n_by_k=False, tolerance=2.0**-3),
    _dense("bf16", _BF16, "bf16", n_by_k=False, tolerance=2.0**-5),
    _dense("bf16-nk", _BF16, "bf16", n_by_k=True, tolerance=2.0**-5),
    _dense("tf32", _TF32, "f32", n_by_k=True, tolerance=2.0**-6),
    _dense("e4m3", _E4M3, "bf16", n_by_k=True, tolerance=2.0**-5),
    _dense("s8", _S8, "i32", n_by_k=True, tolerance=0.0),
)
"""Kinds of GEMM, by what they multiply; `-f16` has sums of f16, `-nk` B as N×K."""


@dataclass(frozen=True)
class TimedKernel:
    """A compiled kernel that is to be timed.

    Attributes:
        name: of the kernel among all; also of its file.
        ptx: its text.
        fields: what the run beside the GPU must know, as JSON has it.
    """

    name: str
    ptx: str
    fields: dict[str, Any]


def compiled(kind: Gemm, how: Configuration, target: str) -> TimedKernel:
    """A GEMM."""
    module = tilec.compile(gemm(kind, how), target=target)
    (kernel,) = module.kernels
    name = f"gemm-{kind.name}-{how.name.replace(' ', '-')}"
    fields = {
        **kernel.json(),
        "name": name,
        "kernel": kernel.name,
        "work": "gemm",
        "dtype": kind.name,
        "elements": {"a": kind.element, "b": kind.element, "d": kind.out},
        "n_by_k": kind.n_by_k,
        "tolerance": kind.tolerance,
        "tile": list(how.tile),
        "group": how.group,
        "configuration": how.name,
        "level": 2,
    }
    return TimedKernel(name, module.ptx, fields)


CONFIGURATIONS = (
    Configuration((128, 128, 64), (4, 2), 3),
    Configuration((128, 256, 64), (2, 4), 3),
)
"""What every kind of GEMM is timed with; extents along K are of 16-bit elements."""


def timed_kernels(target: str) -> Iterator[TimedKernel]:
    """All that is timed on a target."""
    for kind in GEMMS:
        for how in CONFIGURATIONS:
            rows, cols, deep = how.tile
            fitted = replace(how, tile=(rows, cols, deep * 2 // kind.bytes))
            yield compiled(kind, fitted, target)
