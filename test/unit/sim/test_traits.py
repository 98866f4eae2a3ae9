"""What instructions declare of themselves, against the ISA's words; instructions of a test's own.

Every opcode that is bound has samples here, with what the PTX ISA says of them; each is asked every
question that the simulator asks, and must wait for whom it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from tilec.sim import Report, alu, check, launch, read
from tilec.sim.access import Access
from tilec.sim.binding import Binding
from tilec.sim.chains import chained
from tilec.sim.control import blocks
from tilec.sim.frames import Frame
from tilec.sim.instructions import registry
from tilec.sim.machine import Machine, Step
from tilec.sim.memory import Memory
from tilec.sim.placement import Placement
from tilec.sim.program import Program
from tilec.sim.ptx.module import Function, Instruction, Module
from tilec.sim.residency import resident_ctas
from tilec.sim.sync import BarrierSync, Gate, Members, Waits
from tilec.sim.taint import flows
from tilec.sim.traits import (
    PLAIN,
    UNKNOWN,
    Declaration,
    First,
    Flow,
    Sync,
    Traits,
    Unit,
    traits,
    unit,
)
from tilec.sim.translator import Translator
from tilec.sim.wave import Geometry

HEAD = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<60>; .reg .b64 %rd<20>; .reg .f32 %f<40>;
  .reg .b128 %q<2>;
  .shared .align 16 .b8 words[1024];
  ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mov.u32 %r2, words;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
"""

PLAIN_SAMPLES = """
mov.u32 %r3, %r1; mov.b64 {%r3, %r4}, %rd1; cvta.shared.u64 %rd3, %rd1; isspacep.global %p1, %rd1;
createpolicy.fractional.L2::evict_first.b64 %rd3; prefetch.global.L1 [%rd1]; prefetchu.L1 [%rd1];
applypriority.global.L2::evict_normal [%rd1], 128; discard.global.L2 [%rd1], 128;
pmevent 1; mapa.shared::cluster.u32 %r3, %r2, 0;
getctarank.shared::cluster.u32 %r3, %r2; griddepcontrol.wait;
fence.acq_rel.gpu; membar.cta;
activemask.b32 %r3;
cp.async.ca.shared.global [%r2], [%rd1], 4; cp.async.commit_group; cp.async.wait_group 0;
mbarrier.init.shared.b64 [%r2], 1; brkpt;
vote.ballot.b32 %r3, %p1; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
cp.async.bulk.prefetch.L2.global [%rd1], 16; fence.proxy.async;
fence.mbarrier_init.release.cluster;
vadd.u32.u32.u32 %r3, %r1, %r2; vsub.u32.u32.u32 %r3, %r1, %r2;
vabsdiff.u32.u32.u32 %r3, %r1, %r2; vmin.u32.u32.u32 %r3, %r1, %r2;
vmax.u32.u32.u32 %r3, %r1, %r2; vshl.u32.u32.u32.clamp %r3, %r1, %r2;
vshr.u32.u32.u32.clamp %r3, %r1, %r2; vset.u32.u32.lt %r3, %r1, %r2;
vmad.u32.u32.u32 %r3, %r1, %r2, %r4; vadd2.u32.u32.u32 %r3, %r1, %r2, %r4;
vsub2.u32.u32.u32 %r3, %r1, %r2, %r4; vabsdiff2.u32.u32.u32 %r3, %r1, %r2, %r4;
vmin2.u32.u32.u32 %r3, %r1, %r2, %r4; vmax2.u32.u32.u32 %r3, %r1, %r2, %r4;
vavrg2.u32.u32.u32 %r3, %r1, %r2, %r4; vset2.u32.u32.lt %r3, %r1, %r2, %r4;
vadd4.u32.u32.u32 %r3, %r1, %r2, %r4; vsub4.u32.u32.u32 %r3, %r1, %r2, %r4;
vabsdiff4.u32.u32.u32 %r3, %r1, %r2, %r4; vmin4.u32.u32.u32 %r3, %r1, %r2, %r4;
vmax4.u32.u32.u32 %r3, %r1, %r2, %r4; vavrg4.u32.u32.u32 %r3, %r1, %r2, %r4;
vset4.u32.u32.lt %r3, %r1, %r2, %r4;
"""
"""Instructions that others need know nothing of: they touch registers and memory in their turn."""

