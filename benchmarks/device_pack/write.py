"""The folder of a pack."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tilec
import tilec.isa
import tilec.layout
import tilec.runtime
import tilec.sim
from device_run.pools import digests
from device_run.programs import Program
from tilec.backend.cubin import assemble, tools
from tilec.isa import Form
from tilec.isa import target as find_target

from .expect import all_finished
from .forms import Module, groups
from .kernels import TimedKernel
from .programs import Packed

BENCHMARKS = Path(__file__).resolve().parents[1]
CARRIED = (tilec.isa, tilec.layout, tilec.runtime, tilec.sim)
"""Parts of tilec that a pack carries: those that need no MLIR."""


def write(
    folder: Path,
    target: str,
    *,
    chosen: Sequence[Form],
    elements: int,
    kernels: Iterable[TimedKernel],
    suite: Iterable[tuple[dict[str, Any], list[TimedKernel]]],
    with_programs: bool,
    jobs: int,
    say: Callable[[str], None],
) -> None:
    """Write a pack; what the folder held before is replaced.

    Args:
        folder: where to.
        target: that the kernels are for.
        chosen: instruction forms that are tried.
        elements: of results, for each form.
        kernels: that are timed.
        suite: cases of `device_pack.suite`.
        with_programs: whether whole programs are tried.
        jobs: processes that simulate.
        say: told what is done.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _carry(folder)
    modules = []
    (folder / "forms").mkdir()
    for module in all_finished(list(groups(chosen, find_target(target))), target, elements, jobs):
        _module(folder / "forms" / f"{module.name}.ptx", module.ptx, target)
        modules.append(module)
        say(f"{module.name}: {len(module.trials)} kernels")
    _json(folder / "forms.json", [_form_module(module) for module in modules])
    (folder / "kernels").mkdir()
    fields = []
    for kernel in kernels:
        _module(folder / "kernels" / f"{kernel.name}.ptx", kernel.ptx, target)
        fields.append(kernel.fields)
        say(kernel.name)
    _json(folder / "kernels.json", fields)
    cases = []
    for case, steps in suite:
        for kernel in steps:
            _module(folder / "kernels" / f"{kernel.name}.ptx", kernel.ptx, target)
        cases.append(case)
        say(f"kernels: {case['name']}")
    _json(folder / "suite.json", cases)
    whole = _programs(folder, target, say) if with_programs else []
    _json(folder / "programs.json", [program.json() for program in whole])
    pools = [
        name
        for module in modules
        for trial in module.trials
        for place in trial.places
        for name in place.pools.values()
    ]
    pools += [one.pool for program in whole for one in program.passed if one.pool]
    about = {
        "target": target,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {name: version(name) for name in ("tilec", "llvmlite", "torch-mlir")},
        "pools": digests(pools),
    }
    _json(folder / "pack.json", about)


def _carry(folder: Path) -> None:
    """The code that runs there."""
    nothing = shutil.ignore_patterns("__pycache__")
    shutil.copy(BENCHMARKS / "run_device.py", folder)
    shutil.copytree(BENCHMARKS / "device_run", folder / "device_run", ignore=nothing)
    (folder / "tilec").mkdir()
    assert tilec.__file__
    for name in ("__init__.py", "version.py"):
        shutil.copy(Path(tilec.__file__).parent / name, folder / "tilec")
    for package in CARRIED:
        (source,) = package.__path__
        name = package.__name__.rpartition(".")[2]
        shutil.copytree(source, folder / "tilec" / name, ignore=nothing)


def _programs(folder: Path, target: str, say: Callable[[str], None]) -> list[Program]:
    """Whole programs, their PTX and data."""
    found = []
    (folder / "programs").mkdir()
    packed = Packed(target)
    for program, ptx in packed.all():
        (folder / program.file).write_text(ptx, encoding="utf-8")
        found.append(program)
        say(program.name)
    (folder / "programs.bin").write_bytes(packed.data)
    return found


def _module(path: Path, ptx: str, target: str) -> None:
    """PTX and, where ptxas is installed, its cubin, which saves time beside the GPU."""
    path.write_text(ptx, encoding="utf-8")
    if tools("ptxas"):
        path.with_suffix(".cubin").write_bytes(assemble(ptx, find_target(target)).cubin)


def _form_module(module: Module) -> dict[str, Any]:
    version_ = module.ptx.split(".version ", 1)[1].split(maxsplit=1)[0]
    trials = [trial.json() for trial in module.trials]
    return {"name": module.name, "ptx": version_, "trials": trials}


def _json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
