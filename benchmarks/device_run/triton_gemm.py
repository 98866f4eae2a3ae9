"""A GEMM in Triton with a few configurations, of which the fastest is timed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import triton
import triton.language as tl

from .timing import Work

CONFIGURATIONS = ((128, 128, 64, 4, 4), (128, 256, 64, 8, 3))
"""Tile (of 16-bit elements along K), warps and stages."""


@triton.jit
def _gemm(
    a_ptr, b_ptr, d_ptr, m, n, k, a_rows, a_cols, b_rows, b_cols,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
    group: tl.constexpr, sum_type: tl.constexpr,
):  # fmt: skip
    number, across, batch = tl.program_id(0), tl.cdiv(n, bn), tl.program_id(1).to(tl.int64)
    first = number // (group * across) * group
    height = min(tl.cdiv(m, bm) - first, group)
    row = (first + number % (group * across) % height) * bm
    col = number % (group * across) // height * bn
    rows, cols, inner = row + tl.arange(0, bm), col + tl.arange(0, bn), tl.arange(0, bk)
    a = a_ptr + batch * m * k + rows[:, None].to(tl.int64) * a_rows + inner[None, :] * a_cols
    b = (
        b_ptr
        + batch * k * n
        + inner[:, None].to(tl.int64) * b_rows
        + cols[None, :].to(tl.int64) * b_cols
    )
    total = tl.zeros((bm, bn), dtype=sum_type)
    for _ in range(0, k, bk):
        total = tl.dot(tl.load(a), tl.load(b), total, out_dtype=sum_type)
        a += bk * a_cols
        b += bk * b_rows
    d = d_ptr + batch * m * n + rows[:, None].to(tl.int64) * n + cols[None, :]
    tl.store(d, total.to(d_ptr.dtype.element_ty))


def work(sets: list[Any], fields: Mapping[str, Any]) -> Work:
    """Launches on sets of tensors `a`, `b`, `d`, by the configuration that is fastest on them."""
    dtype, n_by_k = fields["dtype"], fields["n_by_k"]
    m, k = sets[0]["a"].shape
    n = sets[0]["d"].shape[1]
    width = sets[0]["a"].element_size()
    sum_type = tl.int32 if dtype == "s8" else tl.float16 if dtype == "f16-f16" else tl.float32
    strides = (1, k) if n_by_k else (n, 1)

    def launcher(bm: int, bn: int, bk: int, warps: int, stages: int) -> Work:
        def launch(number: int) -> None:
            a, b, d = (sets[number][name] for name in "abd")
            grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
            _gemm[grid](
                a, b, d, m, n, k, k, 1, *strides, bm, bn, bk * 2 // width, 8, sum_type,
                num_warps=warps, num_stages=stages,
            )  # fmt: skip

        return launch

    return fastest(launcher(*configuration) for configuration in CONFIGURATIONS)


def batched(sets: list[Any], about: Mapping[str, Any]) -> Work:
    """Launches on tensors of three axes, of which A and B may be transposed."""
    a_turned, b_turned = about["turned"]
    batches, m, n = sets[0]["d"].shape
    k = sets[0]["a"].shape[1 if a_turned else 2]
    width = sets[0]["a"].element_size()
    sum_type = tl.int32 if about["elements"]["a"] == "i8" else tl.float32
    strides = (1, m) if a_turned else (k, 1), (1, k) if b_turned else (n, 1)

    def launcher(bm: int, bn: int, bk: int, warps: int, stages: int) -> Work:
        def launch(number: int) -> None:
            a, b, d = (sets[number][name] for name in "abd")
            grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn), batches)
            _gemm[grid](
                a, b, d, m, n, k, *strides[0], *strides[1], bm, bn, bk * 2 // width, 8, sum_type,
                num_warps=warps, num_stages=stages,
            )  # fmt: skip

        return launch

    return fastest(launcher(*configuration) for configuration in CONFIGURATIONS)


def fastest(candidates: Iterable[Work]) -> Work:
    """The work that takes the least time on the first set; one that does not run is left out.

    Raises:
        RuntimeError: if none runs.
    """
    best: tuple[float, Work] | None = None
    for launch in candidates:
        try:
            time = triton.testing.do_bench(
                lambda launch=launch: launch(0), warmup=2, rep=8, return_mode="median"
            )
        except Exception:
            continue
        if best is None or time < best[0]:
            best = time, launch
    if best is None:
        raise RuntimeError("no configuration of Triton's runs")
    return best[1]
