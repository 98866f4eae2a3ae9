"""Kernels written by hand give what numpy gives: memory, control flow, calls, barriers, atomics.

Each kernel is PTX text in this file; the expectation is computed by numpy or by plain Python.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import DEFAULT_TARGET
from tilec.sim import LaunchError, PtxError, Report, launch

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
REGISTERS = """
  .reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<60>; .reg .f32 %f<20>; .reg .b64 %rd<40>;
"""
THREAD = """
  ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;
"""
"""%r1 thread, %r2 CTA, %r4 thread of the grid, %rd3 where its result goes."""


def kernel(body: str, parameters: str = "", outside: str = "", inside: str = "") -> str:
    """A kernel `k` whose first parameter is `out`."""
    listed = ", ".join([".param .u64 out", *filter(None, [parameters])])
    return (
        f"{HEAD}{outside}\n.visible .entry k({listed})\n"
        f"{{{REGISTERS}{inside}{THREAD}{body}\n  ret;\n}}\n"
    )


def run(text: str, grid: object, block: object, args: list[object], **options: object) -> Report:
    report = launch(text, "k", grid, block, args, **options)  # type: ignore[arg-type]
    assert report.ok, "\n".join(map(str, report.findings))
    return report


def test_saxpy_with_a_ragged_end() -> None:
    text = kernel(
        """
  ld.param.u64 %rd4, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r5, [n];
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra DONE;
  add.s64 %rd5, %rd4, %rd2;
  ld.global.f32 %f2, [%rd5]; ld.global.f32 %f3, [%rd3];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%rd3], %f3;
DONE:
""",
        ".param .u64 x, .param .f32 a, .param .u32 n",
    )
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-99, 99, 1000).astype(np.float32) for _ in range(2))
    expected = 3 * x + y
    report = run(text, 4, 256, [y, x, 3.0, 1000])
    assert np.array_equal(y, expected)
    assert report.instructions["fma"] == 32


@pytest.mark.parametrize("checks", [False, True])
def test_transpose_through_padded_shared_memory(checks: bool) -> None:
    text = kernel(
        """
  mov.u32 %r10, %tid.y; mov.u32 %r11, tile; mov.u32 %r12, %ctaid.y;
  shl.b32 %r13, %r2, 5; add.u32 %r13, %r13, %r1;       // column of the source
  shl.b32 %r14, %r12, 5; add.u32 %r14, %r14, %r10;     // row of the source
  ld.param.u64 %rd4, [x]; ld.param.u32 %r20, [rows]; ld.param.u32 %r21, [cols];
  mad.lo.u32 %r15, %r14, %r21, %r13;
  mul.wide.u32 %rd5, %r15, 4; add.s64 %rd5, %rd4, %rd5;
  ld.global.b32 %r16, [%rd5];
  mad.lo.u32 %r17, %r10, 33, %r1; shl.b32 %r17, %r17, 2; add.u32 %r17, %r17, %r11;
  st.shared.b32 [%r17], %r16;
  bar.sync 0;
  mad.lo.u32 %r17, %r1, 33, %r10; shl.b32 %r17, %r17, 2; add.u32 %r17, %r17, %r11;
  ld.shared.b32 %r16, [%r17];
  shl.b32 %r13, %r12, 5; add.u32 %r13, %r13, %r1;
  shl.b32 %r14, %r2, 5; add.u32 %r14, %r14, %r10;
  mad.lo.u32 %r15, %r14, %r20, %r13;
  mul.wide.u32 %rd5, %r15, 4; add.s64 %rd5, %rd1, %rd5;
  st.global.b32 [%rd5], %r16;
""",
        ".param .u64 x, .param .u32 rows, .param .u32 cols",
        inside=".shared .align 4 .b8 tile[4224];",
    )
    source = np.arange(96 * 64, dtype=np.int32).reshape(96, 64)
    result = np.zeros((64, 96), np.int32)
    report = run(text, (2, 3), (32, 32), [result, source, 96, 64], checks=checks)
    assert np.array_equal(result, source.T)
    assert report.conflicts == 0
    assert report.wavefronts == (2 * 6 * 32 if checks else 0)


def test_collatz_diverges_and_meets_again() -> None:
    text = kernel(
        """
  add.u32 %r5, %r4, 1; mov.u32 %r6, 0;
LOOP:
  setp.eq.u32 %p1, %r5, 1;
  @%p1 bra DONE;
  and.b32 %r7, %r5, 1;
  setp.eq.u32 %p2, %r7, 0;
  @%p2 bra EVEN;
  mad.lo.u32 %r5, %r5, 3, 1;
  bra.uni NEXT;
