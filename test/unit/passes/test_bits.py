"""Fragments of bits, packed or not, are the same bits: through memory, cut apart and joined.

A lane holds a fragment of 32 bits or more in words and of fewer in an i1 each. The kernels go from
the one to the other in every way there is, on the simulator; numpy says what must arrive.
"""

from __future__ import annotations

import numpy as np
import pytest
import tilec

HEAD = """
#whole = #tile.layout<"{registers}; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col {bits}">
#part = #tile.layout<"{fewer}; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col {part}">
!W = !tile.frag<tensor<32x{bits}xi1>, #whole>
!P = !tile.frag<tensor<32x{part}xi1>, #part>
gpu.module @m {{
  gpu.func @k(%a: memref<32x{bytes}xi8>, %b: memref<32x{bytes}xi8>)
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %w = "tile.load"(%a, %z, %z) : (memref<32x{bytes}xi8>, index, index) -> !W
"""
TAIL = """
    "tile.store"(%r, %b, %z, %z) : (!W, memref<32x{bytes}xi8>, index, index) -> ()
    gpu.return
  }}
}}
"""


def run(body: str, bits: int, part: int) -> tuple[np.ndarray, np.ndarray]:
    """The bits that a kernel reads and those that it writes."""
    names = {
        "bits": bits,
        "part": part,
        "bytes": bits // 8,
        "registers": "register " + " ".join(f"[0,{1 << n}]" for n in range(bits.bit_length() - 1)),
        "fewer": "register " + " ".join(f"[0,{1 << n}]" for n in range(part.bit_length() - 1)),
    }
    text = HEAD.format(**names) + body + TAIL.format(**names)
    given = np.random.default_rng(bits + part).integers(0, 256, (32, bits // 8), np.uint8)
    result = np.zeros_like(given)
    tilec.compile(text, target="sm_80").launch(
        given.view(np.int8), result.view(np.int8), grid=1, device="sim"
    )
    return tuple(np.unpackbits(a, axis=1, bitorder="little") for a in (given, result))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_through_memory(bits):
    body = '%r = "tile.elementwise"(%w, %w) {fn = "arith.ori"} : (!W, !W) -> !W'
    given, result = run(body, bits, bits)
    assert np.array_equal(result, given)


@pytest.mark.parametrize(("bits", "part"), [(8, 2), (16, 8), (32, 1), (32, 8), (64, 16), (64, 32)])
def test_parts_in_another_order(bits, part):
    count = bits // part
    cuts = [f'%p{n} = "tile.slice"(%w) {{index = {n} : i64}} : (!W) -> !P' for n in range(count)]
    names = ", ".join(f"%p{n}" for n in reversed(range(count)))
    types = ", ".join(["!P"] * count)
    joined = f'%r = "tile.concat"({names}) : ({types}) -> !W'
    given, result = run("\n".join([*cuts, joined]), bits, part)
    assert np.array_equal(result, given.reshape(32, count, part)[:, ::-1].reshape(32, bits))
