"""Products in the CuTe DSL, which NVIDIA's toolchain compiles, run unchanged and match numpy."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tilec.sim import Report, TensorMap, launch

ORDERS = [None, 1]
DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "s8": np.int8,
    "f32": np.float32,
    "s32": np.int32,
}
TILE = (128, 128, 64)


def operand(type_: str = "f16", major: str = "row", swizzle: int = 128) -> dict[str, Any]:
    return {"type_": type_, "major": major, "swizzle": swizzle}


def swizzled(array: np.ndarray, lines: int, swizzle: int) -> TensorMap:
    """The map of boxes that are as wide as the swizzle."""
    box = (lines, swizzle // array.itemsize)
    return TensorMap(array, box=box, swizzle=f"{swizzle}B" if swizzle > 16 else "none")


def tensor(matrix: np.ndarray, of: dict[str, Any], rows: int, depth: int) -> list[Any]:
    """What the DSL's launcher passes for an operand: the map, and the extents."""
    stored, lines = (matrix, rows) if of["major"] == "row" else (matrix.T.copy(), depth)
    return [swizzled(stored, lines, of["swizzle"]), np.array(matrix.shape, np.int32).tobytes()]


class Product:
    """A product that the DSL compiled, and matrices for it."""

    def __init__(self, cute: Any, rng: Any, extents: tuple[int, int, int], **request: Any) -> None:
        self.made = cute.compile(**request)
        self.ptx, self.request, self.extents = self.made["ptx"], request, extents
        m, n, k = extents
        numbers = [rng.integers(-3, 4, shape) for shape in ((m, k), (n, k))]
        self.expected = numbers[0] @ numbers[1].T
        self.a, self.b = (
            x.astype(DTYPES[request[of]["type_"]]) for x, of in zip(numbers, "ab", strict=True)
        )
        out = request.get("out", "f32")
        self.c = np.zeros((m, n), DTYPES[out])

    def run(self, order: int | None = None, ptx: str | None = None) -> Report:
        """Launch it: the operands, and C as a map or as a pointer with extents and a pitch."""
        (m, n, _), (tm, tn, tk) = self.extents, self.request["tile"]
        cluster = self.request.get("cluster", 1)
        request = self.request
        # Each CTA of a cluster loads its share of the rows of B, or of its lines along K.
        share = (tn // cluster, tk) if request["b"]["major"] == "row" else (tn, tk // cluster)
        args = [
            b"\0",
            *tensor(self.a, request["a"], tm, tk),
            *tensor(self.b, request["b"], *share),
        ]
        shape = np.array((m, n), np.int32).tobytes()
        if request["kernel"] == "gemm":
            args += [swizzled(self.c, tm, 128), shape]
        else:
            args += [(self.c, np.int32(m), np.int32(n), np.int64(n))]
        return launch(
            self.ptx if ptx is None else ptx,
            self.made["name"],
            (-(-m // tm), -(-n // tn)),
            self.made["threads"],
            args,
            dynamic_smem=self.made["shared"],
            cluster=cluster,
            numerics="fast",  # integers, which are exact either way
            order=order,
        )

    def check(self, order: int | None) -> Report:
        report = self.run(order).require_ok()
        assert np.array_equal(self.c.astype(np.float64), self.expected)
        return report


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("extents", [(256, 128, 192), (200, 136, 72)])
def test_specialised_warps(cute: Any, rng: Any, extents: Any, order: int | None) -> None:
    product = Product(
        cute, rng, extents, kernel="gemm", tile=TILE, stages=3, cluster=1,
        a=operand(), b=operand(), out="f16",
    )  # fmt: skip
    report = product.check(order)
    assert "setmaxnreg" in product.ptx
    m, n, k = (-(-x // tile) for x, tile in zip(extents, TILE, strict=True))
    assert report.copied == m * n * (k * (128 + 128) * 64 * 2 + 128 * 128 * 2)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("major", ["row", "col"])
def test_a_cluster_shares_b(cute: Any, rng: Any, major: str, order: int | None) -> None:
    product = Product(
        cute, rng, (256, 200, 160), kernel="gemm", tile=TILE, stages=3, cluster=2,
        a=operand(), b=operand(major=major), out="f16",
    )  # fmt: skip
    product.check(order)
    assert "multicast::cluster" in product.ptx


@pytest.mark.parametrize("major", ["row", "col"])
@pytest.mark.parametrize("swizzle", [128, 64, 32, 16])
def test_swizzles(cute: Any, rng: Any, major: str, swizzle: int) -> None:
    """The descriptors and boxes of every swizzle and majorness, as the DSL makes them."""
    lies = operand(major=major, swizzle=swizzle)
    product = Product(
        cute, rng, (128, 72, 136), kernel="gemm", tile=TILE, stages=2, cluster=1,
        a=lies, b=lies, out="f32",
    )  # fmt: skip
    product.check(None)
    transposed = int(major == "col")
    assert re.search(rf"p, 1, +1, {transposed}, {transposed};", product.ptx)


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [
        ("bf16", "bf16", "bf16"),
        ("f16", "f16", "f32"),
        ("e4m3", "e4m3", "f32"),
        ("s8", "s8", "s32"),
    ],
)
def test_types(cute: Any, rng: Any, a: str, b: str, out: str) -> None:
    depth = 128 // np.dtype(DTYPES[a]).itemsize
    product = Product(
        cute, rng, (130, 64, depth + 16), kernel="gemm", tile=(128, 64, depth), stages=2,
        cluster=1, a=operand(a), b=operand(b), out=out,
    )  # fmt: skip
    product.check(1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_a_from_registers(cute: Any, rng: Any, type_: str, order: int | None) -> None:
    """Without roles of warps: ldmatrix brings A, whose registers wgmma takes; N = 96."""
    product = Product(
        cute, rng, (100, 200, 200), kernel="plain", tile=(64, 96, 64),
        a=operand(type_), b=operand(type_, "col", 64),
    )  # fmt: skip
    product.check(order)
    assert "ldmatrix" in product.ptx


WAIT = re.compile(r"\t// begin inline asm\n\t{[^}]*try_wait[^}]*}\n\t// end inline asm\n")
FAULTS: dict[str, tuple[str, str, str, str]] = {
    # what: an expression and what replaces it, the kind of the finding, what is in its line
    "proxy fence": (r"fence\.proxy\.async\.shared::cta;", "", "proxy", "2d.global.shared::cta"),
    "wgmma.fence": (r"wgmma\.fence\.sync\.aligned;", "", "wgmma", "wgmma.mma_async"),
    "wgmma.wait_group": (r"wgmma\.wait_group\.sync\.aligned\s+0;", "", "wgmma", "cvt.rn.f16x2"),
    "registers": (r"setmaxnreg\.inc(\S+)\s+232", r"setmaxnreg.inc\1 240",
                  "deadlock", "setmaxnreg.inc"),
    "barrier before the store": (r"bar\.sync\s+1, 256;", "", "race", "2d.global.shared::cta"),
}  # fmt: skip


def without_waits(ptx: str, *numbers: int) -> str:
    """The text without some of its loops around try_wait, which are inline assembly."""
    loops = [match.span() for match in WAIT.finditer(ptx)]
    for number in sorted(numbers, reverse=True):
        start, end = loops[number]
        ptx = ptx[:start] + "\n" * ptx[start:end].count("\n") + ptx[end:]
    return ptx


def specialised(cute: Any, rng: Any, cluster: int = 1) -> Product:
    return Product(
        cute, rng, (256, 128, 320), kernel="gemm", tile=TILE, stages=3, cluster=cluster,
        a=operand(), b=operand(), out="f16",
    )  # fmt: skip


def named(report: Report, ptx: str) -> list[tuple[str, str]]:
    """The kinds of findings and the lines that they name."""
    lines = ptx.splitlines()
    return [(finding.kind, lines[finding.line - 1]) for finding in report.findings]


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(cute: Any, rng: Any, fault: str) -> None:
    product = specialised(cute, rng)
    expression, replacement, kind, part = FAULTS[fault]
    ptx, count = re.subn(expression, replacement, product.ptx)
    assert count == 1
    found = named(product.run(ptx=ptx), ptx)
    assert any(k == kind and part in line for k, line in found), found


def test_a_stage_that_nobody_waits_for(cute: Any, rng: Any) -> None:
    product = specialised(cute, rng)
    ptx = without_waits(product.ptx, 4)
    found = named(product.run(ptx=ptx), ptx)
    assert any(kind == "async" and "wgmma.mma_async" in line for kind, line in found), found


def test_bytes_that_never_come(cute: Any, rng: Any) -> None:
    """Who waits for whom, at which line: warps 0 to 7 multiply, warp 8 loads."""
    product = specialised(cute, rng)
    ptx = product.ptx.replace(" 32768;", " 32784;")
    assert ptx != product.ptx
    (finding,) = product.run(ptx=ptx).findings
    waits = [n for n, line in enumerate(ptx.splitlines(), 1) if "try_wait" in line]
    assert finding.kind == "deadlock"
    assert (
        f"warps 0 to 7 of CTA (0, 0, 0) wait at <ptx>:{waits[-1]} for a phase of parity 0 of the "
        "mbarrier at 0x0, which is in phase 0 with 0 of 1 arrivals and 16 bytes pending"
    ) in finding.message
    assert f"warp 8 of CTA (0, 0, 0) waits at <ptx>:{waits[0]} for" in finding.message


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_peer_that_left(cute: Any, rng: Any, order: int) -> None:
    """A producer that does not wait for its last stages leaves, and its peer arrives there."""
    product = specialised(cute, rng, cluster=2)
    ptx = without_waits(product.ptx, 1, 2, 3)
    found = named(product.run(order, ptx), ptx)
    assert any(
        kind == "cluster" and "mbarrier.arrive.shared::cluster" in line for kind, line in found
    ), found


def test_peers_that_may_not_have_begun(cute: Any, rng: Any) -> None:
    product = specialised(cute, rng, cluster=2)
    ptx, count = re.subn(r"barrier\.cluster\.(arrive\.relaxed|wait);", "", product.ptx)
    assert count == 2
    found = named(product.run(ptx=ptx), ptx)
    assert any(kind == "cluster" and "multicast" in line for kind, line in found), found
