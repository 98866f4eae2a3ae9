"""The kernels and sizes that the shipped table of defaults is for: `make_defaults.py`.

The kernels are the examples'. Sizes are squares from 512 to 16384; the products of Llama 3's layers
(8B: 4096 wide, 14336 inside, 32 heads and 8 of keys; 70B: 8192, 28672, 64 and 8) for 128 and 2048
tokens; and attention of 32 heads of 128 over 1024 to 32768 keys.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import tilec
from tilec.tuning import powers

_EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "kernels"


def _example(name: str) -> Any:
    return runpy.run_path(str(_EXAMPLES / f"{name}.py"))[name]


gemm = tilec.tunable(
    {
        "BM": powers(64, 256),
        "BN": powers(64, 256),
        "BK": (32, 64),
        "warps": (4, 8),
    },
    problem={"m": 4096, "n": 4096, "k": 4096},
    arguments={"a": "f16[m, k]", "b": "f16[k, n]", "c": "f32[m, n]"},
    grid="cdiv(n, BN), cdiv(m, BM)",
    where=["BM * BN <= 32 * warps * 128", "BM * BN >= 32 * warps * 16"],
)(_example("gemm"))

attention = tilec.tunable(
    {"BM": powers(64, 256), "BN": powers(32, 128), "warps": (4, 8)},
    problem={"heads": 32, "queries": 4096, "d": 128},
    arguments={
        **dict.fromkeys("qkvo", "f16[heads, queries, d]"),
        "scale": "f32(1)",
    },
    grid="cdiv(queries, BM), heads",
    where=["BM * d <= 32 * warps * 128", "BM >= 16 * warps"],
)(_example("attention"))

SQUARES = tuple({"m": n, "n": n, "k": n} for n in (512, 1024, 2048, 4096, 8192, 16384))
_LAYERS = {
    "8B": ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)),
    "70B": ((10240, 8192), (8192, 8192), (57344, 8192), (8192, 28672)),
}
"""Columns and depth of a layer's products: QKV, output, gate and up, down."""
LLM = tuple(
    {"m": tokens, "n": n, "k": k}
    for tokens in (128, 2048)
    for layers in _LAYERS.values()
    for n, k in layers
)
ATTENTION = tuple(
    {"heads": 32, "queries": n, "d": 128} for n in (1024, 2048, 4096, 8192, 16384, 32768)
)
PROBLEMS = {"gemm": (*SQUARES, *LLM), "attention": ATTENTION}
TARGETS = ("sm_80", "sm_89", "sm_90a", "sm_100a")
