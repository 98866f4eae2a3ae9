"""What a launch leaves bound, and the next one begins with: nothing else of it is left."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from dataclasses import asdict
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from tilec.sim import LaunchError, launch, read
from tilec.sim.bound import Bound
from tilec.sim.native import choice
from tilec.sim.ptx import Module
from tilec.sim.ptx.module import KEPT
from tilec.sim.run import Run

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.global .u32 counter = 7;
.global .align 1 .b8 text[10] = {67, 84, 65, 32, 37, 100, 10, 0};
.shared .align 128 .b8 tile[1024];
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{
 .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<9>;
 .local .align 8 .b8 words[16];
 ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [y]; ld.param.u32 %r9, [n];
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r11, %ntid.x;
 setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, %r9;
 mad.lo.u32 %r3, %r2, %r11, %r1; mul.wide.u32 %rd4, %r3, 4;
 add.s64 %rd5, %rd2, %rd4; add.s64 %rd6, %rd3, %rd4;
 mov.u32 %r4, tile; shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r4; xor.b32 %r6, %r5, 4;
"""
DOUBLE = "ld.global.f32 %f1, [%rd5]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd6], %f1;"
PRINT = """@!%p1 bra done;
 mov.b64 %rd7, words; cvta.local.u64 %rd8, %rd7; st.local.u32 [words], %r2;
 mov.b64 %rd9, text; cvta.global.u64 %rd9, %rd9; { .param .b64 f; .param .b64 a; .param .b32 r;
 st.param.b64 [f], %rd9; st.param.b64 [a], %rd8; call (r), vprintf, (f, a); }"""
ALLOCATE = """@!%p1 bra done; mov.u64 %rd7, 16;
 { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd7; call (r), malloc, (n);
 ld.param.b64 %rd8, [r]; } st.u32 [%rd8], %r2; ld.u32 %r7, [%rd8]; st.global.u32 [%rd6], %r7;"""
BODIES = {
    "memory": DOUBLE,
    "what is printed": PRINT,
    "a heap": ALLOCATE,
    "a variable of the module": "atom.global.add.u32 %r7, [counter], 1; "
    "red.global.max.u32 [%rd6], %r7;",
    "shared memory": "st.shared.u32 [%r5], %r1; bar.sync 0; ld.shared.u32 %r7, [%r6]; "
    "st.global.u32 [%rd6], %r7;",
    "what is read before it is written": "add.u32 %r7, %r30, %r1; and.b32 %r7, %r7, 0; "
    "add.u32 %r30, %r7, %r1; st.global.u32 [%rd6], %r30;",
    "what nothing has written": "ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd6], %r7;",
    "what a later block reads": "ld.shared.u32 %r7, [%r6]; @%p2 bra again; again: "
    "add.u32 %r30, %r31, 1; st.global.u32 [%rd6], %r30;",
    "a race": "st.shared.u32 [%r5], %r1; ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd6], %r7;",
    "a race between CTAs": "st.global.u32 [%rd3], %r2;",
    "outside of memory": f"{DOUBLE} @%p2 st.global.f32 [%rd6+65536], %f1;",
    "a grid's extent": "mov.u32 %r7, %nctaid.x; mov.u32 %r8, %smid; mad.lo.u32 %r7, %r7, 64, %r8; "
    "st.global.u32 [%rd6], %r7;",
    "an mbarrier": """@%p1 mbarrier.init.shared.b64 [tile], 64; bar.sync 0;
 mbarrier.arrive.shared.b64 %rd7, [tile];
 wait: mbarrier.test_wait.shared.b64 %p3, [tile], %rd7; @!%p3 bra wait; """
    + DOUBLE,
    "a bulk copy": """@%p1 mbarrier.init.shared.b64 [tile+512], 1;
 @%p1 fence.proxy.async.shared::cta; bar.sync 0;
 mul.wide.u32 %rd7, %r2, 256; add.s64 %rd7, %rd7, %rd2;
 @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [tile+512], 256;
 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd7], 256,
 [tile+512];
 wait: mbarrier.try_wait.parity.shared.b64 %p3, [tile+512], 0; @!%p3 bra wait;
 ld.shared.u32 %r7, [%r5]; st.global.u32 [%rd6], %r7;""",
    "a clock": "mov.u32 %r7, %clock; st.global.u32 [%rd6], %r7;",
    "many times": "mov.u32 %r7, 0; again: add.u32 %r8, %r8, %r7; st.shared.u32 [%r5], %r8; "
    "bar.sync 0; ld.shared.u32 %r8, [%r6]; bar.sync 0; add.u32 %r7, %r7, 1; "
    "setp.lt.u32 %p3, %r7, 40; @%p3 bra again; st.global.u32 [%rd6], %r8;",
    "an error": "@%p2 trap; " + DOUBLE,
}


