"""Counts that are read off the PTX agree with those of the simulator, which runs it."""

from __future__ import annotations

import runpy
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec.sim
from tilec.isa import TilecError
from tilec.isa.launch import extents
from tilec.sim import Report
from tilec.sim.access import Access
from tilec.sim.checks.global_memory import GlobalChecks
from tilec.sim.native.choice import VARIABLE
from tilec.sim.ptx import Module, read
from tilec.sim.ptx.module import Instruction
from tilec.sim.traffic import Traffic
from tilec.sim.traits import Traits, Unit, declare, declare_unit, forget, traits
from tilec.tuning.counting import Counts, count, plain_launch
from tilec.tuning.counting.launches import plain
from tilec.tuning.counting.tally import unit_of

EXAMPLES = Path(__file__).parents[3] / "examples" / "kernels"
TOLERANCE = 0.05
KERNEL = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  .shared .align 16 .b8 s[4096];
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
  mov.u32 %r4, s; mad.lo.u32 %r5, %r2, STRIDE, %r4;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;
LOOP:
  st.shared.u32 [%r5], %r3;
  ld.global.u32 %r6, [%rd3];
  add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1;
  @%p1 bra LOOP;
  setp.lt.u32 %p2, %r2, 40;
  @!%p2 bra END;
  st.global.u32 [%rd3], %r6;
END:
  ret;
}
"""


@dataclass(frozen=True)
class Launched:
    """What was counted of a launch, and what the simulator counted.

    Attributes:
        kernel: its name.
        counts: read off the PTX.
        report: of the run.
        units: warps' instructions of the run by unit.
        distinct: bytes that the run's CTAs read and wrote, those read together once.
    """

    kernel: str
    counts: Counts
    report: Report
    units: Mapping[str, float]
    distinct: float


TOY = KERNEL.replace("STRIDE", "8").replace("st.shared.u32", "toystore.shared.u32")


class Together:
    """What the simulator sees of the bytes that CTAs of a launch read in step with each other.

    An instruction that a warp, or for copies a CTA, executes the n-th time reads what others read
    with it the n-th time; what is written is each CTA's own.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._times: Counter[tuple[Any, ...]] = Counter()
        self._sectors: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        self._written = 0
        count_global, copied, begin = Traffic.count_global, GlobalChecks.copied, GlobalChecks.begin

        def counted(traffic: Traffic, one: Instruction, offsets: Any, mask: Any) -> None:
            count_global(traffic, one, offsets, mask)
            shape = *traffic.wave.shape[:2], 32
            active = np.broadcast_to(True if mask is None else mask, shape)
            lanes = np.broadcast_to(offsets, shape)
            for cta, warp in np.argwhere(active.any(axis=2)).tolist():
                touched = np.unique(lanes[cta, warp][active[cta, warp]] // 32)
                if traits(one).writes:
                    self._written += 32 * touched.size
                else:
                    self._read(one, touched, cta, warp)

        def moved(
            checks: GlobalChecks, one: Instruction, thread: tuple[int, int, int], offsets: Any,
            size: int, kind: Access, values: Any = None,
        ) -> None:  # fmt: skip
            if kind is Access.READ:
                touched = (offsets[:, None] + np.arange(0, size, 32)) // 32
                self._read(one, np.unique(touched), thread[0])
            else:
                self._written += offsets.size * size
            copied(checks, one, thread, offsets, size, kind, values)

        def began(checks: GlobalChecks) -> None:  # with more CTAs, which are the first once more
            self._times.clear()
            begin(checks)

        monkeypatch.setattr(GlobalChecks, "begin", began)
        monkeypatch.setattr(Traffic, "count_global", counted)
        monkeypatch.setattr(GlobalChecks, "copied", moved)

    def _read(self, one: Instruction, touched: Any, *who: int) -> None:
        key = one.position, *who
        self._sectors[one.position, self._times[key]].update(touched.tolist())
        self._times[key] += 1

    def taken(self) -> float:
        """Bytes that differ, since this was asked."""
        found = 32 * sum(map(len, self._sectors.values())) + self._written
        self._times.clear()
        self._sectors.clear()
        self._written = 0
        return float(found)


def by_unit(module: Module, kernel: str, report: Report) -> Counter[str]:
    """Warps' instructions of a run by unit, without those that ask mbarriers in vain."""
    body = {module.line(one): one for one in module.functions[kernel].body or ()}
    found: Counter[str] = Counter()
    for line in report.lines:
        found[unit_of(body[line.line])] += line.warps
    found["control"] -= 2 * report.waits_in_vain  # the question, and the branch back
    found["arithmetic"] -= report.waits_in_vain  # the negation of the answer
    return found


def quantities(launch: Launched) -> dict[str, tuple[float, float]]:
    """Each quantity by both; without what depends on how long warps wait for mbarriers."""
    found, report = launch.counts, launch.report
    waits = ("mbarrier", "cp.async.bulk", "tcgen05.commit")
    data = [line for line in report.lines if not line.instruction.startswith(waits)]
    vain = report.waits_in_vain
    run = Counter(report.instructions)
    run.subtract(dict.fromkeys(("mbarrier", "not", "bra"), vain) if vain else {})
    if vain:  # threads of a warp that waited apart may end apart
        run["ret"] = int(found.instructions["ret"])
    forms = {one.form: one.warps for one in report.matrix}

    def each(name: str, mine: Mapping[str, float], its: Mapping[str, float]) -> Any:
        return {f"{one} {name}": (mine.get(one, 0), its.get(one, 0)) for one in {*mine, *its}}

    return {
        **each("instructions", found.instructions, run),
        **each("unit", found.units, launch.units),
        **each("matrix", found.matrix, forms),
        "instructions": (found.warp_instructions, report.warp_instructions - 3 * vain),
        "distinct": (found.distinct, launch.distinct),
        "flops": (found.flops, sum(one.flops for one in report.matrix)),
        "requests": (found.requests, report.requests),
        "sectors": (found.sectors, report.sectors),
        "wavefronts": (found.wavefronts, sum(line.wavefronts for line in data)),
        "conflicts": (found.conflicts, sum(line.conflicts for line in data)),
        "copied": (found.copied, report.copied),
        "operands": (found.operand_bytes, report.operand_bytes),
    }


def agree(launch: Launched, *, without: Sequence[str] = ()) -> None:
    """Nothing depends on data, and each quantity is the simulator's, as nearly as is claimed."""
    assert launch.counts.unknown == 0
    wrong = {
        what: pair
        for what, pair in quantities(launch).items()
        if abs(pair[0] - pair[1]) > TOLERANCE * pair[1] and what not in without
    }
    assert wrong == {}, launch.kernel


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Launched]]:
    """Every launch on the simulator is counted as well.

    How many clusters start before others take over their work is not promised: here all do.
    """
    found: list[Launched] = []
    simulate = tilec.sim.launch

    def launch(
        ptx: str, kernel: str, grid: Sequence[int], block: Sequence[int], args: Any, **how: Any
    ) -> Report:
        module = read(ptx)
        function = module.functions[kernel]
        cluster = extents(how.get("cluster") or (1,), "cluster")
        shared = how.get("dynamic_smem", 0)
        given = plain(
            function, args, extents(grid, "grid"), extents(block, "block"), cluster, shared
        )
        made = count(module, kernel, given, given.ctas)
        report = simulate(ptx, kernel, grid, block, args, **how)
        units = by_unit(module, kernel, report)
        found.append(Launched(kernel, made, report, units, together.taken()))
        return report

    with monkeypatch.context() as patch:
        together = Together(patch)
        patch.setattr("tilec.sim.launch", launch)
        patch.setattr("tilec.sim.pending._PART", 1)
        patch.setenv(VARIABLE, "numpy")  # which tells what it touches
        yield found


