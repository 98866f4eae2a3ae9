"""The same program gives the same PTX, byte for byte, in any process and any context."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tilec
from tilec.backend import codegen
from tilec.ir.mlir import ir

Outcome = subprocess.CompletedProcess[str]
EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.mlir"))

DIGEST = """
import hashlib, pathlib, sys, tilec
for path in sys.argv[1:]:
    compiled = tilec.compile(pathlib.Path(path))
    text = compiled.tile + compiled.nvvm + compiled.llvm + compiled.ptx + str(compiled.abi)
    print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_other_processes(python: Callable[..., Outcome]) -> None:
    paths = [str(path) for path in EXAMPLES]
    first = python(DIGEST, *paths, PYTHONHASHSEED="1")
    second = python(DIGEST, *reversed(paths), PYTHONHASHSEED="2")
    assert first.stdout.count("\n") == len(paths), first.stderr
    assert first.stdout.split() == list(reversed(second.stdout.split()))


def test_one_process_again_and_again(scale: str) -> None:
    first = tilec.compile(scale)
    assert {tilec.compile(scale).ptx for _ in range(3)} == {first.ptx}


def test_contexts_in_turn_and_at_once(scale: str) -> None:
    """Each compilation has a context of its own; the dialect loads into every one."""
    sources = [scale, scale.replace("mulf", "addf")] * 3
    expected = [hashlib.sha256(tilec.compile(s).ptx.encode()).digest() for s in sources]
    kept = [tilec.compile(s, emit="tile") for s in sources]  # alive, and taken up later
    assert [hashlib.sha256(c.ptx.encode()).digest() for c in reversed(kept)] == expected[::-1]


def test_threads(scale: str) -> None:
    sources = [scale.replace("@scale", f"@scale{i}") for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda s: tilec.compile(s).ptx, sources))
    assert found == [tilec.compile(s).ptx for s in sources]


def test_module_is_left_as_it_is(scale: str) -> None:
    with ir.Context():
        module = ir.Module.parse(scale)
        before = str(module)
        compiled = tilec.compile(module, target="sm_90a")
        assert ".target sm_90a" in compiled.ptx
        assert str(module) == before


def test_every_stage_on_demand(scale: str) -> None:
    compiled = tilec.compile(scale, emit="tile")
    assert compiled.cubin[:4] == b"\x7fELF"
    assert "FMUL" in compiled.sass
    assert compiled.resources["scale"].registers > 0
    assert compiled.kernels[0].name == "scale"
    assert "define ptx_kernel void @scale" in compiled.llvm
    assert "llvm.func @scale" in compiled.nvvm
    assert "gpu.func @scale" in compiled.tile


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"emit": "asm"}, "unknown stage 'asm'; legal: tile, nvvm, llvm, ptx, cubin, sass"),
        ({"opt_level": 4}, "unknown optimisation level 4; legal: 0, 1, 2, 3"),
        ({"target": "sm_99"}, "unknown target 'sm_99'"),
    ],
)
def test_wrong_arguments(scale: str, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(tilec.TilecError, match=message):
        tilec.compile(scale, **arguments)  # type: ignore[arg-type]


def test_worker_of_another_process_is_not_used(scale: str, python: Callable[..., Outcome]) -> None:
    """After a fork, the child has a worker of its own; both go on."""
    code = """
import os, sys, tilec
source = sys.stdin.read()
first = tilec.compile(source).ptx
pid = os.fork()
if pid == 0:
    os._exit(0 if tilec.compile(source).ptx == first else 1)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), tilec.compile(source).ptx == first)
"""
    done = python(code, stdin=scale)
    assert done.stdout == "0 True\n", done.stderr


def test_worker_ends_with_its_process(scale: str, python: Callable[..., Outcome]) -> None:
    code = """
import sys, tilec
from tilec.backend import codegen
tilec.compile(sys.stdin.read())
print(codegen._worker[0].process.pid)
"""
    done = python(code, stdin=scale)
    pid = int(done.stdout)
    assert not Path(f"/proc/{pid}").exists() or sys.platform != "linux"


def kill_at_work(monkeypatch: pytest.MonkeyPatch, times: int, signal_: int) -> list[int]:
    """Has workers get a signal when they are asked; the list gets the processes."""
    ended: list[int] = []
    ask = codegen._Worker.ask

    def die(worker: codegen._Worker, request: Any) -> Any:
        if len(ended) < times:
            ended.append(worker.process.pid)
            worker.process.send_signal(signal_)
            worker.process.wait()
        return ask(worker, request)

    monkeypatch.setattr(codegen._Worker, "ask", die)
    return ended


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_killed_at_work_is_replaced(
    signal_: int, scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tilec.compile(scale).ptx
    ended = kill_at_work(monkeypatch, 2, signal_)
    assert tilec.compile(scale).ptx == before
    assert len(set(ended)) == 2


def test_workers_that_are_always_killed_are_an_error(
    scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tilec.compile(scale).ptx
    with monkeypatch.context() as patched:
        kill_at_work(patched, 99, signal.SIGKILL)
        with pytest.raises(codegen.CodegenError, match="was killed 3 times"):
            tilec.compile(scale)
    assert tilec.compile(scale).ptx == before


def test_a_worker_that_dies_of_its_work_is_not_asked_twice(
    scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tilec.compile(scale).ptx
    with monkeypatch.context() as patched:
        ended = kill_at_work(patched, 99, signal.SIGABRT)
        with pytest.raises(codegen.CodegenError, match="ended without a message"):
            tilec.compile(scale)
    assert len(ended) == 1
    assert tilec.compile(scale).ptx == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forks_while_a_thread_compiles(python: Callable[..., Outcome], scale: str) -> None:
    """A child waits for nothing that a thread of its parent was about to do."""
    code = """
import os, signal, sys, threading, time, warnings, tilec
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # 3.12
source = sys.stdin.read()
first = tilec.compile(source).ptx
going = True
def compile_on():
    while going:
        assert tilec.compile(source).ptx == first
thread = threading.Thread(target=compile_on)
thread.start()
children = []
for number in range(8):
    time.sleep(0.011 * number)
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        os._exit(tilec.compile(source).ptx != first)
    children.append(pid)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children])
going = False
thread.join()
"""
    done = python(code, stdin=scale)
    assert done.stdout == f"{[0] * 8}\n", done.stderr
    assert done.stderr == ""


def test_a_worker_killed_while_it_waits_is_replaced(scale: str) -> None:
    before = tilec.compile(scale).ptx
    codegen._worker[0].process.kill()
    codegen._worker[0].process.wait()
    assert tilec.compile(scale).ptx == before


def test_an_old_worker_is_replaced(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimiser of llvmlite leaks."""
    before = tilec.compile(scale).ptx
    monkeypatch.setattr(codegen, "_RETIREMENT", codegen._worker[0].served + 1)
    old = codegen._worker[0].process
    assert tilec.compile(scale).ptx == before
    assert old.poll() == 0
    assert tilec.compile(scale).ptx == before


def test_interrupted_compilation(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while LLVM works ends that worker, whose reply nobody reads; the next one serves."""
    before = tilec.compile(scale).ptx
    worker = codegen._worker[0]

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(codegen.marshal, "load", interrupt)
        with pytest.raises(KeyboardInterrupt):
            tilec.compile(scale.replace("@scale", "@other"))
    assert worker.process.poll() is not None
    assert tilec.compile(scale).ptx == before