EVEN:
  shr.u32 %r5, %r5, 1;
NEXT:
  add.u32 %r6, %r6, 1;
  bra LOOP;
DONE:
  bar.warp.sync -1;
  st.global.u32 [%rd3], %r6;
"""
    )
    result = np.zeros(200, np.uint32)
    run(text, 2, 100, [result])

    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    assert result.tolist() == [steps(n + 1) for n in range(200)]


def test_recursive_function_with_a_stack_in_local_memory() -> None:
    fib = """
.visible .func (.param .b32 r) fib(.param .b32 n);
.func (.param .b32 r) fib(.param .b32 n)
{
  .local .align 4 .b8 kept[4];
  .reg .pred %p; .reg .b32 %n, %a, %b; .reg .b64 %l;
  ld.param.u32 %n, [n];
  setp.gt.u32 %p, %n, 1;
  @%p bra MORE;
  st.param.b32 [r+0], %n;
  ret;
MORE:
  mov.u64 %l, kept;
  st.local.u32 [%l], %n;
  { .param .b32 p0; .param .b32 r0; sub.u32 %a, %n, 1; st.param.b32 [p0+0], %a;
    call.uni (r0), fib, (p0); ld.param.b32 %b, [r0+0]; }
  { .param .b32 p0; .param .b32 r0; ld.local.u32 %a, [%l]; sub.u32 %a, %a, 2;
    st.param.b32 [p0+0], %a; call.uni (r0), fib, (p0); ld.param.b32 %a, [r0+0]; }
  add.u32 %b, %a, %b;
  st.param.b32 [r+0], %b;
  ret;
}
"""
    text = kernel(
        """
  { .param .b32 p0; .param .b32 r0; and.b32 %r5, %r4, 7; st.param.b32 [p0+0], %r5;
    call (r0), fib, (p0); ld.param.b32 %r6, [r0+0]; }
  st.global.u32 [%rd3], %r6;
""",
        outside=fib,
    )
    result = np.zeros(64, np.uint32)
    run(text, 1, 64, [result])
    assert result.tolist() == [[0, 1, 1, 2, 3, 5, 8, 13][i & 7] for i in range(64)]


def test_indirect_calls_and_indexed_branches() -> None:
    functions = "".join(
        f".func (.param .b32 r) f{n}(.param .b32 a) {{ .reg .b32 %a; ld.param.b32 %a, [a]; "
        f"mul.lo.u32 %a, %a, {n + 2}; st.param.b32 [r], %a; ret; }}\n"
        for n in range(2)
    )
    text = kernel(
        """
  proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  targets: .branchtargets A, B, C;
  and.b32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 1;
  mov.u64 %rd4, f0; mov.u64 %rd5, f1; selp.b64 %rd6, %rd5, %rd4, %p1;
  { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r4; call (r0), %rd6, (p0), proto;
    ld.param.b32 %r6, [r0]; }
  rem.u32 %r7, %r4, 3;
  brx.idx %r7, targets;
A: add.u32 %r6, %r6, 100; bra END;
B: add.u32 %r6, %r6, 200; bra END;
C: add.u32 %r6, %r6, 300;
END:
  st.global.u32 [%rd3], %r6;
""",
        outside=functions,
    )
    result = np.zeros(64, np.uint32)
    run(text, 1, 64, [result])
    i = np.arange(64)
    assert np.array_equal(result, i * (2 + i % 2) + 100 * (i % 3 + 1))


def test_guarded_indirect_calls_and_branches() -> None:
    functions = "".join(
        f".func f{n}() {{ .reg .b64 %a; .reg .b32 %v, %t; mov.u64 %a, total; mov.u32 %t, %tid.x; "
        f"add.u32 %v, %t, {1000 * (n + 1)}; shl.b32 %t, %t, 2; .reg .b64 %o; "
        f"cvt.u64.u32 %o, %t; add.s64 %a, %a, %o; st.global.u32 [%a], %v; ret; }}\n"
        for n in range(2)
    )
    text = kernel(
        """
  targets: .branchtargets A, B;
  proto: .callprototype _ ();
  mov.u64 %rd5, f0; mov.u64 %rd6, f1;
  and.b32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 1; selp.b64 %rd7, %rd6, %rd5, %p1;
  and.b32 %r6, %r4, 2; setp.eq.u32 %p2, %r6, 2;
  @%p2 call %rd7, proto;
  mov.u64 %rd8, total; add.s64 %rd8, %rd8, %rd2; ld.global.u32 %r7, [%rd8];
  @%p2 brx.idx %r5, targets;
  add.u32 %r7, %r7, 5; bra END;
