"""Triton's kernels for Hopper run unchanged: wgmma fed by cp.async, and by tensor copies."""

import re
from typing import Any

import numpy as np
import pytest
from tilec.sim import Report, TensorMap, launch

ORDERS = [None, 1]


def described(array: np.ndarray, box: tuple[int, int]) -> list[Any]:
    """What Triton's launcher passes for a tensor descriptor: the map, extents and strides."""
    rows, cols = array.shape
    return [
        TensorMap(array, box=box, swizzle="128B"),
        np.int32(rows), np.int32(cols), np.int64(cols), np.int64(1),
    ]  # fmt: skip


def compiled(triton: Any, kernel: str, signature: list[str], **constexprs: Any) -> dict[str, Any]:
    numbers = [i for i, type_ in enumerate(signature) if type_ in ("*fp16", "i32")]
    made = triton.compile(
        kernel=kernel,
        signature=signature,
        aligned=numbers,
        constexprs=constexprs,
        capability=90,
        options={"num_warps": 8, "num_stages": 3},
    )
    assert "error" not in made, made["error"]
    assert "wgmma.mma_async" in made["ptx"]
    found: dict[str, Any] = made
    return found


def run(
    triton: Any,
    kernel: str,
    grid: tuple[int, int],
    signature: list[str],
    args: list[Any],
    order: int | None,
    **constexprs: Any,
) -> Report:
    made = compiled(triton, kernel, signature, **constexprs)
    return launch(
        made["ptx"], made["name"], grid, made["threads"], args,
        dynamic_smem=made["shared"], numerics="fast", order=order,
    ).require_ok()  # fmt: skip


def factors(rng: np.random.Generator, m: int, n: int, k: int) -> tuple[np.ndarray, ...]:
    """A, the transpose of B, room for C, and C."""
    a = rng.integers(-2, 3, (m, k)).astype(np.float16)
    b = rng.integers(-2, 3, (n, k)).astype(np.float16)
    expected = (a.astype(np.int64) @ b.T.astype(np.int64)).astype(np.float16)
    return a, b, np.zeros((m, n), np.float16), expected


@pytest.mark.parametrize("order", ORDERS)
def test_pointers(triton: Any, rng: Any, order: int | None) -> None:
    a, b, c, expected = factors(rng, 256, 128, 192)
    args = [a, np.ascontiguousarray(b.T), c, 256, 128, 192, 192, 128, 128, None, None]
    run(
        triton, "matmul", (2, 1), ["*fp16"] * 3 + ["i32"] * 6, args, order,
        bm=128, bn=128, bk=64, masked=False, sum_type="tl.float32", precision="ieee",
    )  # fmt: skip
    assert np.array_equal(c, expected)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", [(256, 128, 192), (200, 136, 72)])
def test_maps_of_the_host(
    triton: Any, rng: Any, shape: tuple[int, int, int], order: int | None
) -> None:
    m, n, k = shape
    a, b, c, expected = factors(rng, m, n, k)
    maps = [part for array in (a, b, c) for part in described(array, (128, 64))]
    types = ["tensordesc<fp16[128, 64]>"] * 2 + ["tensordesc<fp16[128, 128]>", "i32"]
    args = [*maps, np.int32(-(-k // 64) * 64), None, None]
    grid = (-(-m // 128), -(-n // 128))
    report = run(
        triton, "matmul_by_tensor_copies", grid, types, args, order, bm=128, bn=128, bk=64
    )  # fmt: skip
    assert np.array_equal(c, expected)
    assert report.copied == grid[0] * grid[1] * (
        -(-k // 64) * 2 * 128 * 64 * 2 + 128 * 128 * 2
    )  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
def test_maps_of_its_own(triton: Any, rng: Any, order: int | None) -> None:
    a, b, c, expected = factors(rng, 256, 128, 192)
    args = [a, b, c, 256, 128, 192, np.zeros(4096, np.uint8), None]
    run(
        triton, "matmul_by_maps_of_its_own", (2, 1), ["*fp16"] * 3 + ["i32"] * 3, args, order,
        bm=128, bn=128, bk=64,
    )  # fmt: skip
    assert np.array_equal(c, expected)


@pytest.mark.parametrize("order", ORDERS)
def test_attention(triton: Any, rng: Any, order: int | None) -> None:
    q, k, v = (rng.standard_normal((256, 64)).astype(np.float16) for _ in range(3))
    o = np.zeros((256, 64), np.float16)
    boxes = ((q, (128, 64)), (k, (64, 64)), (v, (64, 64)), (o, (128, 64)))
    maps = [part for array, box in boxes for part in described(array, box)]
    types = [f"tensordesc<fp16[{rows}, 64]>" for rows in (128, 64, 64, 128)]
    run(
        triton, "attention_by_tensor_copies", (2, 1), [*types, "i32", "fp32"],
        [*maps, np.int32(256), np.float32(0.18), None, None], order, bm=128, bn=64, d=64,
    )  # fmt: skip
    score = q.astype(np.float64) @ k.T.astype(np.float64) * 0.18
    share = np.exp2(score - score.max(axis=1, keepdims=True))
    expected = share / share.sum(axis=1, keepdims=True) @ v.astype(np.float64)
    assert np.abs(o - expected).max() < 2e-3


FAULTS: dict[str, tuple[str, str, str, str]] = {
    # what: an expression and what replaces it, the kind of the finding, what is in its line
    "wait for a stage": (r"@!complete bra.uni waitLoop;", "", "async", "wgmma.mma_async"),
    "bytes that never come": (r"(\[%r\d+\], )32768;", r"\g<1>32784;", "deadlock", "try_wait"),
    "wgmma.fence": (r"wgmma\.fence\.sync\.aligned;", "", "wgmma", "wgmma.mma_async"),
    "wgmma.wait_group": (r"wgmma\.wait_group\S+\s+1;", "", "async", "cp.async.bulk.tensor"),
    "proxy fence": (r"fence\.proxy\.async\S*;", "", "proxy", "2d.global.shared::cta"),
    "wait for the store": (r"cp\.async\.bulk\.wait_group\s+0;", "", "async", "2d.global.shared"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(triton: Any, rng: Any, fault: str) -> None:
    """What is wrong in Triton's PTX is found, at its line."""
    expression, replacement, kind, part = FAULTS[fault]
    types = ["tensordesc<fp16[128, 64]>"] * 2 + ["tensordesc<fp16[128, 128]>", "i32"]
    made = compiled(triton, "matmul_by_tensor_copies", types, bm=128, bn=128, bk=64)
    ptx, count = re.subn(expression, replacement, made["ptx"])
    assert count
    a, b, c, _ = factors(rng, 128, 128, 384)
    maps = [one for array in (a, b, c) for one in described(array, (128, 64))]
    report = launch(
        ptx, made["name"], (1, 1), made["threads"], [*maps, np.int32(384), None, None],
        dynamic_smem=made["shared"], numerics="fast",
    )  # fmt: skip
    lines = ptx.splitlines()
    named = [(f.kind, lines[f.line - 1]) for f in report.findings]
    if kind == "deadlock":
        (place,) = (n for n, line in enumerate(lines, 1) if "try_wait" in line)
        (finding,) = report.findings
        assert finding.kind == kind
        assert f"warps 0 to 7 of CTA (0, 0, 0) wait at <ptx>:{place} (" in finding.message
        assert "kernels.py" in finding.source
        assert "0 of 1 arrivals and 16 bytes pending" in finding.message
    else:
        assert any(k == kind and part in line for k, line in named), report.findings