WARP = Traits(sync=Sync.WARP)
CTA = Traits(sync=Sync.CTA, first=First.SOURCE)
READ, WRITE = Traits(reads=True), Traits(writes=True)
UPDATE = Traits(reads=True, writes=True)
POLLS = Traits(polls=True, reads=True)
MOVE = Traits(sync=Sync.WARP, matrix=True)
SAMPLES = {
    # PTX ISA, "Synchronization": `.sync` waits for the lanes that the mask names.
    "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;": WARP,
    "vote.sync.any.pred %p1, %p2, -1;": WARP,
    "match.any.sync.b32 %r3, %r1, -1;": WARP,
    "redux.sync.add.u32 %r3, %r1, -1;": WARP,
    "elect.sync %r3|%p1, -1;": WARP,
    "bar.warp.sync -1;": Traits(sync=Sync.WARP, first=First.SOURCE),
    # PTX ISA, "bar, barrier"
    "bar.sync 0;": CTA,
    "bar.arrive 1, 64;": CTA,
    "bar.red.popc.u32 %r3, 0, %p1;": Traits(sync=Sync.CTA),
    "barrier.sync.aligned 2, 64;": CTA,
    # PTX ISA, "barrier.cluster", "setmaxnreg"
    "barrier.cluster.arrive.aligned;": Traits(sync=Sync.CLUSTER),
    "barrier.cluster.wait.acquire.aligned;": Traits(sync=Sync.CLUSTER),
    "setmaxnreg.inc.sync.aligned.u32 64;": Traits(sync=Sync.WARPGROUP),
    "setmaxnreg.dec.sync.aligned.u32 24;": Traits(sync=Sync.WARPGROUP),
    # PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];": Traits(
        sync=Sync.WARP, asynchronous=True
    ),
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r1};": Traits(
        sync=Sync.WARP, first=First.SOURCE, asynchronous=True
    ),
    "tcgen05.wait::ld.sync.aligned;": Traits(sync=Sync.WARP, first=First.SOURCE, asynchronous=True),
    "tcgen05.fence::after_thread_sync;": Traits(first=First.SOURCE, asynchronous=True),
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd1, %r1, %p1;": Traits(
        first=First.SOURCE, asynchronous=True
    ),
    "tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;": Traits(first=First.SOURCE, asynchronous=True),
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];": Traits(
        first=First.SOURCE, asynchronous=True
    ),
    # PTX ISA, "clusterlaunchcontrol"
    "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];": Traits(
        first=First.SOURCE, asynchronous=True, takes_over=True
    ),
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;": Traits(response=True),
    "wgmma.fence.sync.aligned;": Traits(sync=Sync.WARPGROUP),
    "wgmma.commit_group.sync.aligned;": Traits(sync=Sync.WARPGROUP),
    "wgmma.wait_group.sync.aligned 1;": Traits(sync=Sync.WARPGROUP),
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd1, 1, 1, 1, "
    "0, 0;": Traits(sync=Sync.WARPGROUP, matrix=True, asynchronous=True, first=First.BOTH),
    # PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy"
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;": PLAIN,
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%rd1], [%r2], 128;": WARP,
    # PTX ISA, "mbarrier"
    "mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;": Traits(waits=True),
    "mbarrier.test_wait.shared.b64 %p1, [%r2], %rd1;": Traits(waits=True),
    # PTX ISA, "Async proxy"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 16, [%r2];": (
        Traits(asynchronous=True)
    ),
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;": Traits(asynchronous=True),
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 16;": (
        Traits(asynchronous=True)
    ),
    "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], "
    "[%rd1, {%r1}], [%r2];": Traits(asynchronous=True),
    # PTX ISA, "ld", "st", "red", "atom": what a thread does at its address
    "ldu.global.u32 %r3, [%rd1];": READ,
    "ld.weak.global.u32 %r3, [%rd1];": READ,
    "ld.acquire.cta.shared.u32 %r3, [%r2];": READ,
    "st.global.u32 [%rd1], 0;": WRITE,
    "st.release.gpu.global.u32 [%rd1], 0;": WRITE,
    "red.global.add.u32 [%rd1], 1;": UPDATE,
    "atom.global.add.u32 %r3, [%rd1], 1;": UPDATE,
    "atom.shared.cas.b32 %r3, [%r2], 0, 1;": UPDATE,
    # PTX ISA, "ld", "atom": what a loop may ask until another CTA has answered
    "ld.volatile.global.u32 %r3, [%rd1];": POLLS,
    "ld.relaxed.gpu.global.u32 %r3, [%rd1];": POLLS,
    "ld.acquire.sys.u32 %r3, [%rd1];": POLLS,
    "atom.acquire.gpu.global.cas.b32 %r3, [%rd1], 0, 1;": Traits(
        polls=True, reads=True, writes=True
    ),
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r3, %r4, %r5, %r6}, "
    "{%r7, %r8}, {%f0, %f1, %f2, %f3};": Traits(sync=Sync.WARP, matrix=True, product=True),
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, "
    "[%rd1];": MOVE,
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];": MOVE,
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r3};": MOVE,
    "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;": MOVE,
    # PTX ISA, "Control Flow Instructions"
    "bra END;": Traits(flow=Flow.BRANCH, labels=("END",)),
    "brx.idx %r1, LABELS;": Traits(flow=Flow.BRANCH, labels=("MIDDLE", "END"), first=First.SOURCE),
    "call helper;": Traits(flow=Flow.CALL, first=First.SOURCE),
    "nanosleep.u32 20;": Traits(first=First.SOURCE),
    "ret;": Traits(flow=Flow.END),
    "exit;": Traits(flow=Flow.END),
    "trap;": Traits(flow=Flow.END),
    **{f"{one.strip()};": PLAIN for one in PLAIN_SAMPLES.split(";") if one.strip()},
}


