"""What a kernel in Python asks of the passes about its CTAs and loops, and what becomes of it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl

Matrix = tl.Array[tl.float16, int, int]
Float8 = tl.Array[tl.float8_e4m3fn, int, int]


@tilec.kernel(warps=8, target="sm_90a")
def gemm(
    a: Matrix,
    b: Matrix,
    c: Matrix,
    DEFERRED: tl.Constant[bool | None] = None,  # noqa: N803
) -> None:
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    acc = tl.zeros((128, 128))
    for k in tl.range(0, a.shape[1], 64, defer_wait=DEFERRED):
        acc = tl.dot(tl.load(a, (row, k), (128, 64)), tl.load(b, (k, col), (64, 128)), acc)
    tl.store(c, (row, col), acc.astype(tl.float16))


def _matrices() -> list[Any]:
    return [np.zeros((256, 256), np.float16) for _ in range(3)]


@pytest.mark.parametrize(
    ("settings", "attribute", "cluster", "per_sm"),
    [
        ({}, "", (2, 1, 1), 1),
        ({"cluster": (1, 4, 1)}, "tile.cluster = array<i64: 1, 4, 1>", (4, 1, 1), 1),
        ({"cluster": [1, 1, 1]}, "tile.cluster = array<i64: 1, 1, 1>", None, 1),
        ({"persistent": False}, "tile.persistent = false", None, None),
        ({"rasterize": 2}, "tile.rasterize = 2 : i64", (2, 1, 1), 1),
        ({"rasterize": "hilbert"}, 'tile.rasterize = "hilbert"', (2, 1, 1), 1),
        ({"pingpong": True, "warps": 4}, "tile.pingpong = true", (2, 1, 1), 1),
        ({"schedule": "static"}, 'tile.schedule = "static"', (2, 1, 1), 1),
    ],
)
def test_how_ctas_share_the_grid(
    settings: dict[str, Any], attribute: str, cluster: Any, per_sm: int | None
) -> None:
    """They are the attributes of MLIR, and tell compilations apart."""
    kernel, arrays = gemm.using(**settings), _matrices()
    assert attribute in str(kernel.build(*arrays))
    compiled = kernel.compile(*arrays)
    (found,) = compiled.kernels
    assert (found.cluster, found.ctas_per_sm) == (cluster, per_sm)
    assert found.block == (384, 1, 1)
    plain = gemm.compile(*arrays).ptx
    assert (compiled.ptx == plain) == (settings in ({}, {"schedule": "static"}))


@pytest.mark.parametrize("settings", [{"cluster": (1, 4, 1)}, {"rasterize": "hilbert"}])
def test_results(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    m, n, k = 264, 136, 72
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float16)
    report = gemm.using(**settings)[2, 3](a, b, c)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(c, a.astype(int) @ b.astype(int))


@pytest.mark.parametrize("deferred", [None, True, False])
def test_when_products_are_awaited(deferred: bool | None) -> None:
    ptx = gemm.compile(*_matrices(), DEFERRED=deferred).ptx
    assert ("wgmma.wait_group.sync.aligned 1;" in ptx) == (deferred is not False)


@tilec.kernel(warps=8, target="sm_90a")
def chained(
    q: Matrix,
    k: Matrix,
    o: Matrix,
    OVERLAP: tl.Constant[bool | None] = None,  # noqa: N803
) -> None:
    acc, held = tl.zeros((128, 64)), tl.load(q, (0, 0), (128, 64))
    for at in tl.range(0, k.shape[0], 64, overlap=OVERLAP):
        block = tl.load(k, (at, 0), (64, 64))
        acc = tl.dot(tl.exp2(tl.dot(held, block.T)).astype(tl.float16), block, acc)
    tl.store(o, (0, 0), acc.astype(tl.float16))


def test_whether_products_overlap() -> None:
    arrays = [np.zeros((128, 64), np.float16) for _ in range(3)]
    default, pinned = (chained.compile(*arrays, OVERLAP=one) for one in (None, False))
    said = "begins the first product of a round beside the second"
    assert any(said in str(remark) for remark in default.remarks)
    assert not any(said in str(remark) for remark in pinned.remarks)


@tilec.kernel(warps=8, target="sm_90a")
def summed(
    a: Float8,
    b: Float8,
    c: tl.Array[tl.float32, int, int],
    PROMOTE: tl.Constant[bool | None] = None,  # noqa: N803
) -> None:
    acc = tl.zeros((128, 128))
    for k in range(0, a.shape[1], 128):
        left, right = tl.load(a, (0, k), (128, 128)), tl.load(b, (0, k), (128, 128)).T
        acc = tl.dot(left, right, acc, promote=PROMOTE)
    tl.store(c, (0, 0), acc)


def test_promotion_keeps_small_terms() -> None:
    """One large term and many small ones, as numpy adds them up."""
    k = 512
    a, b = np.ones((128, k)), np.full((128, k), 2.0**-6)
    a[:, 0], b[:, 0] = 256, 256
    wanted, errors = 2.0**16 + (k - 1) * 2.0**-6, []
    for promote in (None, True):
        c = np.zeros((128, 128), np.float32)
        given = [one.astype(ml_dtypes.float8_e4m3fn) for one in (a, b)]
        summed[1](*given, c, PROMOTE=promote)
        errors.append(abs(c - wanted).max())
    assert errors[1] < errors[0] / 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"cluster": (1, 2)},
            r"cluster is \(X, Y, Z\), CTAs along each axis, or None, not \(1, 2\)",
        ),
        ({"cluster": (1, 3, 1)}, "of which one may be 2, 4 or 8 and the others are 1"),
        ({"persistent": 1.5}, "persistent is True, False or None, not 1.5"),
        ({"rasterize": 0}, "rasterize is a number of rows, 'hilbert' or None, not 0"),
        ({"schedule": "late"}, "schedule is 'static', 'dynamic' or None, not 'late'"),
        ({"pingpnog": True}, "nearest legal: pingpong"),
    ],
)
def test_mistakes(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(tilec.TilecError, match=message):
        gemm.using(**settings).compile(*_matrices())


def test_other_targets_share_nothing() -> None:
    """Pins that a target has no use for change nothing there."""
    kernels = gemm.using(target="sm_80"), gemm.using(target="sm_80", cluster=(1, 4, 1))
    plain, pinned = (kernel.compile(*_matrices()).ptx for kernel in kernels)
    assert pinned == plain
