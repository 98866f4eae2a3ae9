"""The kernels that are timed: one list, from which packs, sweeps and tables are made."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tilec
from tilec.isa import Target
from tilec.isa import form as find_form
from tilec.isa import target as find_target

from .attention_kernel import Attention, attention
from .examples import EXAMPLES
from .gemm_kernel import Configuration, Gemm, gemm
from .tile_gemm import tile_gemm


def _dense(name: str, form: str, out: str, *, n_by_k: bool, tolerance: float) -> Gemm:
    return Gemm(name, f"mma.sync.aligned.{form}", out, n_by_k, tolerance)


_F16, _BF16 = "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.bf16.bf16.f32"
_F16_SUMS, _TF32 = "m16n8k16.row.col.f16.f16.f16.f16", "m16n8k8.row.col.f32.tf32.tf32.f32"
_E4M3, _S8 = "m16n8k32.row.col.f32.e4m3.e4m3.f32", "m16n8k32.row.col.s32.s8.s8.s32"

_SP = "mma.sp::ordered_metadata.sync.aligned."

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

SPARSE = (
    Gemm("f16-2:4", f"{_SP}m16n8k32.row.col.f32.f16.f16.f32", "f16", False, 2.0**-7),
    Gemm("bf16-2:4", f"{_SP}m16n8k32.row.col.f32.bf16.bf16.f32", "bf16", False, 2.0**-5),
    Gemm("s8-2:4", f"{_SP}m16n8k64.row.col.s32.s8.s8.s32", "i32", True, 0.0),
)
"""The same with two of four elements of A stored; TFLOP/s count all four."""


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


def compiled(
    kind: Gemm, how: Configuration, target: str, *, level: int = 2, work: str = "gemm"
) -> TimedKernel:
    """A GEMM, from tiles with layouts (level 2) or without (level 1), for a section of the run."""
    program = gemm(kind, how) if level == 2 else tile_gemm(kind, how)
    fields = {
        "work": work,
        "dtype": kind.name,
        "elements": {"a": kind.element, "b": kind.element, "d": kind.out},
        "form": kind.form,
        "sparse": kind.sparse,
        "n_by_k": kind.n_by_k,
        "tolerance": kind.tolerance,
        "tile": list(how.tile),
        "group": how.group,
        "configuration": how.name,
        "level": level,
    }
    arguments = "abde" if kind.sparse else "abd"
    name = f"{work}-{kind.name.replace(':', '')}-{how.name.replace(' ', '-')}-l{level}"
    return _timed(name, tilec.compile(program, target=target), arguments, fields)


def compiled_attention(kind: Attention, target: str) -> TimedKernel:
    """Attention, from tiles without layouts."""
    fields = {
        "work": "attention",
        "dtype": kind.name,
        "elements": dict.fromkeys("qkvo", kind.element),
        "causal": kind.causal,
        "dimension": kind.dimension,
        "tolerance": 2.0**-5,
        "tile": [kind.queries, kind.keys],
        "configuration": kind.configuration,
        "level": 1,
    }
    name = f"attention-{kind.name}-{kind.configuration.replace(' ', '-')}"
    program = tilec.compile(attention(kind), target=target)
    return _timed(name, program, (*"qkvo", "scale"), fields)


def compiled_example(dimension: int, causal: bool, keys: int, target: str) -> TimedKernel:
    """`examples/kernels/attention.py`, whose tiles are for two warpgroups, on whole tiles."""
    dtype = f"f16-d{dimension}{'-causal' if causal else ''}"
    fields = {
        "work": "attention",
        "dtype": dtype,
        "elements": dict.fromkeys("qkvo", "f16"),
        "causal": causal,
        "dimension": dimension,
        "tolerance": 2.0**-5,
        "tile": [128, keys],
        "configuration": f"128x{keys} w8 from Python",
        "level": 1,
    }
    source = runpy.run_path(str(EXAMPLES / "kernels" / "attention.py"))["attention"]
    given = [np.zeros((2, 256, dimension), np.float16) for _ in "qkvo"]
    constants = {"CAUSAL": causal, "WHOLE": True, "BM": 128, "BN": keys}
    program = source.using(warps=8).compile(*given, 0.1, target=target, **constants)
    name = f"attention-{dtype}-128x{keys}-w8-python"
    return _timed(name, program, (*"qkvo", "scale"), fields)


def _timed(
    name: str, program: tilec.Compiled, arguments: Sequence[str], fields: dict[str, Any]
) -> TimedKernel:
    """A kernel whose arguments are called by these names, whatever its program calls them."""
    (kernel,) = program.kernels
    described = kernel.json()
    for argument, called in zip(given_by_launch(described["arguments"]), arguments, strict=True):
        argument["name"] = called
    return TimedKernel(
        name, program.ptx, {**described, "kernel": kernel.name, **fields, "name": name}
    )


def given_by_launch(arguments: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The arguments that a launch is given."""
    return [one for one in arguments if one["kind"] not in ("grid", "tensor_map")]