def check(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(monkeypatch) as launches:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert launches
    for launch in launches:
        # What a convolution reads of its first tap at the border is less than of others.
        agree(launch, without=["distinct"] if launch.kernel == "conv" else [])


@pytest.mark.parametrize("name", ["softmax.py", "gemm.py"])
def test_counts_are_the_simulators(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "vector_add.py", "rms_norm.py", "rotary.py", "layer_norm.py", "attention.py",
        "swiglu.py", "gemm_types.py", "conv.py", "topk.py", "prefix_sum.py",
        "batched_gemm.py", "gemm_int4.py", "depthwise_conv.py", "fused_gemm.py",
        "scaled_gemm.py", "split_k_gemm.py", "dropout.py",
    ],
)  # fmt: skip
def test_counts_of_more_kernels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, monkeypatch)


def check_product(
    monkeypatch: pytest.MonkeyPatch, name: str, extents: tuple[int, int, int], **tiles: int
) -> tuple[Counts, Report]:
    """A GEMM of so many rows, columns and so deep, with the example's tiles or others."""
    warps = tiles.pop("warps", 8)
    kernel = runpy.run_path(str(EXAMPLES / "gemm.py"))["gemm"]
    kernel = kernel.using(target=name, device="sim", warps=warps)
    m, n, k = extents
    a, b = np.ones((m, k), np.float16), np.ones((k, n), np.float16)
    own = {"BM": 128, "BN": 128, "BK": 64} | tiles
    grid = ceil(n / own["BN"]), ceil(m / own["BM"])
    whole = all(extent % own[of] == 0 for extent, of in ((m, "BM"), (n, "BN"), (k, "BK")))
    with counted(monkeypatch) as launches:
        kernel[grid](a, b, np.zeros((m, n), np.float32), **tiles)
    (launch,) = launches
    # The simulator sees of boxes at the edge what is inside of the array.
    agree(launch, without=() if whole else ["distinct"])
    return launch.counts, launch.report