def module_of(body: str) -> Module:
    """A kernel with these instructions between its first five and its last two."""
    text = HEAD.replace(".visible", ".func helper { ret; }\n.visible")
    text += (
        f"LABELS: .branchtargets MIDDLE, END;\n{body}\nMIDDLE:\nadd.u32 %r3, %r3, 1;\nEND: ret;\n}}"
    )
    return read(text)


def function_of(body: str) -> Function:
    return module_of(body).functions["k"]


def sample(text: str) -> Instruction:
    """The instruction of a sample."""
    body = function_of(text).body
    assert body is not None
    (found,) = body[5:-2]
    return found


@pytest.mark.parametrize("text", SAMPLES)
def test_what_it_declares(text: str) -> None:
    assert traits(sample(text)) == SAMPLES[text]


UNITS = {
    # CUDA Programming Guide, "Arithmetic Instructions": throughput by kind of operation; the
    # Kernel Profiling Guide, "Pipelines": XU computes approximations, LSU has shuffles too.
    Unit.TENSOR: "mma.sync wmma.mma wgmma.mma_async tcgen05.mma",
    Unit.SHARED: "ldmatrix stmatrix tcgen05.ld tcgen05.st tcgen05.cp tcgen05.alloc tcgen05.dealloc "
    "ld.shared st.shared::cta red.shared atom.shared ld.shared::cluster wmma.load.shared "
    "tensormap.replace",
    Unit.GLOBAL: "ld.global st.global ldu.global red.global atom.global ld.acquire st wmma.load "
    "prefetch.global prefetchu applypriority.global discard.global",
    Unit.NEAR: "ld.param st.param ld.const ld.local st.local",
    Unit.COPY: "cp.async.ca cp.async.bulk.shared::cluster.mbarrier::complete_tx::bytes "
    "cp.async.bulk.tensor cp.reduce.async.bulk cp.async.bulk.prefetch "
    "clusterlaunchcontrol.try_cancel",
    Unit.EXCHANGE: "shfl.sync movmatrix",
    Unit.SYNC: "bar.sync barrier.cluster mbarrier.try_wait fence.proxy membar.cta wgmma.fence "
    "wgmma.commit_group wgmma.wait_group tcgen05.commit tcgen05.wait::ld "
    "tcgen05.fence::after_thread_sync cp.async.commit_group cp.async.wait_all "
    "cp.async.bulk.wait_group cp.async.mbarrier griddepcontrol.wait setmaxnreg.inc nanosleep "
    "tensormap.cp_fenceproxy",
    Unit.CONTROL: "bra brx ret exit trap call brkpt pmevent vote.sync activemask match elect redux",
    Unit.SPECIAL: "ex2.approx lg2.approx sin.approx cos.approx tanh.approx rcp.rn rsqrt.approx "
    "sqrt.rn div.full.f32 div.approx.f32",
    Unit.ARITHMETIC: "add.f32 fma.rn cvt.rn setp.lt mov cvta isspacep mapa getctarank vadd "
    "createpolicy div.u32 lop3 prmt dp4a clusterlaunchcontrol.query_cancel",
}
"""The unit of some of each opcode."""


