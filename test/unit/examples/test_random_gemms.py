"""Random GEMMs of level 2, run against numpy.

Each is drawn from what the examples hold fixed: form, tile, warps, operands straight from
global memory or through shared memory with some swizzle, either operand transposed in memory,
bounds or none, copies of one element or of 16 bytes. More: TILEC_RANDOM_GEMMS=1000 pytest …
"""

import os
import random
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.ir.mlir import dialect
from tilec.isa import form as find_form

COUNT = int(os.environ.get("TILEC_RANDOM_GEMMS", "32"))

FORMS = {
    # shape and types: types of inputs and results in memory
    "m16n8k16.row.col.f32.f16.f16.f32": ("f16", "f32"),
    "m16n8k8.row.col.f32.f16.f16.f32": ("f16", "f32"),
    "m16n8k16.row.col.f16.f16.f16.f16": ("f16", "f16"),
    "m16n8k8.row.col.f32.bf16.bf16.f32": ("bf16", "f32"),
    "m16n8k4.row.col.f32.tf32.tf32.f32": ("f32", "f32"),
    "m16n8k8.row.col.f32.tf32.tf32.f32": ("f32", "f32"),
    "m8n8k4.row.col.f64.f64.f64.f64.rn": ("f64", "f64"),
    "m16n8k16.row.col.f64.f64.f64.f64.rn": ("f64", "f64"),
    "m8n8k16.row.col.s32.s8.s8.s32": ("i8", "i32"),
    "m16n8k16.row.col.s32.s8.s8.s32": ("i8", "i32"),
    "m16n8k32.row.col.s32.s8.s8.s32": ("i8", "i32"),
}
NUMPY = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
}
WARPS = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2), (2, 4)]
SWIZZLES = ["none", "32B", "64B", "128B", "swizzle<3,4,4>", "swizzle<2,4,4>", "swizzle<1,5,3>"]


@dataclass(frozen=True)
class Operand:
    """How A or B comes to the warps: its swizzle in shared memory, or None if not through it."""

    transposed: bool
    swizzle: str | None

    @classmethod
    def draw(cls, draw: random.Random) -> "Operand":
        return cls(draw.random() < 0.5, draw.choice(SWIZZLES) if draw.random() < 0.6 else None)

    def turned(self, row: Any, col: Any) -> tuple[Any, Any]:
        return (col, row) if self.transposed else (row, col)


@dataclass(frozen=True)
class Gemm:
    """What is drawn: a CTA's tile and the extents of the matrices."""

    form: str
    warps: tuple[int, int]
    tile: tuple[int, int, int]
    extents: tuple[int, int, int]
    masked: bool
    wide: bool
    a: Operand
    b: Operand

    @classmethod
    def draw(cls, draw: random.Random) -> "Gemm":
        form = f"mma.sync.aligned.{draw.choice(list(FORMS))}"
        a, b = (find_form(form).operand(name) for name in "ab")
        warps = draw.choice(WARPS)
        units = (a.rows * warps[0], b.cols * warps[1], a.cols)
        sizes = tuple(unit * draw.choice([1, 2, 4]) for unit in units)
        m, n, k = (*sizes[:2], sizes[2] * draw.choice([1, 2, 3]))
        masked = draw.random() < 0.5
        if masked:
            m, n, k = (x - draw.randrange(size) for x, size in zip((m, n, k), sizes, strict=True))
        return cls(
            form,
            warps,
            sizes,
            (m, n, k),
            masked,
            draw.random() < 0.5,
            Operand.draw(draw),
            Operand.draw(draw),
        )

    @property
    def elements(self) -> tuple[str, str]:
        return FORMS[self.form.removeprefix("mma.sync.aligned.")]

    @property
    def target(self) -> str:
        return "sm_90a" if "m16n8k16.row.col.f64" in self.form else "sm_80"


def build(gemm: Gemm) -> Any:
    """The kernel, of one CTA."""
    gpu, memref, scf = map(dialect, ("gpu", "memref", "scf"))
    element, result = gemm.elements
    (rows, cols, deep), masked = gemm.tile, gemm.masked
    inputs, outputs = (f"memref<?x?x{e}, strided<[?, 1]>>" for e in (element, result))
    with (
        tile.module("m", target=gemm.target) as module,
        tile.kernel(
            "gemm",
            {"a": inputs, "b": inputs, "c": outputs},
            block=32 * gemm.warps[0] * gemm.warps[1],
        ) as (a, b, c),
    ):
        types = {
            name: tile.operand_tensor(gemm.form, name, *shape, warps=gemm.warps)
            for name, shape in {"a": (rows, deep), "b": (deep, cols), "c": (rows, cols)}.items()
        }
        buffers = {}
        for name, operand, shape in (("a", gemm.a, (rows, deep)), ("b", gemm.b, (deep, cols))):
            if operand.swizzle is not None:
                buffers[name] = tile.alloc_shared(operand.turned(*shape), element, operand.swizzle)

        def fetch(name: str, memory: Any, operand: Operand, at: tuple[Any, Any]) -> None:
            if name in buffers:
                widest = 16 // np.dtype(NUMPY[element]).itemsize if gemm.wide else 1
                vector = min(widest, buffers[name].type.shape[1])
                at = operand.turned(*at)
                tile.async_copy(memory, at, buffers[name], (0, 0), vector=vector, masked=masked)

        def read(name: str, memory: Any, operand: Operand, at: tuple[Any, Any]) -> Any:
            options = {"type": types[name], "transposed": operand.transposed}
            if name in buffers:
                return tile.load(buffers[name], 0, 0, **options)
            return tile.load(memory, *operand.turned(*at), masked=masked, **options)

        depth = memref.dim(a, tile.index(0 if gemm.a.transposed else 1))
        zero = tile.fill(0 if result == "i32" else 0.0, types["c"])
        loop = scf.for_(0, depth, deep, iter_args=[zero])
        for k, total, product in loop:  # noqa: B007 (the result, used behind it)
            fetch("a", a, gemm.a, (0, k))
            fetch("b", b, gemm.b, (k, 0))
            tile.async_commit()
            tile.async_wait(0)
            gpu.barrier()
            x, y = read("a", a, gemm.a, (0, k)), read("b", b, gemm.b, (k, 0))
            following = tile.dot(gemm.form, x, y, total)
            gpu.barrier()
            scf.yield_([following])
        tile.store(product, c, 0, 0, masked=masked)
    return tilec.compile(module)


def in_memory(values: Any, operand: Operand, element: str) -> Any:
    """A matrix as memory has it, rows 16 elements or more apart, other numbers between them."""
    values = values.T if operand.transposed else values
    rows, cols = values.shape
    memory = np.full((rows, -(-cols // 16) * 16 + 16), 99).astype(NUMPY[element])
    memory[:, :cols] = values
    return memory[:, :cols]


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_gemm(run: Any, seed: int) -> None:
    gemm = Gemm.draw(random.Random(seed))
    m, n, k = gemm.extents
    element, result = gemm.elements
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n))
    c = np.full((m, n + 3), 77).astype(NUMPY[result])
    arrays = [in_memory(a, gemm.a, element), in_memory(b, gemm.b, element), c[:, :n]]
    run(build(gemm), "gemm", (1,), arrays, target=gemm.target)
    np.testing.assert_array_equal(c[:, :n], a @ b, err_msg=str(gemm))
    assert (c[:, n:] == 77).all()
