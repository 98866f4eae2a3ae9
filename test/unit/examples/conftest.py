"""Compiling the examples and running them on the simulator."""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.launch.abi import MemRef
from tilec.sim import launch

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.mlir"))


@cache
def compiled(name: str, target: str) -> Any:
    """The example `name`.mlir."""
    return tilec.compile(EXAMPLES / f"{name}.mlir", target=target)


def imported(path: Path) -> ModuleType:
    """A file as a module."""
    spec = importlib.util.spec_from_file_location(f"examples_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def script(name: str) -> ModuleType:
    """The example `name`.py as a module."""
    sys.path.insert(0, str(EXAMPLES))  # as if run as a program
    try:
        return imported(EXAMPLES / f"{name}.py")
    finally:
        sys.path.remove(str(EXAMPLES))


def passed(argument: Any, array: Any) -> list[Any]:
    """What the launch passes for an argument: of an array its memory, sizes and strides."""
    if not isinstance(argument, MemRef):
        return [array]
    memory = array
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    strides = [step // array.itemsize for step in array.strides]
    values: list[Any] = [memory]
    values += [n for n, known in zip(array.shape, argument.shape, strict=True) if known is None]
    values += [n for n, known in zip(strides, argument.strides, strict=True) if known is None]
    return values


def run(
    program: Any,
    kernel: str,
    grid: Sequence[int],
    arrays: Sequence[Any],
    *,
    target: str = "sm_80",
    **options: Any,
) -> Any:
    """Run a kernel of an example, or of what `tilec.compile` returned, on arrays.

    Arrays may be views of C-contiguous memory that begin where it does. The simulator finds
    nothing wrong: no race, no access out of bounds, no read of what is not there yet.
    """
    if isinstance(program, str):
        program = compiled(program, target)
    (found,) = [k for k in program.kernels if k.name == kernel]
    args = [
        value
        for argument, array in zip(found.arguments, arrays, strict=True)
        for value in passed(argument, array)
    ]
    report = launch(
        program.ptx,
        kernel,
        grid,
        found.block,
        args,
        arch=target,
        dynamic_smem=found.dynamic_shared,
        **options,
    )
    assert not report.findings, "\n".join(map(str, report.findings))
    return report


@pytest.fixture(name="run")
def _run() -> Callable[..., Any]:
    return run


@pytest.fixture(name="compiled")
def _compiled() -> Callable[[str, str], Any]:
    return compiled


@pytest.fixture(name="script")
def _script() -> Callable[[str], ModuleType]:
    return script


@pytest.fixture(scope="session")
def plain() -> ModuleType:
    """The plain instructions."""
    return imported(Path(__file__).with_name("plain_instructions.py"))


@pytest.fixture
def rng() -> Any:
    """Random numbers, the same in each run."""
    return np.random.default_rng(20261121)
