"""What LLVM still does to a kernel, and to a module that is more than kernels."""

from __future__ import annotations

import re

import tilec

PROGRAM = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  {function}
  gpu.func @k(%x: memref<64xf32>, %n: index)
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to {end} step %c1 {{
      %scaled = arith.muli %n, %n : index
      %base = arith.addi %scaled, %t : index
      %at = arith.addi %base, %i : index
      %value = memref.load %x[%at] : memref<64xf32>
      %new = {compute}
      memref.store %new, %x[%at] : memref<64xf32>
    }}
    gpu.return
  }}
}}
"""
ADD = "arith.addf %value, %value : f32"


def ptx(function: str = "", end: str = "%n", compute: str = ADD, level: int = 3) -> str:
    text = PROGRAM.format(function=function, end=end, compute=compute)
    return tilec.compile(text, opt_level=level).ptx


def loop(text: str) -> str:
    """From the label that is branched back to, to that branch."""
    found = re.search(r"^(\$L\w+):(?=(.*?bra(?:\.uni)?\s+\1;))", text, flags=re.M | re.S)
    return found[2] if found else ""


def test_a_loop_of_known_length_is_unrolled() -> None:
    text = ptx(end="%c4")
    assert text.count("ld.global") == 4
    assert not loop(text)
    assert loop(ptx(end="%c4", level=0))


def test_what_does_not_change_is_computed_outside() -> None:
    text = ptx()
    inside = loop(text)
    assert "ld.global" in inside
    assert re.search(r"\b(mul|mad)\.", text)
    assert not re.search(r"\b(mul|mad)\.", inside)


def test_functions_are_inlined() -> None:
    function = """func.func @twice(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    return %y : f32
  }"""
    text = ptx(function, compute="func.call @twice(%value) : (f32) -> f32")
    assert "call" not in text
    assert "add" in loop(text)
