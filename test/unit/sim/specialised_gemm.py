"""A warp-specialised GEMM in PTX, small enough to read: C = A·Bᵀ in f16, tiles of 128×64×64.

384 threads: a producer warpgroup, of which one thread loads, and two consumers of 64 rows each.
Three stages; a consumer releases the stage before the one whose products it has just issued. Each
CTA walks down `tiles` tiles of rows, so that the ring and the buffer of C are used again. With a
cluster of two, both CTAs load half of A each for both.
"""

from __future__ import annotations

import numpy as np
from tilec.sim import Report, TensorMap, launch

STAGE, C_TILE, BARRIERS = 24576, 73728, 90112
SHARED = BARRIERS + 64

D = ", ".join(f"%f{i}" for i in range(32))


def _products() -> str:
    return "\n".join(
        f""" wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
  {{{D}}},
  %da, %db, %scale, 1, 1, 0, 0;
 add.s64 %da, %da, 2; add.s64 %db, %db, 2; setp.eq.u32 %scale, %zero, 0;"""
        for _ in range(4)
    )


def _epilogue() -> str:
    lines = []
    for pair in range(16):  # columns 8·(pair // 2) + 2·q of row g, or 8 rows further
        column, row = pair // 2 * 16, pair % 2 * 8
        lines.append(
            f" cvt.rn.f16x2.f32 %h, %f{2 * pair + 1}, %f{2 * pair}; "
            f"xor.b32 %at, %chunk, {column}; add.u32 %at, %at, %line; "
            f"st.shared.b32 [%at+{row * 128}], %h;"
        )
    return "\n".join(lines)


