"""What verifies upstream and means nothing to tilec is a located error in every pass."""

from __future__ import annotations

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.passes.base import ProgramError, remarks
from tilec.passes.pipeline import run_pipeline
from tilec.passes.registry import PASSES
from tilec.report.diagnostics import Source, place

KERNEL = """gpu.module @m [#nvvm.target<chip = "sm_90a">] {{
  gpu.func @k(%a: {memref}{attributes}, %n: {scalar}) kernel attributes {{
      known_block_size = array<i32: 128, 1, 1>{more}}} {{
    %c0 = arith.constant 0 : index
    {body}
    gpu.return
  }}
}}
"""
MEMREF = "memref<16x16xf16>"
LOAD = '%t = "tile.load"(%a, %c0, %c0) : ({memref}, index, index) -> tensor<4x4x{element}>'
STORE = '"tile.store"(%t, %a, %c0, %c0) : (tensor<4x4x{element}>, {memref}, index, index) -> ()'


def kernel(
    memref: str = MEMREF,
    attributes: str = "",
    scalar: str = "i32",
    more: str = "",
    body: str = "",
) -> str:
    return KERNEL.format(memref=memref, attributes=attributes, scalar=scalar, more=more, body=body)


def copied(memref: str, element: str) -> str:
    body = f"{LOAD}\n    {STORE}".format(memref=memref, element=element)
    return kernel(memref, body=body)


NO_STRIDES = {
    "divided": "memref<16x16xf16, affine_map<(i, j) -> (i floordiv 2, j)>>",
    "remainder": "memref<16x16xf16, affine_map<(i, j) -> (i mod 2, j)>>",
    "several results": "memref<16x16xf16, affine_map<(i, j) -> (i, j, i)>>",
    "divided, dynamic": "memref<?x?xf16, affine_map<(i, j)[s] -> (i floordiv s, j)>>",
}
ELEMENTS = ("i128", "i256", "f80", "f128", "i7", "index", "complex<f32>", "vector<4xf32>", "i0")
_VALUES = """
    "x" | -1 | 0 | 1.5 | [1] | array<i64> | array<i64: -1, 0> | array<i32: 1, 1> | unit | i32
    {a = 1} | @k | affine_map<(i) -> (i)> | 170141183460469231731687303715884105727 : i128 | true
    dense<1> : tensor<2xi64> | array<i64: 9223372036854775807, 9223372036854775807> | "[{}]" | "[1]"
"""
VALUES = tuple(v.strip() for line in _VALUES.splitlines() for v in line.split("|") if v.strip())
ATTRIBUTES = ("tile.aligned", "tile.sizes", "tile.strides", "llvm.noalias")
OF_FUNCTIONS = (
    "tile.rasterize", "tile.automatic", "tile.abi", "tile.dynamic_shared", "tile.grid",
    "tile.written", "tile.tensor_maps", "nvvm.maxnreg", "known_grid_size", "gpu.known_grid_size",
)  # fmt: skip

PROGRAMS = {
    **{f"map, {name}": copied(memref, "f16") for name, memref in NO_STRIDES.items()},
    **{f"elements {e}": copied(f"memref<16x16x{e}>", e) for e in ELEMENTS},
    **{f"argument {e}": kernel(scalar=e) for e in (*ELEMENTS, "tensor<4xf32>", "none", "tuple<>")},
    **{f"unused memref of {e}": kernel(f"memref<16x16x{e}>") for e in ELEMENTS},
    **{f"{n} = {v}": kernel(attributes=f" {{{n} = {v}}}") for n in ATTRIBUTES for v in VALUES},
    **{f"{n} = {v}": kernel(more=f", {n} = {v}") for n in OF_FUNCTIONS for v in VALUES},
    "memory space": kernel("memref<16x16xf16, 7>"),
    "memory space, text": kernel('memref<16x16xf16, "x">'),
    "memory space, negative": kernel("memref<16x16xf16, -1>"),
    "huge": kernel("memref<9223372036854775807x9223372036854775807xf32>"),
    "huge tile": copied("memref<?x?xf16>", "f16").replace("4x4x", "1099511627776x1048576x"),
    "rank 0": kernel("memref<f16>"),
    "unranked": kernel("memref<*xf16>"),
    "negative stride": kernel("memref<16x16xf16, strided<[-16, 1]>>"),
    "huge stride": kernel("memref<16x16xf16, strided<[9223372036854775807, 1]>>"),
}


@pytest.mark.parametrize("pass_", [*PASSES, ",".join(PASSES)])
def test_no_pass_fails_otherwise(pass_: str) -> None:
    """Each pass takes a program, or says at its place what is wrong with it."""
    context = new_context()
    assert [f"{n}: {w}" for n, p in PROGRAMS.items() if (w := wrong(p, pass_, context))] == []


def wrong(program: str, pass_: str, context: ir.Context) -> str | None:
    """How a pass fails on a program otherwise than it may."""
    try:
        module = parse(Source("program", program), context)
        with remarks():
            run_pipeline(module, pass_)
    except ProgramError as error:
        if not all(place(d.location) for d in error.diagnostics):
            return f"without a place: {error}"
    except TilecError as error:
        return f"not of the program: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("name", NO_STRIDES)
def test_map_without_strides_is_named(name: str) -> None:
    module = parse(Source("program", kernel(NO_STRIDES[name])), new_context())
    with pytest.raises(ProgramError, match=r"cannot take memref.*list of strides"):
        run_pipeline(module, "tile-order-memory,tile-kernel-abi")


def test_wide_elements_are_named() -> None:
    with pytest.raises(ProgramError, match="elements have at most 64 bits, unlike i128"):
        parse(Source("program", copied("memref<16x16xi128>", "i128")), new_context())