@pytest.mark.parametrize("expected", UNITS, ids=lambda one: one.name)
def test_the_unit_it_goes_to(expected: Unit) -> None:
    for text in UNITS[expected].split():
        opcode, *modifiers = text.split(".")
        assert unit(instruction(opcode, tuple(modifiers))) is expected, text


def test_every_opcode_has_a_unit_here() -> None:
    known = {text.split(".")[0] for texts in UNITS.values() for text in texts.split()}
    video = {name for name in registry.opcodes() if name[0] == "v"}  # all of them compute
    assert known >= set(registry.opcodes()) - video


def test_every_opcode_has_a_sample() -> None:
    assert {text.partition(".")[0].split()[0].strip(";") for text in SAMPLES} >= set(
        registry.opcodes()
    )


@pytest.mark.parametrize("opcode", sorted(set(alu.opcodes()) - set(registry.opcodes())))
def test_what_computes_on_registers_is_plain(opcode: str) -> None:
    for modifiers, _ in alu.forms(opcode):
        assert traits(instruction(opcode, modifiers)) == PLAIN


def instruction(opcode: str, modifiers: tuple[str, ...]) -> Instruction:
    scope = sample("ret;").scope
    return Instruction(opcode, modifiers, (), None, False, 0, scope, None)


def bound(module: Module) -> list[tuple[Instruction, Waits | None]]:
    """Instructions that are bound as steps, with what each waits for."""
    function = module.functions["k"]
    machine = Machine(Geometry((1, 1, 1), (32, 1, 1)), Memory(), arch="sm_100a", numerics="exact")
    placement = Placement(module, function, machine.memory, 0)
    machine.memory.build(placement.shared_bytes, 1, 1)
    machine.begin([0])
    program = Program(placement, machine)
    frame, translator = Frame(program, function), Translator(program)
    codes = [translator.code(frame, number) for number in range(len(frame.blocks))]
    return [(i, s) for code in codes for i, s in zip(code.instructions, code.syncs, strict=True)]


@pytest.mark.parametrize("text", [t for t, what in SAMPLES.items() if what.flow is Flow.NEXT])
def test_it_waits_for_whom_it_says(text: str) -> None:
    name = sample(text).mnemonic
    (sync,) = [sync for found, sync in bound(module_of(text)) if found.mnemonic == name][-1:]
    expected = {
        Sync.NONE: type(None),
        Sync.WARP: Members,
        Sync.CTA: BarrierSync,
        Sync.WARPGROUP: Members | Gate,
        Sync.CLUSTER: Members | Gate,
    }
    assert isinstance(sync, expected[SAMPLES[text].sync])
    if SAMPLES[text].sync is Sync.WARPGROUP and isinstance(sync, Members):
        assert sync.warps == 4