A: add.u32 %r7, %r7, 10000; bra END;
B: add.u32 %r7, %r7, 20000;
END:
  st.global.u32 [%rd3], %r7;
""",
        outside=".global .align 4 .b8 total[256];\n" + functions,
    )
    result = np.zeros(64, np.uint32)
    run(text, 1, 64, [result])
    i = np.arange(64)
    assert np.array_equal(result, np.where(i & 2, i + 11000 * (1 + i % 2), 5))


def test_a_lock_is_passed_from_thread_to_thread_and_cta_to_cta() -> None:
    text = kernel(
        """
  ld.param.u64 %rd4, [lock];
SPIN:
  atom.global.acquire.gpu.cas.b32 %r5, [%rd4], 0, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra SPIN;
  ld.volatile.global.u32 %r6, [%rd1];
  add.u32 %r6, %r6, 1;
  st.volatile.global.u32 [%rd1], %r6;
  membar.gl;
  atom.global.release.gpu.exch.b32 %r7, [%rd4], 0;
""",
        ".param .u64 lock",
    )
    total, lock = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    run(text, 2, 48, [total, lock])
    assert total[0] == 96
    assert lock[0] == 0


def test_a_cta_that_spins_lets_a_later_one_run() -> None:
    text = kernel(
        """
  ld.param.u64 %rd4, [flag];
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra LATER;
WAIT:
  ld.acquire.gpu.global.u32 %r5, [%rd4];
  setp.lt.u32 %p2, %r5, 3;
  @%p2 bra WAIT;
  bra DONE;
LATER:
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra DONE;
  red.release.gpu.global.add.u32 [%rd4], 1;
DONE:
  ld.acquire.gpu.global.u32 %r5, [%rd4];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 st.global.u32 [%rd3], %r5;
""",
        ".param .u64 flag",
    )
    result, flag = np.zeros(4096, np.uint32), np.zeros(1, np.uint32)
    run(text, 4, 1024, [result, flag])
    assert (result[:1024] == 3).all()
    assert (result[1024:] == 0).all()


def test_atomics_of_all_threads_on_few_words() -> None:
    text = kernel(
        """
  and.b32 %r5, %r4, 3; mul.wide.u32 %rd4, %r5, 32; ld.param.u64 %rd5, [table];
  add.s64 %rd5, %rd5, %rd4;
  atom.global.add.u32 %r6, [%rd5], 1;
  red.global.max.s32 [%rd5+4], %r4;
  red.global.and.b32 [%rd5+8], %r4;
  cvt.rn.f32.u32 %f1, %r4;
  red.global.add.f32 [%rd5+12], %f1;
  atom.global.inc.u32 %r7, [%rd5+16], 6;
  atom.global.exch.b32 %r8, [%rd5+20], %r4;
  red.global.add.u64 [%rd5+24], 5;
  st.global.u32 [%rd3], %r6;
""",
        ".param .u64 table",
    )
    result = np.zeros(512, np.uint32)
    table = np.zeros((4, 8), np.uint32)
    table[:, 2] = 0xFFFFFFFF
    run(text, 2, 256, [result, table])
    threads = np.arange(512)
    for word in range(4):
        mine = threads[threads % 4 == word]
        assert sorted(result[mine].tolist()) == list(range(128))
        assert table[word, 1] == mine.max()
        assert table[word, 2] == np.bitwise_and.reduce(mine)
        assert table[word, 3:4].view(np.float32)[0] == mine.sum()
        assert table[word, 4] == 128 % 7
        assert table[word, 5] in mine
        assert table[word, 6:8].view(np.uint64)[0] == 640


def test_floating_point_vector_and_bounded_atomics() -> None:
    text = kernel(
        """
  .reg .f64 %d; .reg .b32 %half; .reg .b16 %b;
  ld.param.u64 %rd5, [table];
  mov.f64 %d, 0d3FE0000000000000;
  atom.global.add.f64 %d, [%rd5], %d;
  mov.b32 %half, 0x3C003800;  // 1.0 and 0.5
  red.global.add.noftz.f16x2 [%rd5+8], %half;
  mov.b16 %b, 0x3F80;         // 1.0
  red.global.add.noftz.bf16 [%rd5+12], %b;
  mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
  red.global.add.v2.f32 [%rd5+16], {%f1, %f2};
  cvt.s64.s32 %rd6, %r4; neg.s64 %rd6, %rd6;
  atom.global.min.s64 %rd7, [%rd5+24], %rd6;
  atom.global.dec.u32 %r5, [%rd5+32], 9;
  and.b32 %r6, %r4, 1;
  atom.global.cas.b32 %r7, [%rd5+36], %r6, 2;
  st.global.u32 [%rd3], %r5;