def test_counts_of_warps_with_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    """TMA, wgmma and clusters, of a persistent kernel."""
    found, _ = check_product(monkeypatch, "sm_90a", (200, 264, 192))
    assert found.copied > 0
    assert found.operand_bytes > 0


def test_counts_of_tensor_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """tcgen05: a thread multiplies for its pair, as its descriptor says, beside warps that load."""
    found, report = check_product(monkeypatch, "sm_100a", (200, 264, 320))
    assert found.flops == report.flops == 2 * 256 * 384 * 320
    assert found.operand_bytes == 3 * (2 * 128 + 128) * 320 * 2  # of B each CTA has half
    ((form, times),) = found.matrix.items()
    assert (form, times) == (report.matrix[0].form, report.matrix[0].warps)
    assert form.startswith("tcgen05.mma.cta_group::2.kind::f16.m256n128k16.f32.f16.f16")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "extents", "tiles"),
    [
        ("sm_90a", (640, 520, 1000), {"BM": 64, "BN": 256, "BK": 64}),  # two tiles in turn
        ("sm_90a", (512, 768, 640), {"BM": 128, "BN": 256, "BK": 64}),
        ("sm_90a", (640, 768, 640), {"BM": 64, "BN": 64, "BK": 16}),  # several tiles a CTA
        ("sm_90a", (512, 512, 1024), {"BM": 64, "BN": 64, "BK": 64, "warps": 4}),
        ("sm_100a", (512, 768, 1000), {"BM": 128, "BN": 256, "BK": 64}),
        ("sm_100a", (300, 256, 2048), {"BM": 64, "BN": 128, "BK": 64}),
        ("sm_100a", (512, 512, 512), {"BM": 128, "BN": 64, "BK": 32, "warps": 4}),
        ("sm_80", (320, 384, 2000), {"BM": 64, "BN": 64, "BK": 32, "warps": 4}),
    ],
)
def test_counts_of_more_products(
    name: str, extents: tuple[int, int, int], tiles: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loops of many rounds, most of which the walk leaves out."""
    check_product(monkeypatch, name, extents, **tiles)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize(("rows", "keys", "warps"), [(64, 64, 4), (128, 64, 8)])
def test_counts_of_attention(
    name: str, rows: int, keys: int, warps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two products that depend on each other, in a loop over keys."""
    kernel = runpy.run_path(str(EXAMPLES / "attention.py"))["attention"]
    kernel = kernel.using(target=name, device="sim", warps=warps)
    q, k, v, o = (np.ones((2, 640, 64), np.float16) for _ in range(4))
    with counted(monkeypatch) as launches:
        kernel[ceil(640 / rows), 2](q, k, v, o, 0.125, BM=rows, BN=keys)
    (launch,) = launches
    agree(launch)


ORDERED = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) {
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, 0;
  ORDER
  mov.u32 %r7, %tid.x; shl.b32 %r5, %r5, 20; shl.b32 %r6, %r6, 20;
  mad.lo.u32 %r5, %r7, 4, %r5; mad.lo.u32 %r6, %r7, 4, %r6;
  cvt.u64.u32 %rd3, %r5; add.u64 %rd1, %rd1, %rd3;
  cvt.u64.u32 %rd4, %r6; add.u64 %rd2, %rd2, %rd4;
LOOP:
  ld.global.u32 %r8, [%rd1]; ld.global.u32 %r9, [%rd2];
  add.u64 %rd1, %rd1, 128; add.u64 %rd2, %rd2, 128;
  add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 50;
  @%p1 bra LOOP;
  ret;
}
"""
BY_ROWS = "mov.u32 %r5, %r2; mov.u32 %r6, %r1;"
BY_GROUPS_OF_EIGHT = """
  mad.lo.u32 %r10, %r2, %r3, %r1; shl.b32 %r11, %r3, 3; div.u32 %r12, %r10, %r11;
  rem.u32 %r13, %r10, %r11; and.b32 %r5, %r13, 7; mad.lo.u32 %r5, %r12, 8, %r5;
  shr.u32 %r6, %r13, 3;"""


@pytest.mark.parametrize(
    ("order", "rows", "cols"),
    [(BY_ROWS, 108 / 64, 64), (BY_GROUPS_OF_EIGHT, 8, 108 / 8)],
    ids=["by rows", "by groups"],
)
def test_what_ctas_of_a_wave_read_together(order: str, rows: float, cols: float) -> None:
    """64 x 64 tiles, 108 at a time: by rows two of A and 64 of B; by groups 8 and 14 of them."""
    module = read(ORDERED.replace("ORDER", order))
    launch = plain(module.functions["k"], [np.zeros(64, np.int32)] * 2, (64, 64, 1), (32, 1, 1))
    alone, found = (count(module, "k", launch, at_once) for at_once in (0, 108))
    loaded = 64 * 64 * 50 * 2 * 128
    assert alone.distinct == alone.sectors * 32 == loaded
    assert found.distinct == pytest.approx(loaded * (ceil(rows) + ceil(cols)) / (2 * 108))


def test_boxes_of_a_persistent_kernel_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 x 4 tiles of 128 x 128, a CTA each: 4 of A's and 4 of B's, of which pairs load halves.

    The sums leave by TMA, too.
    """
    kernel = runpy.run_path(str(EXAMPLES / "gemm.py"))["gemm"].using(target="sm_90a")
    arrays = [np.zeros((512, 512), t) for t in (np.float16, np.float16, np.float32)]
    compiled = kernel.compile(*arrays)
    (entry,) = compiled.kernels
    module = read(compiled.ptx)
    launch = plain_launch(entry, module.functions[entry.name], arrays, (4, 4, 1), 16)
    found = count(module, entry.name, launch, 16)
    inputs, outputs = 2 * 512 * 512 * 2, 512 * 512 * 4
    assert found.copied == pytest.approx(16 * 2 * 128 * 512 * 2 + outputs)
    assert found.distinct == pytest.approx(inputs + outputs, rel=0.05)


