"""Attention in Triton, going over the keys once, with a few configurations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from .timing import Work
from .triton_gemm import fastest

CONFIGURATIONS = ((128, 64, 4, 3), (128, 128, 8, 2))
"""Queries and keys of a tile, warps and stages."""


@triton.jit
def _attention(
    q_ptr, k_ptr, v_ptr, o_ptr, count, scale,
    bq: tl.constexpr, bk: tl.constexpr, size: tl.constexpr, causal: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(1).to(tl.int64) * count * size
    first = tl.program_id(0) * bq
    along, keys = tl.arange(0, size), tl.arange(0, bk)
    queries = first + tl.arange(0, bq)
    place = start + queries[:, None] * size + along[None, :]
    q = tl.load(q_ptr + place)
    k_at = k_ptr + start + along[:, None] + keys[None, :] * size
    v_at = v_ptr + start + keys[:, None] * size + along[None, :]
    largest = tl.full((bq,), float("-inf"), tl.float32)
    total = tl.zeros((bq,), tl.float32)
    result = tl.zeros((bq, size), tl.float32)
    end = min(first + bq, count) if causal else count
    for at in range(0, end, bk):
        s = tl.dot(q, tl.load(k_at)) * scale
        if causal:
            s = tl.where(queries[:, None] >= at + keys[None, :], s, float("-inf"))
        grown = tl.maximum(largest, tl.max(s, 1))
        p = tl.exp2(s - grown[:, None])
        shrink = tl.exp2(largest - grown)
        total = total * shrink + tl.sum(p, 1)
        result = tl.dot(p.to(q.dtype), tl.load(v_at), result * shrink[:, None])
        largest = grown
        k_at += bk * size
        v_at += bk * size
    tl.store(o_ptr + place, (result / total[:, None]).to(q.dtype))


def work(sets: list[Any], fields: Mapping[str, Any]) -> Work:
    """Launches on sets of tensors `q`, `k`, `v`, `o`, by the fastest configuration."""
    heads, count, size = sets[0]["q"].shape
    scale = math.log2(math.e) / math.sqrt(size)

    def launcher(bq: int, bk: int, warps: int, stages: int) -> Work:
        def launch(number: int) -> None:
            tensors = [sets[number][name] for name in "qkvo"]
            _attention[triton.cdiv(count, bq), heads](
                *tensors, count, scale, bq, bk, size, bool(fields["causal"]),
                num_warps=warps, num_stages=stages,
            )  # fmt: skip

        return launch

    return fastest(launcher(*configuration) for configuration in CONFIGURATIONS)