""",
        ".param .u64 table",
    )
    result = np.zeros(64, np.uint32)
    table = np.zeros(40, np.uint8)
    run(text, 1, 64, [result, table])
    assert table[:8].view(np.float64)[0] == 32
    assert table[8:12].view(np.float16).tolist() == [32, 64]
    assert table[12:14].view(np.uint16)[0] == 0x4280  # 64.0
    assert table[16:24].view(np.float32).tolist() == [64, 128]
    assert table[24:32].view(np.int64)[0] == -63
    assert np.array_equal(result, (-np.arange(64)) % 10)
    assert table[36:40].view(np.uint32)[0] == 2


def test_wide_and_narrow_vectors() -> None:
    text = kernel(
        """
  .reg .b64 %w<4>;
  ld.param.u64 %rd5, [x]; mul.wide.u32 %rd6, %r4, 32; add.s64 %rd5, %rd5, %rd6;
  add.s64 %rd7, %rd1, %rd6;
  ld.global.v8.b32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd5];
  ld.global.v4.b64 {%w0, %w1, %w2, %w3}, [%rd5];
  ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%rd5+4];
  ld.global.v2.s8 {%r18, _}, [%rd5+6];
  add.s64 %w0, %w0, 1;
  st.global.v4.b64 [%rd7], {%w0, %w1, %w2, %w3};
  st.global.v4.u8 [%rd7+8], {%h3, %h2, %h1, %h0};
  st.global.v2.b32 [%rd7+16], {%r17, %r18};
""",
        ".param .u64 x",
    )
    text = text.replace("8.5", "8.8").replace("sm_90", "sm_100")
    x = np.random.default_rng(0).integers(0, 100, (32, 8)).astype(np.uint32) * 0x01050709
    result = np.zeros((32, 8), np.uint32)
    run(text, 1, 32, [result, x])
    expected = x.copy()
    expected[:, 0] += 1
    expected[:, 2] = x[:, 1].byteswap()
    expected[:, 4] = x[:, 7]
    expected[:, 5] = x.view(np.int8)[:, 6].astype(np.int32).view(np.uint32)
    assert np.array_equal(result, expected)


def test_named_barriers_between_a_producer_and_consumers() -> None:
    text = kernel(
        """
  mov.u32 %r5, buffer; shl.b32 %r6, %r1, 2; mov.u32 %r7, 0;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra CONSUMER;
PRODUCE:
  add.u32 %r8, %r5, %r6; add.u32 %r9, %r1, %r7;
  st.shared.u32 [%r8], %r9;
  bar.arrive 1, 128;
  bar.sync 2, 128;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 5;
  @%p2 bra PRODUCE;
  bra DONE;
CONSUMER:
  and.b32 %r10, %r6, 127; add.u32 %r8, %r5, %r10; mov.u32 %r11, 0;
CONSUME:
  bar.sync 1, 128;
  ld.shared.u32 %r9, [%r8];
  add.u32 %r11, %r11, %r9;
  bar.arrive 2, 128;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 5;
  @%p2 bra CONSUME;
  st.global.u32 [%rd3], %r11;
DONE:
""",
        inside=".shared .align 4 .b8 buffer[128];",
    )
    result = np.zeros(128, np.uint32)
    run(text, 1, 128, [result])
    assert np.array_equal(result[32:], 5 * (np.arange(96) % 32) + 10)


def test_barrier_reductions() -> None:
    text = kernel(
        """
  setp.lt.u32 %p1, %r1, 40;
  barrier.cta.red.popc.aligned.u32 %r5, 0, %p1;
  barrier.cta.red.and.aligned.pred %p2, 0, %p1;
  barrier.cta.red.or.aligned.pred %p3, 0, %p1;
  selp.u32 %r6, 256, 0, %p2; selp.u32 %r7, 512, 0, %p3;
  add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7;
  st.global.u32 [%rd3], %r5;