@pytest.mark.parametrize(("stride", "conflicts"), [(4, 0), (8, 1), (128, 31)])
def test_a_kernel_by_hand(stride: int, conflicts: int) -> None:
    """64 threads, each a word of shared memory so many bytes apart, 100 times."""
    module = read(KERNEL.replace("STRIDE", str(stride)))
    launch = plain(module.functions["k"], [np.zeros(64, np.int32), 100], (5, 1, 1), (64, 1, 1))
    found = count(module, "k", launch)
    warps = 5 * 2
    assert found.instructions["st"] == warps * 100 + 5 * 2  # 40 threads are in two warps
    assert found.wavefronts == warps * 100 * (conflicts + 1)
    assert found.conflicts == warps * 100 * conflicts
    assert found.sectors == warps * 100 * 4 + 5 * (4 + 1)
    assert found.unknown == 0


def test_what_depends_on_data_is_said() -> None:
    module = read(
        KERNEL.replace("STRIDE", "4").replace("setp.lt.u32 %p1, %r3", "setp.lt.u32 %p1, %r6")
    )
    launch = plain(module.functions["k"], [np.zeros(64, np.int32), 100], (1, 1, 1), (64, 1, 1))
    assert count(module, "k", launch).unknown > 0


def test_a_loop_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilec.tuning.counting.walk.STEPS", 3000)
    module = read(KERNEL.replace("STRIDE", "4").replace("add.u32 %r3, %r3, 1;", ""))
    launch = plain(module.functions["k"], [np.zeros(64, np.int32), 100], (1, 1, 1), (64, 1, 1))
    with pytest.raises(TilecError, match="more than"):
        count(module, "k", launch)


def test_a_memory_instruction_is_what_it_declares() -> None:
    """One of a test's own, declared as a store, counts as the store in its place."""
    declare("toystore", Traits(writes=True))
    declare_unit("toystore", Unit.SHARED)
    found = []
    try:
        for text in (KERNEL.replace("STRIDE", "8"), TOY):
            function = (module := read(text)).functions["k"]
            launch = plain(function, [np.zeros(64, np.int32), 9], (2, 1, 1), (64, 1, 1))
            found.append(count(module, "k", launch))
    finally:
        forget("toystore")
    store, toy = found
    assert (toy.wavefronts, toy.conflicts) == (store.wavefronts, store.conflicts) == (72, 36)
    assert toy.units == store.units
    assert toy.instructions["toystore"] == 36


def test_a_branch_by_a_table_is_an_error() -> None:
    table = "T: .branchtargets LOOP, END;\n  brx.idx %r2, T;"
    module = read(KERNEL.replace("STRIDE", "4").replace("@!%p2 bra END;", table))
    launch = plain(module.functions["k"], [np.zeros(64, np.int32), 9], (1, 1, 1), (64, 1, 1))
    with pytest.raises(TilecError, match="kernel 'k' branches by tables, which are not counted"):
        count(module, "k", launch)
