"""A product of a pair of CTAs: each brings its half of A and of B, and takes its rows of the sums."""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations


def pair_program(m: int, n: int, *, to_even: bool = False) -> str:
    """The program, of 64 along K in f16.

    Args:
        m: rows of both CTAs together, 128 or 256.
        n: columns.
        to_even: whether all copies tell the even CTA, whose thread waits for nothing else; or each
            CTA waits for its own, and tells the even one.
    """
    # Of 128 rows each CTA has 64, in two banks of lanes with half of the columns each.
    rows, width = m // 2, n if m == 256 else n // 2
    ones = " ".join(f"[0,{1 << bit}]" for bit in range(width.bit_length() - 1))
    loads = []
    for warp in range(4):
        row, column = (32 * warp, 0) if m == 256 else (32 * (warp % 2), warp // 2 * width)
        loads.append(f"""
    %w{warp} = arith.constant {warp} : index
    %is{warp} = arith.cmpi eq, %warp, %w{warp} : index
    scf.if %is{warp} {{
      %r = arith.constant {row} : index
      %c = arith.constant {column} : index
      %to = arith.addi %row, %r : index
      %x = tile.tcgen05_ld %d[%r, %c] {{form = "tcgen05.ld.sync.aligned.32x32b.x{width}.b32"}} : !D -> !X
      %sums = tile.tcgen05_wait_ld %x : !X
      tile.store %sums, %mc[%to, %c] : !X, !MC
    }}""")
    products = "\n      ".join(
        f"tile.tcgen05_mma %a[%c0, %c{at}], %b[%c0, %c{at}], %d[%c0, %c0] if %{str(at > 0).lower()} "
        '{form = "tcgen05.mma.cta_group::2.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !B, !D'
        for at in range(0, 64, 16)
    )
    bytes_ = (rows + n // 2) * 128
    group = " {cta_group = 2}" * to_even
    loads_ = f"""
      tile.tma_load %ma[%row, %c0] to %a[%c0, %c0] signal %full[%c0] shape [{rows}, 64]{group} : !M to !A signal !Bar
      tile.tma_load %mb[%col, %c0] to %b[%c0, %c0] signal %full[%c0] shape [{n // 2}, 64]{group} : !M to !B signal !Bar"""
    if to_even:
        awaited = "%full"
        copies = f"""scf.if %issues {{
        tile.barrier_expect %full[%c0] bytes {2 * bytes_} : !Bar
      }}{loads_}"""
    else:
        awaited = "%both"
        copies = f"""tile.barrier_expect %full[%c0] bytes {bytes_} : !Bar{loads_}
      tile.barrier_wait %full[%c0] parity %false : !Bar
      tile.barrier_arrive %both[%c0] of %c0 : !Bar"""
    return f"""
!M = memref<?x?xf16, strided<[?, 1]>>
!MC = memref<?x?xf32, strided<[?, 1]>>
!A = memref<{rows}x64xf16, #tile.shared<"128B">>
!B = memref<{n // 2}x64xf16, #tile.shared<"128B">>
!D = memref<{m}x{n}xf32, #tile.tensor<"d cta_group::2">>
!Bar = memref<1xi64, #tile.shared<"none">>
!X = !tile.frag<tensor<32x{width}xf32>, #tile.layout<"register {ones}; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col {width}">>
gpu.module @m {{
  gpu.func @pair(%ma: !M, %mb: !M, %mc: !MC) kernel attributes {{known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %rows = arith.constant {rows} : index
    %half = arith.constant {n // 2} : index
    %true = arith.constant true
    %false = arith.constant false
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %full = tile.alloc_shared : !Bar
    %both = tile.alloc_shared : !Bar
    %done = tile.alloc_shared : !Bar
    %d = tile.alloc_tensor {{cta_group = 2}} : !D
    %rank = gpu.cluster_block_id x
    %row = arith.muli %rank, %rows : index
    %col = arith.muli %rank, %half : index
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index
    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {{
      tile.barrier_init %full[%c0] count 1 : !Bar
      tile.barrier_init %both[%c0] count 2 : !Bar
      tile.barrier_init %done[%c0] count 1 : !Bar
      nvvm.fence.mbarrier.init
    }}
    nvvm.cluster.arrive {{aligned}}
    nvvm.cluster.wait {{aligned}}
    // The even CTA's thread multiplies for both, and tells both.
    %leads = arith.cmpi eq, %rank, %c0 : index
    %issues = arith.andi %leads, %is_first : i1
    scf.if %is_first {{
      {copies}
    }}
    scf.if %issues {{
      tile.barrier_wait {awaited}[%c0] parity %false cluster : !Bar
      {products}
      tile.tcgen05_commit %done[%c0] multicast %c3 {{cta_group = 2}} : !Bar
    }}
    tile.barrier_wait %done[%c0] parity %false cluster : !Bar
    tile.tcgen05_fence after{"".join(loads)}
    gpu.return
  }}
}}
"""