def test_an_opcode_is_bound_once() -> None:
    with pytest.raises(ValueError, match="'ld' is bound twice"):
        registry.instruction("ld", traits=PLAIN)(lambda _: lambda: None)
    with pytest.raises(ValueError, match="'ret' ends a block twice"):
        registry.ending("ret", traits=PLAIN)(lambda _: None)


# Instructions of this file's own


@contextmanager
def toy(
    traits: Declaration = UNKNOWN, undefined: flows.Finder = flows.half_or_whole
) -> Iterator[None]:
    """`toy.add` adds 5, `toy.put` stores a byte of shared memory; with traits, or without any."""
    registry.instruction("toy", traits=traits, undefined=undefined)(bind_toy)
    try:
        yield
    finally:
        registry.forget("toy")


def bind_toy(binding: Binding) -> Step:
    machine, registers = binding.machine, binding.machine.registers
    if "add" in binding.modifiers:
        target, source = binding.expect(2)
        to, from_ = binding.target(target, "u32"), binding.source(source, "u32")
        assert to is not None
        return lambda: machine.write(to, registers[from_] + np.uint32(5))
    address, value = binding.expect(2)
    locate, from_ = binding.locate(address, ("shared",)), binding.source(value, "u8")
    where, memory = binding.instruction, machine.memory

    def put() -> None:
        for space, offsets, active in locate():
            mask = active
            if machine.observer is not None:
                mask = machine.observer.access(where, space, offsets, 1, mask, Access.WRITE)
            memory.store(space.place(offsets), 8, registers[from_], mask)

    return put


def run(body: str, threads: int = 64) -> tuple[Report, np.ndarray]:
    x = np.zeros(threads, np.uint32)
    return launch(
        f"{HEAD}{body}\n st.global.u32 [%rd2], %r9;\n ret;\n}}\n", "k", 1, threads, [x]
    ), x


