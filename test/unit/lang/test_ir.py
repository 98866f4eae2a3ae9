"""A kernel gives the tile IR that one would write by hand, and its places go down to the PTX."""

import re
from pathlib import Path
from typing import Any

import pytest
import tilec
import tilec.lang as tl
from tilec.layout.operand_names import operand_of


def cleaned(program: Any) -> tuple[list[str], list[str]]:
    """Constants in any order, and the other lines."""
    lines = str(tilec.transform(program, "canonicalize,cse")).splitlines()
    constants = [line for line in lines if "= arith.constant" in line]
    return sorted(constants), [line for line in lines if line not in constants]


GEMM = """
gpu.module @gemm {
  gpu.func @gemm(%a: memref<?x?xf16, strided<[?, 1]>>, %b: memref<?x?xf16, strided<[?, 1]>>,
                 %c: memref<?x?xf32, strided<[?, 1]>>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %depth = memref.dim %a, %c1 : memref<?x?xf16, strided<[?, 1]>>
    %y = gpu.block_id y
    %row = arith.muli %y, %c128 : index
    %x = gpu.block_id x
    %col = arith.muli %x, %c128 : index
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) {
      %p = "tile.load"(%a, %row, %k) {masked}
          : (memref<?x?xf16, strided<[?, 1]>>, index, index) -> tensor<128x64xf16>
      %q = "tile.load"(%b, %k, %col) {masked}
          : (memref<?x?xf16, strided<[?, 1]>>, index, index) -> tensor<64x128xf16>
      %s = "tile.dot"(%p, %q, %acc)
          : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %s : tensor<128x128xf32>
    } {tile.stages = 4 : i64}
    "tile.store"(%r, %c, %row, %col) {masked}
        : (tensor<128x128xf32>, memref<?x?xf32, strided<[?, 1]>>, index, index) -> ()
    gpu.return
  }
}
"""


@tilec.kernel(warps=8)
def gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
) -> None:
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    acc = tl.zeros((128, 128))
    for k in tl.range(0, a.shape[1], 64, stages=4):
        x = tl.load(a, (row, k), (128, 64))
        y = tl.load(b, (k, col), (64, 128))
        acc = tl.dot(x, y, acc)
    tl.store(c, (row, col), acc)


def test_gemm_is_as_by_hand() -> None:
    assert cleaned(gemm.build()) == cleaned(GEMM)


BRANCHES = """
gpu.module @branches {
  gpu.func @branches(%x: memref<?xi32>, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0> : tensor<32xi32>
    %two = arith.constant dense<2> : tensor<32xi32>
    %v = "tile.load"(%x, %c0) {masked} : (memref<?xi32>, index) -> tensor<32xi32>
    %positive = arith.cmpi sgt, %n, %c0 : index
    %w, %k = scf.if %positive -> (tensor<32xi32>, index) {
      %double = arith.muli %v, %two : tensor<32xi32>
      scf.yield %double, %n : tensor<32xi32>, index
    } else {
      %negative = arith.subi %zero, %v : tensor<32xi32>
      scf.yield %negative, %c0 : tensor<32xi32>, index
    }
    "tile.store"(%w, %x, %k) {masked} : (tensor<32xi32>, memref<?xi32>, index) -> ()
    gpu.return
  }
}
"""


@tilec.kernel
def branches(x: tl.Array[tl.int32, int], n: int) -> None:
    v = tl.load(x, 0, 32)
    if n > 0:
        only_here = v * 2
        w, k = only_here, n
    else:
        w, k = -v, 0
    tl.store(x, k, w)


def test_branches_hand_on_what_is_read_behind_them() -> None:
    assert cleaned(branches.build()) == cleaned(BRANCHES)


@tilec.kernel
def pinned(a: tl.Array[tl.float16, int, int], c: tl.Array[tl.float32, int, int]) -> None:
    x = tl.load(a, (0, 0), (32, 16))
    form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    acc = tl.with_layout(tl.zeros((32, 32)), LAYOUT)
    tl.store(c, (0, 0), tl.dot(x, x.T, acc, form=form, warps=(2, 2)))


