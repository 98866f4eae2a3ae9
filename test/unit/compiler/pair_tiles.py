"""A product of tiles by a pair of CTAs at level 2: each has its rows of A, and half of B."""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations

_TYPES = {"f16": ("f16", "f16", 2), "bf16": ("bf16", "f16", 2), "f8E4M3FN": ("e4m3", "f8f6f4", 1)}
"""Of an element type PTX's name, the kind of product, and bytes of an element."""


def pair_tiles(rows: int, n: int, element: str = "f16", *, begun: bool = False) -> str:
    """A kernel whose pairs walk along K in steps of 128 bytes.

    Args:
        rows: of each CTA's tile.
        n: columns, of which each CTA loads half.
        element: of A and B.
        begun: whether the sums begin with what C has.
    """
    name, kind, size = _TYPES[element]
    step = 128 // size
    load = "tile.load %mc[%row, %c0] : !MC -> !C"
    start = load if begun else "arith.constant dense<0.0> : !C"
    return f"""
!M = memref<?x?x{element}, strided<[?, 1]>>
!MC = memref<?x?xf32, strided<[?, 1]>>
!A = memref<1x{rows}x{step}x{element}, #tile.shared<"128B">>
!B = memref<1x{n // 2}x{step}x{element}, #tile.shared<"128B">>
!Bar = memref<1xi64, #tile.shared<"none">>
!C = tensor<{rows}x{n}xf32, {_layout(rows, n)}>
gpu.module @m {{
  gpu.func @pair(%ma: !M, %mb: !M, %mc: !MC) kernel attributes {{known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>}} {{
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %full = tile.alloc_shared : !Bar
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %step = arith.constant {step} : index
    %rows = arith.constant {rows} : index
    %half = arith.constant {n // 2} : index
    %true = arith.constant true
    %false = arith.constant false
    %depth = memref.dim %ma, %c1 : !M
    %place = gpu.block_id x
    %rank = arith.remui %place, %c2 : index
    %row = arith.muli %place, %rows : index
    %col = arith.muli %rank, %half : index
    %thread = gpu.thread_id x
    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {{
      tile.barrier_init %full[%c0] count 1 : !Bar
      nvvm.fence.mbarrier.init
    }}
    gpu.barrier
    %start = {start}
    %sums, %last = scf.for %k = %c0 to %depth step %step iter_args(%sum = %start, %phase = %false) -> (!C, i1) {{
      scf.if %is_first {{
        tile.barrier_expect %full[%c0] bytes {(rows + n // 2) * 128} : !Bar
        tile.tma_load %ma[%row, %k] to %a[%c0, %c0, %c0] signal %full[%c0] shape [{rows}, {step}] : !M to !A signal !Bar
        tile.tma_load %mb[%col, %k] to %b[%c0, %c0, %c0] signal %full[%c0] shape [{n // 2}, {step}] : !M to !B signal !Bar
      }}
      tile.barrier_wait %full[%c0] parity %phase : !Bar
      %next = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %sum {{form = "tcgen05.mma.cta_group::2.kind::{kind}.a::descriptor", types = "f32.{name}.{name}", warps = array<i64: 4, 1>}} : !A, !B, !C
      %other = arith.xori %phase, %true : i1
      scf.yield %next, %other : !C, i1
    }}
    tile.store %sums, %mc[%row, %c0] : !C, !MC
    gpu.return
  }}
}}
"""


def pair_copies(*, automatic: bool) -> str:
    """A kernel in f16, with tiles of 128x128 and copies in each round of 64 along K.

    Args:
        automatic: whether passes may split it into warps that load by TMA, and warps that compute.
    """
    facts = "{tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>, llvm.noalias}"
    return f"""
!M = memref<?x?xf16, strided<[?, 1]>>
!MC = memref<?x?xf32, strided<[?, 1]>>
!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<1x64x64xf16, #tile.shared<"128B">>
!C = tensor<128x128xf32, {_layout(128, 128)}>
gpu.module @m {{
  gpu.func @pair(%ma: !M {facts}, %mb: !M {facts}, %mc: !MC) kernel attributes {{known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>{", tile.automatic" * automatic}}} {{
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %depth = memref.dim %ma, %c1 : !M
    %place = gpu.block_id x
    %rank = arith.remui %place, %c2 : index
    %row = arith.muli %place, %c128 : index
    %col = arith.muli %rank, %c64 : index
    %zero = arith.constant dense<0.0> : !C
    %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {{
      gpu.barrier
      tile.async_copy %ma[%row, %k] to %a[%c0, %c0, %c0] shape [128, 64] masked {{vector = 8 : i64}} : !M to !A
      tile.async_copy %mb[%k, %col] to %b[%c0, %c0, %c0] shape [64, 64] masked {{vector = 8 : i64}} : !M to !B
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %next = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %sum {{form = "tcgen05.mma.cta_group::2.kind::f16.a::descriptor", transpose_b, types = "f32.f16.f16", warps = array<i64: 4, 1>}} : !A, !B, !C
      scf.yield %next : !C
    }}
    tile.store %sums, %mc[%row, %c0] masked : !C, !MC
    gpu.return
  }}
}}
"""


def _layout(rows: int, n: int) -> str:
    """Each thread has a row of each 128: its lane's, of its warp's quarter."""
    columns = [f"[0,{1 << bit}]" for bit in range(n.bit_length() - 1)]
    columns += [f"[{128 << bit},0]" for bit in range((rows // 128).bit_length() - 1)]
    lanes = "[1,0] [2,0] [4,0] [8,0] [16,0]"
    return f'#tile.layout<"register {" ".join(columns)}; lane {lanes}; warp [32,0] [64,0] -> row {rows}, col {n}">'