@pytest.mark.parametrize("declared", [{}, {"traits": PLAIN}], ids=["undeclared", "declared"])
def test_a_toy_instruction_runs(declared: dict[str, Traits]) -> None:
    body = """
  mov.u32 %r9, %r1; setp.lt.u32 %p1, %r1, 40;
L: @%p1 toy.add.u32 %r9, %r9;
  @!%p1 bra END; setp.lt.u32 %p1, %r9, 60; bra L;
END:"""
    with toy(**declared):
        assert check(f"{HEAD}{body}\n ret; }}") == []
        report, x = run(body)
    report.require_ok()
    # From below 40 in steps of 5 to the first that is not below 60; the others stay.
    threads = np.arange(64)
    assert np.array_equal(x, np.where(threads < 40, threads + 5 * -(-(60 - threads) // 5), threads))
    assert report.instructions["toy"] > 2
    assert report.barriers == 0
    assert any(
        "unsupported" in str(error) or "toy" in str(error)
        for error in check(f"{HEAD}{body}\n ret; }}")
    )


@pytest.mark.parametrize("declared", [{}, {"traits": PLAIN}], ids=["undeclared", "declared"])
def test_what_a_toy_instruction_touches_is_checked(declared: dict[str, Traits]) -> None:
    """Bytes, where all that is known to touch memory touches words of 16."""
    body = """
  mad.lo.u32 %r3, %r1, 16, %r2; st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1}; bar.sync 0;
  add.u32 %r4, %r2, PLACE; toy.put.shared.u8 [%r4], 7; bar.warp.sync -1;
  @%p1 ld.shared.u8 %r9, [%r4];"""
    # of the first warp; the last thread's byte is there last
    some = "mov.u32 %r9, 0; setp.eq.u32 %p1, %r1, 4;"
    with toy(**declared):
        run(some + body.replace("PLACE", "%r1"))[0].require_ok()
        report, _ = run(some + body.replace("PLACE", "0"))
    assert {f.kind for f in report.findings} == {"race"}


@pytest.mark.parametrize(
    ("undefined", "body", "found"),
    [
        (flows.smear, "and.b32 %r9, %r3, 0x100;", "stores to global memory"),
        (flows.decide, "and.b32 %r9, %r3, 0x100;", "stores to global memory"),
        (flows.decide, "and.b32 %r9, %r3, 0xff;", ""),
        (flows.harm, "mov.u32 %r9, 0;", "has an operand made of"),
    ],
)
def test_how_undefined_bits_go_through_a_toy_instruction(
    undefined: flows.Finder, body: str, found: str
) -> None:
    """It adds 5 to what nothing has written, but for the lowest 8 bits."""
    read = "ld.shared.u32 %r9, [%r2]; shl.b32 %r9, %r9, 8;"
    with toy(traits=PLAIN, undefined=undefined):
        report, _ = run(f"{read} toy.add.u32 %r3, %r9; {body}")
    assert [f.kind for f in report.findings] == ["uninitialised"] * bool(found)
    assert all(found in f.message for f in report.findings)


def products(between: str) -> Function:
    mma = (
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f4, %f5, %f6, %f7}, "
        "{%r3, %r4, %r5, %r6}, {%r7, %r8}, {%f0, %f1, %f2, %f3};"
    )
    next_ = mma.replace("%f0, %f1, %f2, %f3", "%f4, %f5, %f6, %f7", 1).replace(
        "{%f4, %f5, %f6, %f7}", "{%f8, %f9, %f10, %f11}", 1
    )
    return function_of(f"{mma} {between} {next_}")


def test_what_is_not_known_is_taken_for_the_worst() -> None:
    """A guard becomes a branch, chains of products end, and CTAs may wait for each other."""
    guarded = function_of("@%p1 toy.add.u32 %r9, %r9; @%p1 add.u32 %r9, %r9, 1;")
    with toy():
        assert traits(sample("toy.add.u32 %r9, %r9;")) == UNKNOWN
        unknown = [block.gate for block in blocks(guarded)]
        cut = chained(products("toy.add.u32 %r9, %r9;").body or [], uses())
        many = waves("toy.add.u32 %r9, %r9;")
    with toy(traits=PLAIN):
        plain = [block.gate for block in blocks(guarded)]
        kept = chained(products("toy.add.u32 %r9, %r9;").body or [], uses())
        few = waves("toy.add.u32 %r9, %r9;")
    assert any(unknown)
    assert not any(plain)
    assert len(kept) == 1
    assert not cut
    assert many > few == waves("add.u32 %r9, %r9, 5;")


def uses() -> dict[str, int]:
    return {f"%f{n}": 2 if 4 <= n < 8 else 1 for n in range(12)}


def waves(body: str) -> int:
    """CTAs of 256 threads that are in flight at once."""
    module = module_of(body)
    placement = Placement(module, module.functions["k"], Memory(), 0)
    return resident_ctas(placement, Geometry((4096, 1, 1), (256, 1, 1)))


def test_a_toy_instruction_that_brings_lanes_together() -> None:
    """With `sync` in its traits, and what it waits for set where it is bound, it meets its warp."""

    def bind(binding: Binding) -> Step:
        step = bind_toy(binding)
        binding.sync = Members()
        return step

    body = """
  mov.u32 %r9, %r1; and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN;
  add.u32 %r9, %r9, 100;
EVEN: toy.add.u32 %r9, %r9; activemask.b32 %r9;"""
    registry.instruction("toy", traits=WARP)(bind)
    try:
        report, x = run(body)
    finally:
        registry.forget("toy")
    report.require_ok()
    assert (x == 0xFFFFFFFF).all()