"""
    )
    result = np.zeros(128, np.uint32)
    run(text, 2, 64, [result])
    assert (result == 40 + 512).all()


def test_shuffles_votes_matches_and_reductions() -> None:
    text = kernel(
        """
  mov.u32 %r5, %laneid;
  shfl.sync.up.b32 %r6|%p1, %r5, 3, 0, -1;
  shfl.sync.down.b32 %r7|%p2, %r5, 5, 31, -1;
  shfl.sync.bfly.b32 %r8, %r5, 6, 31, -1;
  shfl.sync.idx.b32 %r9, %r5, 2, 0x181f, -1;
  setp.gt.u32 %p3, %r5, 20;
  vote.sync.ballot.b32 %r10, %p3, -1;
  shr.u32 %r11, %r5, 3;
  match.any.sync.b32 %r12, %r11, -1;
  redux.sync.add.s32 %r13, %r5, -1;
  setp.gt.u32 %p4, %r5, 15; mov.u32 %r14, 16;
  @%p4 redux.sync.min.u32 %r14, %r5, 0xffff0000;
  selp.u32 %r15, 1, 0, %p1; selp.u32 %r16, 1, 0, %p2;
  mul.wide.u32 %rd4, %r1, 40; add.s64 %rd4, %rd1, %rd4;
  st.global.v2.u32 [%rd4], {%r6, %r15}; st.global.v2.u32 [%rd4+8], {%r7, %r16};
  st.global.v2.u32 [%rd4+16], {%r8, %r9}; st.global.v2.u32 [%rd4+24], {%r10, %r12};
  st.global.v2.u32 [%rd4+32], {%r13, %r14};
"""
    )
    result = np.zeros((64, 10), np.uint32)
    run(text, 1, 64, [result])
    lane = np.arange(64) % 32
    expected = [
        np.where(lane >= 3, lane - 3, lane),
        lane >= 3,
        np.where(lane + 5 < 32, lane + 5, lane),
        lane + 5 < 32,
        lane ^ 6,
        lane // 8 * 8 + 2,
        np.full(64, (0xFFFFFFFF << 21) & 0xFFFFFFFF),
        0xFF << (lane // 8 * 8),
        np.full(64, 496),
    ]
    assert np.array_equal(result[:, :9], np.stack(expected, axis=1))
    assert (result[lane >= 16, 9] == 16).all()


def test_votes_and_masks_of_diverged_lanes() -> None:
    text = kernel(
        """
  mov.u32 %r5, %laneid; mov.u32 %r6, 0; mov.u32 %r20, 0;
  and.b32 %r7, %r5, 3;
  setp.eq.u32 %p1, %r7, 1; @%p1 bra PART;
  bra REST;
PART:
  activemask.b32 %r6;
  setp.gt.u32 %p2, %r5, 1;
  vote.sync.all.pred %p3, %p2, 0x22222222; vote.sync.any.pred %p4, %p2, 0x22222222;
  vote.sync.uni.pred %p5, !%p2, 0x22222222;
  match.all.sync.b32 %r8|%p6, %r7, 0x22222222;
  match.all.sync.b32 %r9|%p7, %r5, 0x22222222;
  elect.sync %r10|%p8, 0x22222222;
  selp.u32 %r11, 1, 0, %p3; selp.u32 %r12, 2, 0, %p4; selp.u32 %r13, 4, 0, %p5;
  selp.u32 %r14, 8, 0, %p6; selp.u32 %r15, 16, 0, %p7; selp.u32 %r16, 32, 0, %p8;
  add.u32 %r20, %r11, %r12; add.u32 %r20, %r20, %r13; add.u32 %r20, %r20, %r14;
  add.u32 %r20, %r20, %r15; add.u32 %r20, %r20, %r16; mad.lo.u32 %r20, %r10, 64, %r20;
  sub.u32 %r8, %r8, 0x22222222; add.u32 %r20, %r20, %r8; add.u32 %r20, %r20, %r9;
REST:
  bar.warp.sync -1;
  xor.b32 %r6, %r6, %r20;
  st.global.u32 [%rd3], %r6;
"""
    )
    result = np.zeros(64, np.uint32)
    run(text, 1, 64, [result])
    lane = np.arange(64) % 32
    # any and match.all of one value hold; lane 1 is elected.
    expected = 0x22222222 ^ (2 + 8 + 64 + np.where(lane == 1, 32, 0))
    assert np.array_equal(result, np.where(lane % 4 == 1, expected, 0))


def test_special_registers() -> None:
    text = kernel(
        """
  .reg .b32 %s<12>; mov.u32 %s0, open;
  mov.u32 %s0, %warpid; mov.u32 %s1, %nwarpid; mov.u32 %s2, %lanemask_lt;
  mov.u32 %s3, %lanemask_ge; mov.u32 %s4, %dynamic_smem_size; mov.u32 %s5, %total_smem_size;
  mov.u32 %s6, %nctaid.x; mov.u64 %rd4, %clock64; mov.u32 %s7, %clock; mov.u64 %rd5, %clock64;
  sub.s64 %rd5, %rd5, %rd4; cvt.u32.u64 %s7, %rd5; setp.gt.u32 %p1, %s7, 0; selp.u32 %s7, 1, 0, %p1;
  mul.wide.u32 %rd6, %r4, 32; add.s64 %rd6, %rd1, %rd6;
  st.global.v4.u32 [%rd6], {%s0, %s1, %s2, %s3}; st.global.v4.u32 [%rd6+16], {%s4, %s5, %s6, %s7};