CONFIGURATIONS = {
    2: (Configuration((128, 128, 64), (4, 2), 3), Configuration((128, 256, 64), (2, 4), 4)),
    1: (
        Configuration((128, 128, 64), (4, 2), 3),
        Configuration((128, 256, 64), (8, 1), 3),
        Configuration((256, 128, 64), (8, 1), 3),
    ),
}
"""By level, what every kind of GEMM is timed with; K is that of 16-bit elements."""

PINGPONG = Configuration((64, 256, 64), (4, 1), 4, pingpong=True)
"""What GEMMs with results of 16 bits are timed with on Hopper besides, as CUTLASS's pingpong is."""
IN_TURN = ("f16", "bf16-nk", "e4m3")
"""The kinds that are."""

RESULTS = Path(__file__).resolve().parents[1] / "results"

SWEPT = 20
"""Configurations of a sweep that a pack takes along."""

ATTENTIONS = (
    Attention(64, causal=False),
    Attention(64, causal=True),
    Attention(128, causal=False, warps=8),
    Attention(128, causal=False, queries=64),
    Attention(128, causal=True, warps=8),
    Attention(128, causal=True, queries=64),
)


EXAMPLE_ATTENTIONS = {64: 128, 128: 128, 256: 64}
"""By head size the keys of a tile that `compiled_example` has, causal and not."""


def timed_kernels(name: str) -> Iterator[TimedKernel]:
    """All that is timed on a target of sm_80 or later: what it has, where it fits."""
    target = find_target(name)

    def made(kind: Gemm, level: int, work: str, ways: Sequence[Configuration]) -> Iterator[Any]:
        for how in (fitted(how, kind) for how in ways):
            if not too_large(kind, how, target):
                yield compiled(kind, how, name, level=level, work=work)

    for kind in kinds_of(target):
        for level, ways in CONFIGURATIONS.items():
            yield from made(kind, level, "gemm", ways)
        if name == "sm_90a" and kind.name in IN_TURN:
            yield from made(kind, 1, "gemm", [PINGPONG])
    yield from (compiled_attention(kind, name) for kind in ATTENTIONS)
    for dimension, keys in EXAMPLE_ATTENTIONS.items():
        if name == "sm_90a":
            yield from (compiled_example(dimension, one, keys, name) for one in (False, True))
    for kind in kinds_of(target):
        swept = RESULTS / f"sweep-{name}-{kind.name}.json"
        if swept.exists():
            found = json.loads(swept.read_text(encoding="utf-8"))
            yield from (compiled(kind, how, name, work="sweep") for how in best_of(found))


def kinds_of(target: Target) -> list[Gemm]:
    """The kinds of GEMM whose instruction a target has."""
    return [kind for kind in (*GEMMS, *SPARSE) if find_form(kind.form).min_ptx(target)]


def too_large(kind: Gemm, how: Configuration, target: Target) -> str:
    """Why the buffers of a configuration do not fit; empty if they do."""
    rows, cols, deep = how.tile
    shared = how.stages * (rows + cols) * deep * kind.bytes
    if shared <= target.shared_per_cta:
        return ""
    return f"{shared} bytes of shared memory; {target} has {target.shared_per_cta} a CTA"


def best_of(document: dict[str, Any]) -> list[Configuration]:
    """The configurations of a sweep that are to be timed: the best, the best in other orders."""
    left = [one["configuration"] for one in document["configurations"] if not one["refused"]]
    best = [Configuration.of(name) for name in left[:SWEPT]]
    return best + [replace(best[0], group=group) for group in (1, 4, 16) if best]


def fitted(how: Configuration, kind: Gemm) -> Configuration:
    """A configuration for 16-bit elements as it is for others: with as many bytes along K."""
    rows, cols, deep = how.tile
    return replace(how, tile=(rows, cols, deep * 2 // kind.bytes))
