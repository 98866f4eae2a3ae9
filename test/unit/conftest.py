"""ptxas as a judge: the assemblers at hand; other compilers; GPUs out of sight."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tilec.isa import PtxVersion, Target, TilecError
from tilec.passes.base import ProgramError

from .wording import faults

# On a machine that has much else to do the same examples are as right as on an idle one.
settings.register_profile("tilec", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tilec")
os.environ["TILEC_CACHE"] = "0"  # what is tested is compiled, and nobody's cache is written to
os.environ["TILEC_SIM_PROCESSES"] = "1"  # the tests themselves run on all cores

# Below sm_75 no ptxas at hand makes code, but it checks a module's `.target`; sm_101 is sm_110's
# older name.
_ARCHITECTURES = {70: "sm_75", 72: "sm_75", 101: "sm_110"}
_HEADER = """.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128]) {{
.reg .b32 %r<129>; .reg .f32 %f<129>; .reg .f64 %d<16>; .reg .b64 %p;
"""
# A last line that is refused for certain: the module is checked, and no time goes into its code.
_FOOTER = "add.s32 %f0, %f0, %f0;\n}\n"


@pytest.fixture(scope="session", autouse=True)
def worded() -> Iterator[None]:
    """Every message of an error that any test meets is in English, as far as rules can see.

    Not what MLIR says, which errors in programs carry beside tilec's own.
    """
    found: dict[str, None] = {}
    original = TilecError.__init__

    def check(self: TilecError, *args: object) -> None:
        original(self, *args)
        if args and not isinstance(self, ProgramError):
            found.update(dict.fromkeys(faults(str(args[0]))))

    TilecError.__init__ = check  # type: ignore[method-assign]
    yield
    TilecError.__init__ = original  # type: ignore[method-assign]
    assert not found, "\n".join(["wording of messages:", *found])


def pytest_collection_finish() -> None:
    """Spare garbage collections what stays to the end: half a million objects, 0.2 s each time."""
    gc.collect()
    gc.freeze()


@dataclass(frozen=True)
class Ptxas:
    """One ptxas: its path, the newest PTX version and the architectures that it knows."""

    path: str
    newest: PtxVersion
    architectures: frozenset[str]
    folder: Path

    def run(self, text: str, architecture: str, *options: str) -> tuple[int, str]:
        """Assemble a module; exit status and standard error."""
        source = self.folder / "module.ptx"
        source.write_text(text)
        command = [self.path, f"-arch={architecture}", str(source), "-o", str(source) + ".cubin"]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        report = [line for line in done.stderr.splitlines() if "Advisory" not in line]
        return done.returncode, "\n".join(report)

    def architecture(self, target: Target) -> str | None:
        """What to assemble a module of this target for; None where it cannot."""
        other = _ARCHITECTURES.get(target.number)
        name = f"{other}{target.scope}" if other else target.name
        return name if name in self.architectures else None

    def refusals(
        self, lines: list[str], target: Target, version: PtxVersion, *, features: bool = False
    ) -> dict[int, str]:
        """The complaint about each of these instructions that is refused, by index.

        With `features`, only what target and version lack is asked for, which takes one short run.
        """
        architecture = self.architecture(target)
        assert architecture is not None
        header = _HEADER.format(version=version, target=target)
        first = header.count("\n") + 1
        refused: dict[int, str] = {}
        left = list(range(len(lines)))
        while True:
            body = "".join(f"{lines[i]}\n" for i in left)
            ending = _FOOTER if features else "ret;\n}\n"
            status, report = self.run(header + body + ending, architecture)
            complaints = re.findall(r", line (\d+); (?:error|fatal) +: (.*)", report)
            assert complaints or status == 0, report
            found = {int(number) - first: what for number, what in complaints}
            found.pop(len(left), None)
            refused |= {left[index]: what for index, what in found.items()}
            # ptxas checks in several goes, each only if the one before it found nothing.
            if features or not found:
                return refused
            left = [i for i in left if i not in refused]


def _find(folder: Path) -> Iterable[Ptxas]:
    paths = [shutil.which("ptxas")]
    spec = find_spec("nvidia")  # the namespace of NVIDIA's wheels
    for root in (spec.submodule_search_locations if spec else None) or ():
        paths += map(str, sorted(Path(root).glob("*/bin/ptxas")))
    for path in dict.fromkeys(p for p in paths if p):
        probe = Ptxas(path, PtxVersion(0, 0), frozenset(), folder)
        _, report = probe.run(".version 99.0\n.target sm_90\n", "sm_90")
        version = re.search(r"current version is '([\d.]+)'", report)
        assert version, report
        listed = subprocess.run([path, "--help"], capture_output=True, text=True, check=True).stdout
        names = frozenset(re.findall(r"'(sm_\d+[af]?)'", listed))
        yield Ptxas(path, PtxVersion.parse(version[1]), names, folder)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unit tests give the same on a machine with a GPU: the driver does not show it."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


@pytest.fixture(scope="session")
def assemblers(tmp_path_factory: pytest.TempPathFactory) -> list[Ptxas]:
    """Every ptxas at hand: on PATH, and in NVIDIA's wheels."""
    found = list(_find(tmp_path_factory.mktemp("ptxas")))
    if not found:
        pytest.skip("no ptxas at hand: install the extra 'ptxas' or put one on PATH")
    return found


@pytest.fixture(scope="session")
def assemblers_for(assemblers: list[Ptxas]) -> Callable[..., list[Ptxas]]:
    """Those of the assemblers that know a target, and a version of PTX; the oldest first.

    A test that asks where there is none is skipped, and says what it needs.
    """

    def know(target: Target, version: PtxVersion | None = None) -> list[Ptxas]:
        least = version or target.min_ptx
        found = [a for a in assemblers if a.architecture(target) and a.newest >= least]
        if not found:
            newest = max(a.newest for a in assemblers)
            pytest.skip(f"needs a ptxas for {target} and PTX {least}; at hand: up to {newest}")
        return sorted(found, key=lambda a: a.newest)

    return know


@pytest.fixture(scope="session")
def compilers() -> Iterator[Callable[..., Callable[..., dict[str, Any]]]]:
    """Starts `server.py`, another compiler, as a process; what is returned asks it.

    A request is a line of JSON, and so is the answer; one that was made before is not made again.
    """
    started: list[subprocess.Popen[str]] = []

    def start(server: Path, **environment: str) -> Callable[..., dict[str, Any]]:
        process = subprocess.Popen(
            [sys.executable, str(server)],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        known: dict[str, dict[str, Any]] = {}

        def ask(**request: Any) -> dict[str, Any]:
            line = json.dumps(request)
            if line not in known:
                assert process.stdin
                assert process.stdout
                print(line, file=process.stdin, flush=True)
                known[line] = json.loads(process.stdout.readline())
            return known[line]

        return ask

    yield start
    for process in started:
        process.communicate()