""",
        outside=".extern .shared .align 4 .b8 open[];",
        inside=".shared .align 4 .b8 fixed[128];",
    )
    result = np.zeros((3 * 96, 8), np.uint32)
    run(text, 3, 96, [result], dynamic_smem=64)
    thread = np.arange(288) % 96
    lane = (thread % 32).astype(np.uint32)
    below = (np.uint32(1) << lane) - np.uint32(1)
    expected = [thread // 32, 3, below, ~below, 64, 192, 3, 1]
    for number, value in enumerate(expected):
        assert (result[:, number] == value).all()


def test_guarded_instructions_that_wait() -> None:
    text = kernel(
        """
  shl.b32 %r5, %r1, 2; mov.u32 %r6, word; add.u32 %r5, %r5, %r6;
  setp.lt.u32 %p1, %r1, 64; setp.lt.u32 %p2, %r1, 40;
  and.b32 %r11, %r1, 31; setp.lt.and.u32 %p2, %r11, 8, %p2; // the lanes that redux names
  st.shared.u32 [%r5], %r1;
  @%p1 bar.sync 1, 64;
  @!%p1 bar.sync 2, 32;
  xor.b32 %r7, %r5, 128; selp.b32 %r7, %r7, %r5, %p1;
  ld.shared.u32 %r8, [%r7];
  mov.u32 %r9, 7; mov.u32 %r10, %laneid;
  @%p2 redux.sync.add.u32 %r9, %r10, 0xff;
  add.u32 %r8, %r8, %r9;
  st.global.u32 [%rd3], %r8;
""",
        inside=".shared .align 4 .b8 word[384];",
    )
    result = np.zeros(96, np.uint32)
    i = np.arange(96)
    run(text, 1, 96, [result])
    swapped = np.where(i < 64, i ^ 32, i)
    sums = np.where((i < 40) & (i % 32 < 8), 28, np.where(i < 40, 0, 7))
    assert np.array_equal(result[i % 32 < 8], (swapped + sums)[i % 32 < 8])
    assert np.array_equal(result[i >= 40], (swapped + sums)[i >= 40])


def test_grids_and_blocks_of_three_dimensions() -> None:
    text = kernel(
        """
  mov.u32 %r5, %tid.y; mov.u32 %r6, %tid.z; mov.u32 %r7, %ntid.y;
  mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z; mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;
  mad.lo.u32 %r12, %r6, %r7, %r5; mad.lo.u32 %r12, %r12, %r3, %r1;   // thread of the CTA
  mad.lo.u32 %r13, %r9, %r11, %r8; mad.lo.u32 %r13, %r13, %r10, %r2; // CTA of the grid
  mad.lo.u32 %r14, %r13, 30, %r12;
  mul.wide.u32 %rd4, %r14, 4; add.s64 %rd4, %rd1, %rd4;
  st.global.u32 [%rd4], %r14;
"""
    )
    result = np.zeros(24 * 30, np.uint32)
    run(text, (2, 3, 4), (5, 3, 2), [result])
    assert np.array_equal(result, np.arange(720))


def test_generic_addresses_of_every_space() -> None:
    text = kernel(
        """
  mov.u32 %r5, word; cvt.u64.u32 %rd4, %r5; cvta.shared.u64 %rd4, %rd4;
  mov.u64 %rd5, mine; cvta.local.u64 %rd5, %rd5;
  mov.u64 %rd6, number; cvta.global.u64 %rd6, %rd6;
  mul.wide.u32 %rd7, %r1, 4; add.s64 %rd4, %rd4, %rd7;
  rem.u32 %r6, %r1, 3;
  setp.eq.u32 %p1, %r6, 0; setp.eq.u32 %p2, %r6, 1;
  st.u32 [%rd4], %r1; add.u32 %r7, %r1, 1000; st.u32 [%rd5+4], %r7;
  add.s64 %rd5, %rd5, 4;
  selp.b64 %rd8, %rd4, %rd5, %p1; selp.b64 %rd8, %rd6, %rd8, %p2;
  ld.u32 %r8, [%rd8];
  isspacep.shared %p3, %rd8; selp.u32 %r9, 5000, 0, %p3; add.u32 %r8, %r8, %r9;
  st.global.u32 [%rd3], %r8;
