"""The kernels that are timed: one list, from which packs, sweeps and tables are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tilec

from .gemm_kernel import Configuration, Gemm, gemm

_DENSE = "mma.sync.aligned.{}.row.col.{}"

GEMMS = (
    Gemm("f16", _DENSE.format("m16n8k16", "f32.f16.f16.f32"), "f16", n_by_k=False),
    Gemm("f16-f16", _DENSE.format("m16n8k16", "f16.f16.f16.f16"), "f16", n_by_k=False),
    Gemm("bf16", _DENSE.format("m16n8k16", "f32.bf16.bf16.f32"), "bf16", n_by_k=False),
    Gemm("bf16-nk", _DENSE.format("m16n8k16", "f32.bf16.bf16.f32"), "bf16", n_by_k=True),
    Gemm("tf32", _DENSE.format("m16n8k8", "f32.tf32.tf32.f32"), "f32", n_by_k=True),
    Gemm("e4m3", _DENSE.format("m16n8k32", "f32.e4m3.e4m3.f32"), "bf16", n_by_k=True),
    Gemm("s8", _DENSE.format("m16n8k32", "s32.s8.s8.s32"), "i32", n_by_k=True),
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
        "tile": list(how.tile),
        "group": how.group,
        "configuration": how.name,
        "level": 2,
    }
    return TimedKernel(name, module.ptx, fields)