LAYOUT = (
    "register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [0,16] "
    "-> row 32, col 32"
)


def test_pins_become_attributes() -> None:
    text = str(pinned.build())
    (alias,) = re.findall(r"tile\.layout = (#\w+)", text)
    (name,) = re.findall(rf"^{alias} = #tile\.operand<(.*)>$", text, re.MULTILINE)
    assert str(operand_of(name)) == LAYOUT
    assert "warps = array<i64: 2, 2>" in text
    assert 'form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"' in text
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in pinned.compile().ptx


@tilec.kernel
def sparse(
    a: tl.Array[tl.float16, int, int],
    e: tl.Array[tl.int4, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
) -> None:
    x, codes = tl.load(a, (0, 0), (32, 32)), tl.load(e, (0, 0), (32, 16))
    tl.store(c, (0, 0), tl.dot_sp(x, codes, tl.load(b, (0, 0), (64, 32))))


@tilec.kernel
def scaled(
    a: tl.Array[tl.float8_e4m3fn, int, int],
    p: tl.Array[tl.float8_e8m0fnu, int, int],
    b: tl.Array[tl.float8_e4m3fn, int, int],
    q: tl.Array[tl.float8_e8m0fnu, int, int],
    c: tl.Array[tl.float32, int, int],
) -> None:
    x, y = tl.load(a, (0, 0), (32, 64)), tl.load(b, (0, 0), (64, 32))
    tl.store(
        c, (0, 0), tl.dot_scaled(x, tl.load(p, (0, 0), (32, 2)), y, tl.load(q, (0, 0), (2, 32)))
    )


def test_sparse_and_scaled_products() -> None:
    assert (": tensor<32x32xf16>, tensor<64x32xf16>, tensor<32x32xf32>, tensor<32x16xi4>") in _line(
        sparse, "tile.dot_sp"
    )
    assert (
        ": tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<32x32xf32>, "
        "tensor<32x2xf8E8M0FNU>, tensor<2x32xf8E8M0FNU>"
    ) in _line(scaled, "tile.dot_scaled")


def _line(kernel: Any, op: str) -> str:
    return next(line for line in str(kernel.build()).splitlines() if f" {op} " in line)


def test_lines_of_python_reach_the_ptx() -> None:
    ptx = gemm.using(lineinfo=True, target="sm_80").compile().ptx
    (number,) = re.findall(rf'\.file\s+(\d+) "{re.escape(__file__)}"', ptx)
    lines = set(re.findall(rf"^\s*\.loc\s+{number} (\d+) \d+", ptx, re.MULTILINE))
    text = Path(__file__).read_text(encoding="utf-8").splitlines()
    wanted = {"x = tl.load(a", "y = tl.load(b", "acc = tl.dot(", "tl.store(c, (row, col), acc)"}
    found = {text[int(line) - 1].strip() for line in lines}
    for start in wanted:
        assert any(line.startswith(start) for line in found), start


def test_a_notebook_shows_it() -> None:
    built = gemm.build()
    assert " = tile.dot " in built._repr_html_()
    passed = tilec.transform(built, "canonicalize")
    assert "tile.dot" in str(passed)


def test_unusual_ops_are_translated_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which reads what was lowered: an attribute that stands there twice is no MLIR."""
    from tilec.backend import llvm_ir

    monkeypatch.setattr(llvm_ir, "_is_usual", lambda _: False)
    monkeypatch.setattr(llvm_ir, "_is_risky", lambda _: True)

    @tilec.kernel
    def copied(x: tl.Array[tl.float32, int], y: tl.Array[tl.float32, int]) -> None:
        tl.store(y, 0, tl.load(x, 0, 64))

    assert ".entry copied" in copied.compile().ptx