""",
        outside=".global .align 4 .u32 number = 77;",
        inside=".shared .align 4 .b8 word[384]; .local .align 8 .b8 mine[8];",
    )
    result = np.zeros(96, np.uint32)
    run(text, 1, 96, [result])
    i = np.arange(96)
    assert np.array_equal(result, np.choose(i % 3, [i + 5000, 77, i + 1000]))


def test_initialisers_constants_and_scopes() -> None:
    text = kernel(
        """
  mov.u64 %rd4, table; ld.const.u64 %rd5, [pointer];
  and.b32 %r5, %r1, 3; mul.wide.u32 %rd6, %r5, 2; add.s64 %rd6, %rd4, %rd6;
  ld.const.s16 %r6, [%rd6];
  ld.global.u32 %r7, [%rd5];
  { .reg .b32 %r6; mov.u32 %r6, 9; }
  add.u32 %r6, %r6, %r7;
  st.global.u32 [%rd3], %r6;
""",
        outside=(
            ".const .align 2 .s16 table[4] = {1, -2, 3, 0x10};\n"
            ".global .align 4 .u32 words[3] = {5, 6, (1 << 4) | 7};\n"
            ".const .align 8 .u64 pointer = generic(words)+8;\n"
        ),
    )
    result = np.zeros(32, np.int32)
    run(text, 1, 32, [result])
    assert np.array_equal(result, np.array([1, -2, 3, 16])[np.arange(32) & 3] + 23)


def test_printf_and_assert() -> None:
    text = kernel(
        """
  setp.ne.u32 %p1, %r1, 5; @%p1 bra SKIP;
  mov.u64 %rd4, values; st.local.u32 [%rd4], %r1; mov.f64 %d, 0d3FF8000000000000;
  st.local.f64 [%rd4+8], %d; mov.u64 %rd5, word; st.local.u64 [%rd4+16], %rd5;
  cvta.local.u64 %rd4, %rd4; mov.u64 %rd6, format;
  { .param .b64 p0; .param .b64 p1; .param .b32 r0; st.param.b64 [p0], %rd6;
    st.param.b64 [p1], %rd4; call (r0), vprintf, (p0, p1); ld.param.b32 %r9, [r0]; }
SKIP:
""",
        outside=(
            ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
            f".global .align 1 .b8 format[16] = {{{', '.join(map(str, b'%03d %.2f %s%%'))}, 10}};\n"
            f".global .align 1 .b8 word[4] = {{{', '.join(map(str, b'abc'))}}};\n"
        ),
        inside=".local .align 8 .b8 values[24]; .reg .f64 %d;",
    )
    report = run(text, 1, 32, [None])
    assert report.output == "005 1.50 abc%\n"


def test_progress_is_told_after_each_wave() -> None:
    told: list[tuple[int, int]] = []
    text = kernel("st.global.u32 [%rd3], %r4;")
    launch(text, "k", 40, 1024, [np.zeros(40960)], progress=lambda *n: told.append(n))
    assert told == [(n, 40) for n in (8, 16, 24, 32, 40)]


def test_waves_of_ctas_see_fresh_shared_memory_and_registers() -> None:
    text = kernel(
        """
  mov.u32 %r5, word; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6;
  st.shared.u32 [%r5], %r2; bar.sync 0;
  ld.shared.u32 %r7, [%r5]; st.global.u32 [%rd3], %r7;
""",
        inside=".shared .align 4 .b8 word[1024];",
    )
    result = np.zeros(1000 * 256, np.uint32)
    run(text, 1000, 256, [result])
    assert np.array_equal(result, np.repeat(np.arange(1000), 256))


def test_arguments_are_taken_to_the_parameters_types() -> None:
    text = kernel(
        """
  ld.param.u8 %r5, [a]; ld.param.s16 %r6, [b]; ld.param.f32 %f1, [c]; ld.param.b16 %h1, [d];
  ld.param.u32 %r7, [e+4]; cvt.rzi.s32.f32 %r8, %f1; cvt.u32.u16 %r9, %h1;
  st.global.u32 [%rd1], %r5; st.global.u32 [%rd1+4], %r6; st.global.u32 [%rd1+8], %r8;
  st.global.u32 [%rd1+12], %r9; st.global.u32 [%rd1+16], %r7;
