"""`tile.wgmma` from MLIR to PTX: what ptxas says of it, and what the simulator computes.

The matrices are compared with numpy's product. What ptxas would repair or serialise it notes in
`ptxas info` lines with a number (C7504 to C7520, C7602); there must be none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.isa import target

HOPPER = target("sm_90a")
NOTES = re.compile(r"C7[56]\d\d|wgmma|[Pp]otential|setmaxnreg")


@dataclass(frozen=True)
class Case:
    """A product of one instruction along K, or of several.

    Attributes:
        form: the mnemonic without where A lies.
        n: columns.
        element: of A and B in MLIR; `sort` numpy's.
        d: of D in MLIR.
        k: along K of an instruction.
        steps: how many along K.
        swizzle: of both in shared memory.
        trans: whether A and B lie contiguous along M and N.
    """

    form: str
    n: int
    element: str
    sort: Any
    d: str
    k: int
    steps: int
    swizzle: str = "128B"
    trans: bool = False

    def __str__(self) -> str:
        return f"{self.form}-{self.swizzle}{'-trans' if self.trans else ''}"


def _case(n: int, types: str, element: str, sort: Any, k: int, **more: Any) -> Case:
    d = {"f32": "f32", "f16": "f16", "s32": "i32"}[types.split(".", maxsplit=1)[0]]
    form = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types}"
    return Case(form, n, element, sort, d, k, more.pop("steps", 2), **more)


CASES = [
    _case(128, "f32.f16.f16", "f16", np.float16, 16, steps=4),
    _case(96, "f32.f16.f16", "f16", np.float16, 16, steps=4),
    _case(64, "f16.f16.f16", "f16", np.float16, 16, steps=2, swizzle="64B"),
    _case(8, "f32.bf16.bf16", "bf16", ml_dtypes.bfloat16, 16, steps=1, swizzle="32B"),
    _case(128, "f32.bf16.bf16", "bf16", ml_dtypes.bfloat16, 16, steps=4, trans=True),
    _case(64, "f32.tf32.tf32", "f32", np.float32, 8, steps=4),
    _case(32, "f32.e4m3.e5m2", "f8", np.uint8, 32, steps=4),
    _case(48, "s32.s8.u8", "i8", np.int8, 32, steps=4),
]


def _elements(case: Case, side: str) -> str:
    if case.element != "f8":
        return case.element
    return {"a": "f8E4M3FN", "b": "f8E5M2"}[side]


def _program(case: Case, a_in_registers: bool = False) -> str:
    """A kernel of one warpgroup: copies, products, the result's columns in halves of a power."""
    depth = case.k * case.steps
    rows = max(8, 1 << (case.n - 1).bit_length())
    place = {"a": (64, depth), "b": (rows, depth)}
    memory = dict(place)
    if case.trans:  # panels of 64 along M or N
        place = {"a": (depth, 64), "b": (depth, 64)}
        memory = {"a": (depth, 64), "b": (depth, rows)}
    types = {
        side: f"memref<{'x'.join(map(str, memory[side]))}x{_elements(case, side)}>" for side in "ab"
    }
    panels = rows // 64 if case.trans else 1
    shared = {
        side: f"memref<{panels if side == 'b' else 1}x{place[side][0]}x{place[side][1]}x"
        f'{_elements(case, side)}, #tile.shared<"{case.swizzle}">>'
        for side in "ab"
    }
    name = "f" if case.d[0] == "f" else "s"
    d = _fragment(f"64x{case.n}x{case.d}", f"{_shape(case)} d {name}{case.d[1:]}")
    where = "registers" if a_in_registers else "descriptor"
    lines = [
        'gpu.module @m [#nvvm.target<chip = "sm_90a">] {',
        f"gpu.func @k(%a: {types['a']}, %b: {types['b']}, %d: memref<64x{case.n}x{case.d}>) kernel "
        "attributes {known_block_size = array<i32: 128, 1, 1>} {",
        *(f"%c{i} = arith.constant {i} : index" for i in range(0, 257)),
        "%true = arith.constant true",
        "%false = arith.constant false",
        f'%sa = "tile.alloc_shared"() : () -> {shared["a"]}',
        f'%sb = "tile.alloc_shared"() : () -> {shared["b"]}',
    ]
    for side in "ab":
        height, width = place[side]
        bits = {"f16": 16, "bf16": 16, "f32": 32}.get(case.element, 8)
        vector = min(128 // bits, width)
        for panel in range(panels if side == "b" else 1):
            lines.append(
                f'"tile.async_copy"(%{side}, %s{side}, %c0, %c{64 * panel}, %c{panel}, %c0, %c0) '
                f"{{shape = array<i64: {height}, {width}>, vector = {vector}}} : "
                f"({types[side]}, {shared[side]}, index, index, index, index, index) -> ()"
            )
    lines += [
        '"tile.async_commit"() : () -> ()',
        '"tile.async_wait"() {pending = 0} : () -> ()',
        "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}",
        "gpu.barrier",
        f'%zero = "tile.accumulator"() : () -> {d}',
    ]
    if a_in_registers:
        lines += _registers_of_a(case, shared["a"])
    lines.append(f'%acc0 = "tile.wgmma_fence"(%zero) : ({d}) -> {d}')
    if a_in_registers:
        all_of_a = ", ".join(f"%r{step}" for step in range(case.steps))
        types_of_a = ", ".join([_a_type(case)] * case.steps)
        lines.append(
            f'%a_ordered:{case.steps} = "tile.wgmma_fence"({all_of_a}) : ({types_of_a}) -> '
            f"({types_of_a})"
        )
    for step in range(case.steps):
        at = case.k * step
        places = ("%c0, %c{0}, %c0" if case.trans else "%c0, %c0, %c{0}").format(at)
        trans = ", imm_trans_a = 1, imm_trans_b = 1" if case.trans else ""
        first = f"%sa, %sb, %acc{step}, {'%true' if step else '%false'}, {places}, {places}"
        kinds = f"({shared['a']}, {shared['b']}, {d}, i1{', index' * 6})"
        if a_in_registers:
            first = f"%a_ordered#{step}, %sb, %acc{step}, {'%true' if step else '%false'}, {places}"
            kinds = f"({_a_type(case)}, {shared['b']}, {d}, i1{', index' * 3})"
        lines.append(
            f'%acc{step + 1} = "tile.wgmma"({first}) '
            f'{{form = "{case.form}.a::{where}"{trans}}} : {kinds} -> {d}'
        )
    lines += [
        '"tile.wgmma_commit"() : () -> ()',
        f'%done = "tile.wgmma_wait"(%acc{case.steps}) {{pending = 0}} : ({d}) -> {d}',
        "%thread = gpu.thread_id x",
        "%warp = arith.divui %thread, %c32 : index",
        "%row = arith.muli %warp, %c16 : index",
    ]
    column = 0
    while column < case.n:
        width = 1 << ((case.n - column).bit_length() - 1)
        part = _part(case, width)
        lines += [
            f'%p{column} = "tile.warp_part"(%done) {{column = {column}}} : ({d}) -> {part}',
            f'"tile.store"(%p{column}, %d, %row, %c{column}) : '
            f"({part}, memref<64x{case.n}x{case.d}>, index, index) -> ()",
        ]
        column += width
    return "\n".join([*lines, "gpu.return", "}", "}"])


def _shape(case: Case) -> str:
    return case.form.split(".")[4]


def _part(case: Case, width: int) -> str:
    registers = ["[0,1]", "[8,0]", *(f"[0,{1 << i}]" for i in range(3, width.bit_length() - 1))]
    lanes = "[0,2] [0,4] [1,0] [2,0] [4,0]"
    layout = f"register {' '.join(registers)}; lane {lanes} -> row 16, col {width}"
    return f'!tile.frag<tensor<16x{width}x{case.d}>, #tile.layout<"{layout}">>'


def _a_type(case: Case) -> str:
    return _fragment(f"64x16x{case.element}", f"{_shape(case)} a {case.element}")


def _fragment(tensor: str, layout: str) -> str:
    return f'!tile.frag<tensor<{tensor}>, #tile.layout<"{layout}">>'


def _registers_of_a(case: Case, shared: str) -> list[str]:
    """A's rows of each warp, by plain loads, joined."""
    warp = f'!tile.frag<tensor<16x16x{case.element}>, #tile.layout<"m16n8k16 a {case.element}">>'
    lines = [
        "%athread = gpu.thread_id x",
        "%awarp = arith.divui %athread, %c32 : index",
        "%arow = arith.muli %awarp, %c16 : index",
    ]
    for step in range(case.steps):
        lines += [
            f'%w{step} = "tile.load"(%sa, %c0, %arow, %c{16 * step}) : '
            f"({shared}, index, index, index) -> {warp}",
            f'%r{step} = "tile.join_warps"(%w{step}) : ({warp}) -> {_a_type(case)}',
        ]
    return lines


def _values(case: Case, side: str, shape: tuple[int, int]) -> tuple[Any, Any]:
    """An array for the kernel, and the numbers in it: small integers, exact in any type."""
    rng = np.random.default_rng([ord(side), *shape])
    if case.element == "f8":
        sort = {"a": ml_dtypes.float8_e4m3fn, "b": ml_dtypes.float8_e5m2}[side]
        numbers = rng.integers(-3, 4, shape)
        return numbers.astype(sort).view(np.uint8), numbers
    low = 0 if case.element == "i8" and side == "b" else -4
    numbers = rng.integers(low, 5, shape)
    return numbers.astype(case.sort), numbers


def _check(case: Case, program: str, ptxases: list[Any]) -> None:
    compiled = tilec.compile(program)
    assert compiled.ptx.count("wgmma.mma_async") == case.steps
    for ptxas in ptxases:
        status, report = ptxas.run(compiled.ptx, "sm_90a", "-v")
        assert status == 0, report
        assert not NOTES.search(report), report
        assert "0 bytes spill stores" in report
    depth, rows = case.k * case.steps, max(8, 1 << (case.n - 1).bit_length())
    a, left = _values(case, "a", (depth, 64) if case.trans else (64, depth))
    b, right = _values(case, "b", (depth, rows) if case.trans else (rows, depth))
    d = np.zeros((64, case.n), {"f32": np.float32, "f16": np.float16, "i32": np.int32}[case.d])
    compiled.launch(a, b, d, grid=1, device="sim")
    if case.trans:
        left, right = left.T, right.T
    np.testing.assert_array_equal(d.astype(np.int64), (left @ right.T)[:, : case.n])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_descriptors(case: Case, assemblers_for: Callable[..., list[Any]]) -> None:
    _check(case, _program(case), assemblers_for(HOPPER))


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_a_in_registers(case: Case, assemblers_for: Callable[..., list[Any]]) -> None:
    _check(case, _program(case, a_in_registers=True), assemblers_for(HOPPER))