def module(body: str) -> Module:
    if body is BODIES["many times"]:
        body = "mov.u32 %r8, 0; " + body
    return read(f"{HEAD} {body}\n done: ret; }}\n")


def arguments(ctas: int, n: int) -> list[Any]:
    rng = np.random.default_rng(ctas)
    x = rng.standard_normal(64 * ctas).astype(np.float32)
    return [x, np.zeros(64 * ctas, np.uint32), np.uint32(n)]


def outcome(of: Module, ctas: int, n: int, **more: Any) -> tuple[Any, bytes]:
    """What a launch gives: its report, or its error, and memory."""
    args = arguments(ctas, n)
    try:
        found: Any = asdict(launch(of, "k", ctas, 64, args, max_steps=20_000, **more))
    except Exception as error:
        found = type(error), str(error)
    return found, args[1].tobytes()


@pytest.fixture
def took(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each launch began with what another had left."""
    found: list[bool] = []
    kept = Bound.kept.__func__  # type: ignore[attr-defined]

    def noted(cls: type[Bound], *given: Any) -> Bound | None:
        one: Bound | None = kept(cls, *given)
        found.append(one is not None)
        return one

    monkeypatch.setattr(Bound, "kept", classmethod(noted))
    return found


@pytest.fixture(params=choice.ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(choice.VARIABLE, request.param)
    monkeypatch.setattr(choice, "AFTER", 1)
    monkeypatch.setattr(choice, "WORK", 0)
    return str(request.param)


@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize("name", BODIES)
def test_launches_give_what_a_first_one_gives(
    engine: str, took: list[bool], name: str, *, checks: bool
) -> None:
    """Of other grids, arrays and scalars, one after the other."""
    launches = [(3, 9), (3, 1), (1, 9), (200, 9), (200, 150), (3, 9)]
    expected = [outcome(module(BODIES[name]), *one, checks=checks) for one in launches]
    took.clear()
    same = module(BODIES[name])
    assert [outcome(same, *one, checks=checks) for one in launches] == expected
    assert not took[0]
    assert sum(took) >= 2


STATE_OF_CODE = {
    "registers", "_initial", "_special", "_constants", "written", "translator", "accesses",
    "threaded", "resolve", "_local_end", "started", "ended", "_local_room",
    "forgetting",
}  # fmt: skip
"""Attributes that what is bound may have changed: slots of registers, who is called."""


def equal(one: object, other: object, path: str, seen: set[int]) -> None:
    """Compare two objects of the simulator, and all that they hold."""
    if id(one) in seen:
        return
    seen.add(id(one))
    assert type(one) is type(other), path
    if isinstance(one, np.ndarray):
        assert np.array_equal(one, other), path  # type: ignore[arg-type]
    elif isinstance(one, dict):
        assert isinstance(other, dict)
        assert list(one) == list(other), path
        for key in one:
            equal(one[key], other[key], f"{path}[{key!r}]", seen)
    elif isinstance(one, list | tuple):
        assert isinstance(other, list | tuple)
        assert len(one) == len(other), path
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            equal(a, b, f"{path}[{number}]", seen)
    elif isinstance(one, Module) or callable(one):
        return
    elif type(one).__module__.startswith("tilec.sim"):
        for name in _names(one):
            if name not in STATE_OF_CODE:
                equal(getattr(one, name), getattr(other, name), f"{path}.{name}", seen)
    else:
        assert one == other, path


def _names(one: object) -> list[str]:
    slots = [name for cls in type(one).__mro__ for name in getattr(cls, "__slots__", ())]
    names = [*getattr(one, "__dict__", {}), *slots]
    return [name for name in names if hasattr(one, name)]


@pytest.mark.parametrize("name", [name for name in BODIES if name != "an error"])
def test_all_state_is_as_new(engine: str, took: list[bool], name: str) -> None:
    """Of the machine, memory and checks, when the next launch begins its first wave."""
    same = module(BODIES[name])
    outcome(same, 3, 9)
    args = arguments(200, 150)
    kept = Run(same, "k", 200, 64, args)
    new = Run(same, "k", 200, 64, args)  # there is nothing more to take
    assert took == [False, True, False]
    for run in (kept, new):
        run.machine.begin(range(100))
    equal(kept.machine, new.machine, "machine", set())


def test_what_is_read_in_blocks_that_are_reached_late(engine: str) -> None:
    """A register that nothing has written does harm, also if others are followed by then."""
    report = launch(module(BODIES["what a later block reads"]), "k", 2, 64, arguments(2, 9))
    assert [finding.kind for finding in report.findings] == ["uninitialised"]


def test_other_settings_are_bound_anew(took: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    same = module(DOUBLE)
    args = arguments(2, 0)
    launch(same, "k", 2, 64, args)
    others: list[dict[str, Any]] = [
        {"checks": False}, {"numerics": "fast"}, {"arch": "sm_100a"}, {"dynamic_smem": 64},
        {"cluster": 2},
    ]  # fmt: skip
    for one in others:
        launch(same, "k", 2, 64, args, **one)
    launch(same, "k", 4, 32, args)
    monkeypatch.setenv(choice.VARIABLE, "native")
    launch(same, "k", 2, 64, args)
    assert not any(took)


def test_launches_that_are_looked_at_leave_nothing(took: list[bool]) -> None:
    same = module(DOUBLE)
    for more in ({"every_order": True}, {"timeline": (0, 0, 0)}, {"recording": (0, 0, 0)}):
        launch(same, "k", 2, 64, arguments(2, 0), **more)
    launch(same, "k", 2, 64, arguments(2, 0))
    assert took == [False]


def test_after_an_error_nothing_is_left(took: list[bool]) -> None:
    same = module(BODIES["an error"])
    launch(same, "k", 2, 64, arguments(2, 5))
    launch(same, "k", 2, 64, arguments(2, 1))  # which traps
    launch(same, "k", 2, 64, arguments(2, 5))
    with pytest.raises(LaunchError):
        launch(same, "k", 2, 64, [1, 2])
    launch(same, "k", 2, 64, arguments(2, 5))
    assert took == [False, True, False, True, False]


def test_copies_have_nothing() -> None:
    """A copy of what has been launched is as one that has not; so is what is sent elsewhere."""
    same = module(DOUBLE)
    expected = outcome(same, 3, 9)
    assert same.functions["k"]._kept
    for other in (copy.deepcopy(same), pickle.loads(pickle.dumps(same))):
        assert not other.functions["k"]._kept
        assert outcome(other, 3, 9) == expected
    assert outcome(same, 3, 9) == expected


def test_few_are_kept() -> None:
    same = module(DOUBLE)
    for block in (32, 64, 96, 128, 160, 192):
        launch(same, "k", 2, block, arguments(6, 0))
    assert len(same.functions["k"]._kept) == KEPT


def test_two_threads_do_not_share_one(took: list[bool]) -> None:
    """One takes what was left, and the other binds anew."""
    same = module(BODIES["many times"])
    expected = outcome(same, 3, 9)
    found: list[Any] = []
    begin = threading.Barrier(2)

    def run() -> None:
        begin.wait()
        found.append(outcome(same, 3, 9))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 2


def held(of: Bound) -> int:
    """Bytes of all arrays that something is kept of."""
    found, seen, todo = 0, set[int](), list[object]([of])
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | Module):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            found += one.nbytes if one.base is None else 0
            todo.append(one.base)
        elif isinstance(one, FunctionType):
            todo += one.__closure__ or ()
        else:
            todo += gc.get_referents(one)
    return found


@pytest.mark.parametrize("name", ["many times", "a race", "a bulk copy"])
def test_arrays_are_not_held(engine: str, name: str) -> None:
    """What is kept does not grow with the arguments, or with the threads of a wave."""
    sizes = []
    for ctas in (1, 128):
        same = module(BODIES[name])
        for _ in range(3):
            launch(same, "k", ctas, 64, arguments(ctas, 0))
        (bound,) = same.functions["k"]._kept.values()
        assert isinstance(bound, Bound)
        sizes.append(held(bound))
    assert sizes[1] < sizes[0] + 40_000
    assert sizes[1] < 200_000
