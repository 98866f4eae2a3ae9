"""A product of a pair of CTAs: each brings its half of A and of B, and takes its rows of the sums."""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations

import re


def scaled_pair(n: int = 256) -> str:
    """A product of 128 rows of a pair, of 128 along K in e4m3, each 32 with scale factors.

    Behind A and B it takes the factors as copies to tensor memory have them: of A 32 rows of 16
    bytes for each CTA, one after the other, of B 64, which both have.
    """
    text = (
        pair_program(128, n, to_even=True).replace("xf16", "xf8E4M3FN").replace("x64xf8", "x128xf8")
    )
    text = text.replace("64] {cta", "128] {cta")
    text = text.replace("%mb: !M, %mc", "%mb: !M, %msa: !MS, %msb: !MS, %mc").replace(
        "!A = memref",
        """!MS = memref<?x?xi8, strided<[?, 1]>>
!FA = memref<32x16xi8, #tile.shared<"none">>
!FB = memref<64x16xi8, #tile.shared<"none">>
!SA = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<256x4xf8E8M0FNU, #tile.tensor<"scale halves">>
!A = memref""",
        1,
    )
    text = text.replace(
        "    %rank =",
        """    %fa = tile.alloc_shared : !FA
    %fb = tile.alloc_shared : !FB
    %sa = tile.alloc_tensor {cta_group = 2} : !SA
    %sb = tile.alloc_tensor {cta_group = 2} : !SB
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank =""",
        1,
    )
    before, found, after = text.partition("      tile.tma_load %ma")
    count = int(re.findall(r"bytes (\d+)", before)[-1]) + 2 * (512 + 1024)
    before = re.sub(r"bytes \d+", f"bytes {count}", before)
    before += """      %own = arith.muli %rank, %c32 : index
      tile.tma_load %msa[%own, %c0] to %fa[%c0, %c0] signal %full[%c0] shape [32, 16] {cta_group = 2} : !MS to !FA signal !Bar
      tile.tma_load %msb[%c0, %c0] to %fb[%c0, %c0] signal %full[%c0] shape [64, 16] {cta_group = 2} : !MS to !FB signal !Bar
"""
    text = before + found + after
    lines, at = [], 0
    for line in text.splitlines():
        if "tile.tcgen05_mma" not in line:
            lines.append(line)
            continue
        if at == 0:
            lines += [
                f'      tile.tcgen05_cp %f{name}[%c0, %c0] to %s{name}[%c0, %c0] {{form = "tcgen05.cp.cta_group::2.{shape}"}} : !F{name.upper()} to !S{name.upper()}'
                for name, shape in (("a", "32x128b.warpx4"), ("b", "64x128b.warpx2::01_23"))
            ]
        lines.append(
            f"      tile.tcgen05_mma_scaled %a[%c0, %c{32 * at}], %b[%c0, %c{32 * at}], %d[%c0, %c0] scale %sa[%c0, %c{at}], %sb[%c0, %c{at}] if %{str(at > 0).lower()} "
            '{form = "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SA, !SB'
        )
        at += 1
    return "\n".join(lines)


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