def text(*, cluster: bool = False) -> str:
    """The kernel."""
    begin = (
        " barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.acquire.aligned;"
        if cluster
        else " bar.sync 0;"
    )
    end = " barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" if cluster else ""
    load_a = (
        """ mov.u32 %half, %cluster_ctarank; mul.lo.u32 %r1, %half, 8192;
 add.u32 %at, %stage_at, %r1; mad.lo.u32 %r1, %half, 64, %row;
 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
  [%at], [%ma, {%kc, %r1}], [%bar], 3;"""
        if cluster
        else """ cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
  [%stage_at], [%ma, {%kc, %row}], [%bar];"""
    )
    release = (
        """ mapa.shared::cluster.u32 %r1, %bar, 0; mapa.shared::cluster.u32 %r2, %bar, 1;
 @%leader mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];
 @%leader mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];"""
        if cluster
        else " @%leader mbarrier.arrive.shared::cta.b64 _, [%bar];"
    )
    return f""".version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry gemm(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128],
                     .param .align 64 .b8 c[128], .param .u32 steps, .param .u32 tiles)
.reqntid 384, 1, 1
.minnctapersm 1
{"" if not cluster else ".reqnctapercluster 2"}
{{
 .reg .pred %p, %more, %scale, %leader, %wrap;
 .reg .b32 %thread, %warp, %base, %full, %empty, %stage, %phase, %k, %kc, %row, %col, %steps;
 .reg .b32 %tiles, %tile, %at, %bar, %stage_at, %r1, %r2, %h, %line, %chunk, %group, %zero;
 .reg .b32 %half, %last;
 .reg .b64 %ma, %mb, %mc, %da, %db, %d1; .reg .f32 %f<32>;
 mov.b64 %ma, a; cvta.param.u64 %ma, %ma; mov.b64 %mb, b; cvta.param.u64 %mb, %mb;
 mov.b64 %mc, c; cvta.param.u64 %mc, %mc;
 ld.param.u32 %steps, [steps]; ld.param.u32 %tiles, [tiles];
 mov.u32 %thread, %tid.x; shr.u32 %warp, %thread, 5; mov.u32 %base, smem; mov.u32 %zero, 0;
 add.u32 %full, %base, {BARRIERS}; add.u32 %empty, %base, {BARRIERS + 24};
 mov.u32 %col, %ctaid.x; shl.b32 %col, %col, 6;
 mov.u32 %row, %ctaid.y; mul.lo.u32 %row, %row, %tiles; shl.b32 %row, %row, 7;
 mov.u32 %stage, 0; mov.u32 %tile, 0;
 setp.ne.u32 %p, %thread, 0; @%p bra READY;
 mbarrier.init.shared::cta.b64 [%full], 1; mbarrier.init.shared::cta.b64 [%full+8], 1;
 mbarrier.init.shared::cta.b64 [%full+16], 1;
 mbarrier.init.shared::cta.b64 [%empty], {4 if cluster else 2};
 mbarrier.init.shared::cta.b64 [%empty+8], {4 if cluster else 2};
 mbarrier.init.shared::cta.b64 [%empty+16], {4 if cluster else 2};
 fence.mbarrier_init.release.cluster;
READY:
{begin}
 setp.ge.u32 %p, %thread, 128; @%p bra CONSUMER;

 // The producer
 setmaxnreg.dec.sync.aligned.u32 40;
 setp.ne.u32 %p, %warp, 0; @%p bra EXIT;
 elect.sync _|%p, -1; @!%p bra EXIT;
 mov.u32 %phase, 1;
LOAD_TILE:
 mov.u32 %k, 0;
LOAD:
 mul.lo.u32 %stage_at, %stage, {STAGE}; add.u32 %stage_at, %base, %stage_at;
 mad.lo.u32 %bar, %stage, 8, %empty;
EMPTY:
 mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], %phase; @!%p bra EMPTY;
 mad.lo.u32 %bar, %stage, 8, %full; shl.b32 %kc, %k, 6;
 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {STAGE};
{load_a}
 add.u32 %at, %stage_at, 16384;
 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
  [%at], [%mb, {{%kc, %col}}], [%bar];
 add.u32 %stage, %stage, 1; setp.eq.u32 %wrap, %stage, 3;
 selp.u32 %stage, 0, %stage, %wrap; @%wrap xor.b32 %phase, %phase, 1;
 add.u32 %k, %k, 1; setp.lt.u32 %more, %k, %steps; @%more bra LOAD;
 add.u32 %row, %row, 128;
 add.u32 %tile, %tile, 1; setp.lt.u32 %more, %tile, %tiles; @%more bra LOAD_TILE;
 bra EXIT;

CONSUMER:
 setmaxnreg.inc.sync.aligned.u32 232;
 shr.u32 %group, %thread, 7; sub.u32 %group, %group, 1;
 and.b32 %r1, %thread, 127; setp.eq.u32 %leader, %r1, 0;
 // Lane 4g+q of warp w: row 64 group + 16 w + g, whose 16-byte chunks are swizzled by g.
 shr.u32 %r2, %r1, 5; shl.b32 %r2, %r2, 4; mad.lo.u32 %r2, %group, 64, %r2;
 shr.u32 %h, %r1, 2; and.b32 %h, %h, 7; add.u32 %r2, %r2, %h;
 shl.b32 %chunk, %h, 4; and.b32 %r1, %r1, 3; shl.b32 %r1, %r1, 2; or.b32 %chunk, %chunk, %r1;
 shl.b32 %line, %r2, 7; add.u32 %line, %line, %base; add.u32 %line, %line, {C_TILE};
 mov.u32 %phase, 0; mov.u32 %last, 3;
TILE:
 mov.u32 %k, 0;
STEP:
 mad.lo.u32 %bar, %stage, 8, %full;
FULL:
 mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], %phase; @!%p bra FULL;
 mul.lo.u32 %stage_at, %stage, {STAGE}; add.u32 %stage_at, %base, %stage_at;
 mad.lo.u32 %r1, %group, 8192, %stage_at; shr.u32 %r1, %r1, 4; cvt.u64.u32 %da, %r1;
 add.u32 %r1, %stage_at, 16384; shr.u32 %r1, %r1, 4; cvt.u64.u32 %db, %r1;
 mov.b64 %d1, {1 << 62 | 64 << 32 | 1 << 16}; or.b64 %da, %da, %d1; or.b64 %db, %db, %d1;
 setp.ne.u32 %scale, %k, 0;
 wgmma.fence.sync.aligned;
{_products()}
 wgmma.commit_group.sync.aligned;
 wgmma.wait_group.sync.aligned 1;
 mad.lo.u32 %bar, %last, 8, %empty; setp.eq.u32 %p, %k, 0; @%p bra KEPT;
{release}
KEPT:
 mov.u32 %last, %stage;
 add.u32 %stage, %stage, 1; setp.eq.u32 %wrap, %stage, 3;
 selp.u32 %stage, 0, %stage, %wrap; @%wrap xor.b32 %phase, %phase, 1;
 add.u32 %k, %k, 1; setp.lt.u32 %more, %k, %steps; @%more bra STEP;
 wgmma.wait_group.sync.aligned 0;
 mad.lo.u32 %bar, %last, 8, %empty;
{release}

 // C, by way of shared memory
 @%leader cp.async.bulk.wait_group.read 0;
 bar.sync 1, 256;
{_epilogue()}
 fence.proxy.async.shared::cta;
 bar.sync 1, 256;
 mad.lo.u32 %at, %group, 8192, %base; add.u32 %at, %at, {C_TILE};
 mad.lo.u32 %r1, %group, 64, %row;
 @%leader cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%mc, {{%col, %r1}}], [%at];
 @%leader cp.async.bulk.commit_group;
 add.u32 %row, %row, 128;
 add.u32 %tile, %tile, 1; setp.lt.u32 %more, %tile, %tiles; @%more bra TILE;
 @%leader cp.async.bulk.wait_group 0;
EXIT:
{end}
 ret;
}}
"""


def run(
    ptx: str,
    m: int = 256,
    n: int = 64,
    k: int = 320,
    *,
    tiles: int = 2,
    cluster: bool = False,
    order: int | None = None,
    rows: int = 128,
    swizzle: str = "128B",
    checks: bool = True,
    timeline: tuple[int, int, int] | None = None,
) -> tuple[Report, np.ndarray, np.ndarray]:
    """The report, C, and what it should be: small integers, so that f16 holds every sum."""
    rng = np.random.default_rng(m + n + k)
    a = rng.integers(-2, 3, (m, k)).astype(np.float16)
    b = rng.integers(-2, 3, (n, k)).astype(np.float16)
    c = np.full((m, n), 7, np.float16)
    maps = [
        TensorMap(a, box=(rows // 2 if cluster else rows, 64), swizzle=swizzle),
        TensorMap(b, box=(64, 64), swizzle=swizzle),
        TensorMap(c, box=(64, 64), swizzle="128B"),
    ]
    grid = (-(-n // 64), -(-m // (128 * tiles)))
    report = launch(
        ptx, "gemm", grid, 384, [*maps, -(-k // 64), tiles], dynamic_smem=SHARED,
        numerics="fast", order=order, checks=checks, timeline=timeline,
    )  # fmt: skip
    return report, c, (a.astype(np.int64) @ b.T.astype(np.int64)).astype(np.float16)