""",
        ".param .u8 a, .param .s16 b, .param .f32 c, .param .b16 d, .param .align 4 .b8 e[8]",
    )
    result = np.zeros(5, np.int32)
    packed = np.array([1, 99], np.uint32).tobytes()
    run(text, 1, 1, [result, 200, -3, 7, np.float16(1.5), packed])
    assert result.tolist() == [200, -3, 7, 0x3E00, 99]


def test_arrays_are_passed_as_they_lie_in_memory() -> None:
    text = kernel("ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, 1000; st.global.u32 [%rd3], %r5;")
    x = np.arange(64, dtype=np.uint32).reshape(8, 8)
    run(text, 1, 32, [np.asfortranarray(x)])
    columns = np.asfortranarray(x)
    run(text, 1, 32, [columns])
    assert np.array_equal(columns, np.where(np.arange(8) < 4, x + 1000, x))
    part = x[2:6, :4]  # the thread's word of each 8 is its own; those between are not changed
    run(text, 1, 28, [part])
    expected = np.arange(64).reshape(8, 8)
    expected[2:6, :4] += 1000
    assert np.array_equal(x, expected)
    with pytest.raises(LaunchError, match=r"argument 0 has strides .* numpy.ascontiguousarray"):
        launch(text, "k", 1, 32, [x[::-1]])


def test_structures_by_value_may_hold_pointers() -> None:
    text = kernel(
        """
  ld.param.u64 %rd5, [s]; ld.param.u32 %r5, [s+8]; ld.param.u64 %rd6, [s+16];
  mul.wide.u32 %rd7, %r4, 4; add.s64 %rd5, %rd5, %rd7; ld.global.u32 %r6, [%rd5];
  add.u32 %r6, %r6, %r5; ld.param.u64 %rd8, [p]; add.s64 %rd8, %rd8, %rd7;
  st.global.u32 [%rd8], %r6;
""",
        ".param .align 8 .b8 s[24], .param .align 8 .b8 p[8]",
    )
    x, y = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    run(text, 1, 32, [None, (x, np.uint32(7), None), y])
    assert np.array_equal(y, x + 7)
    with pytest.raises(LaunchError, match=r"takes 24 bytes by value.*these are 16"):
        launch(text, "k", 1, 32, [None, (x, np.uint32(7)), y])
    with pytest.raises(LaunchError, match="a structure takes arrays, None and numpy scalars"):
        launch(text, "k", 1, 32, [None, (x, 7, None), y])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "takes 2 arguments"),
        ([np.zeros(4), 1.5], "takes an integer"),
        ([np.zeros(4), 1 << 40], "cannot hold"),
        ([np.zeros(4), np.zeros(4)], "is a pointer and parameter"),
        ([np.zeros(4), "text"], "takes a .u32"),
    ],
)
def test_arguments_that_do_not_fit(arguments: list[object], words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        launch(kernel("", ".param .u32 n"), "k", 1, 32, arguments)


def test_launches_that_do_not_fit() -> None:
    text = kernel("")
    with pytest.raises(LaunchError, match="no kernel 'j'; it has k"):
        launch(text, "j", 1, 32, [None])
    with pytest.raises(LaunchError, match="at most 1024"):
        launch(text, "k", 1, (32, 64), [None])
    with pytest.raises(LaunchError, match="one to three positive"):
        launch(text, "k", (1, 0), 32, [None])
    with pytest.raises(LaunchError, match=r"at most .2147483647"):
        launch(text, "k", (1, 1 << 16), 32, [None])
    with pytest.raises(LaunchError, match="sm_75 has 65536 per CTA"):
        launch(text, "k", 1, 32, [None], dynamic_smem=70000, arch="sm_75")
    with pytest.raises(LaunchError, match=r"cannot read PTX from .nowhere.ptx."):
        launch("nowhere.ptx", "k", 1, 32, [None])


@pytest.mark.parametrize(
    ("target", "arch", "bytes_"),
    [("sm_75", "sm_75", 65536), ("sm_90", "sm_90", 232448), ("sm_61", DEFAULT_TARGET, 166912)],
)
def test_a_text_runs_on_its_own_target_unless_told(target: str, arch: str, bytes_: int) -> None:
    text = kernel("").replace("sm_90", target)
    with pytest.raises(LaunchError, match=f"{arch} has {bytes_} per CTA"):
        launch(text, "k", 1, 32, [None], dynamic_smem=1 << 20)
    with pytest.raises(LaunchError, match="sm_89 has 101376 per CTA"):
        launch(text, "k", 1, 32, [None], dynamic_smem=1 << 20, arch="sm_89")


def test_endless_recursion_is_an_error() -> None:
    text = kernel("call f;", outside=".func f() { call f; ret; }\n")
    with pytest.raises(PtxError, match="nested more than"):
        run(text, 1, 32, [None])
