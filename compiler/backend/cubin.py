"""From PTX to cubin and SASS with NVIDIA's own tools, of PATH or of their wheels."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tilec.isa import Target
from tilec.isa.wording import counted

from .external_tools import ANSWERS_WITHIN, AssemblerError, run_tool, scratch

_HEADER = struct.Struct("<4sB13xH20xQ10xHH2x")
"""Of an ELF file of 64 bits: magic, class, machine; where its section headers are, size, number."""
_EM_CUDA = 190

_RENAMED = {"101": "110"}
"""Architectures that the tools of today know by another number."""


@dataclass(frozen=True, slots=True)
class Tool:
    """An installed tool.

    Attributes:
        path: where it is.
        version: its release, (13, 0).
    """

    path: str
    version: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Resources:
    """What ptxas gives a kernel.

    Attributes:
        registers: 32-bit registers of a thread.
        spill_stores, spill_loads: bytes of a thread.
        stack: bytes of a thread's stack frame.
        static_shared: bytes of a CTA's static shared memory.
        barriers: named barriers.
    """

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    static_shared: int
    barriers: int


@dataclass(frozen=True, slots=True)
class Note:
    """What ptxas has to say of a module that it assembles.

    Attributes:
        message: its words, its number among them.
        severity: `remark` or `warning`.
        line: of the PTX that it names, perhaps roughly; 0 if none.
        function: the function that it names, or empty.
    """

    message: str
    severity: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Assembled:
    """What ptxas makes of a module.

    Attributes:
        cubin: the binary.
        resources: by kernel.
        assembler: which ptxas it was.
        notes: what it has to say, besides resources.
    """

    cubin: bytes
    resources: dict[str, Resources]
    assembler: Tool
    notes: tuple[Note, ...] = ()


def candidates(name: str) -> Iterator[str]:
    """Paths of the tools called `name`, on PATH and in NVIDIA's wheels."""
    on_path = shutil.which(name)
    if on_path:
        yield on_path
    spec = find_spec("nvidia")  # the namespace of NVIDIA's wheels
    for root in (spec.submodule_search_locations if spec else None) or ():
        yield from map(str, sorted(Path(root).glob(f"*/bin/{name}")))


@cache
def tools(name: str) -> tuple[Tool, ...]:
    """The installed tools called `name`, the newest first; each is asked for its version once."""
    found = []
    for path in dict.fromkeys(candidates(name)):
        release = re.search(r"release (\d{1,4})\.(\d{1,4})", _answer(path, "--version"))
        if release:
            found.append(Tool(path, tuple(map(int, release.groups()))))
    return tuple(sorted(found, key=lambda tool: tool.version, reverse=True))


def _answer(*command: str) -> str:
    """What a tool says of itself; nothing if it cannot be run."""
    try:
        return run_tool(*command, patience=ANSWERS_WITHIN).stdout
    except AssemblerError:
        return ""


@cache
def _known(tool: Tool) -> frozenset[str]:
    """The architectures that a ptxas takes."""
    return frozenset(re.findall(r"'(sm_\d+[af]?)'", _answer(tool.path, "--help")))


def _architecture(target: Target, known: frozenset[str]) -> str | None:
    """What to pass as `-arch` for a module of `target`, if the tool can assemble it at all."""
    number = _RENAMED.get(str(target.number), str(target.number))
    name = f"sm_{number}{target.scope}"
    if name in known:
        return name
    if target.scope:
        return None
    # A tool that has dropped an old architecture assembles its PTX for the next.
    later = sorted(int(n[3:]) for n in known if n[3:].isdecimal() and int(n[3:]) > int(number))
    return f"sm_{later[0]}" if later else None


def find_ptxas(target: Target) -> tuple[Tool, str]:
    """The newest ptxas that assembles for `target`, and the architecture to name.

    Raises:
        AssemblerError: if none is installed, or none knows the target.
    """
    installed = tools("ptxas")
    for tool in installed:
        architecture = _architecture(target, _known(tool))
        if architecture:
            return tool, architecture
    if not installed:
        raise AssemblerError(
            "ptxas is not installed: neither on PATH nor by `pip install nvidia-cuda-nvcc`"
        )
    newest = ".".join(map(str, installed[0].version))
    raise AssemblerError(f"no installed ptxas knows {target}; the newest is {newest}")


def assemble(ptx: str, target: Target, *, lineinfo: bool = False) -> Assembled:
    """Assemble a PTX module.

    Args:
        ptx: the module.
        target: its target.
        lineinfo: record which line of the source each instruction comes from, by `.loc`.

    Raises:
        AssemblerError: if there is no ptxas for `target`, or it refuses the module.
    """
    tool, architecture = find_ptxas(target)
    with scratch(ptx.encode(errors="replace")) as source, scratch() as binary:
        flags = ("-v", f"-arch={architecture}", *(["-lineinfo"] if lineinfo else []))
        result = run_tool(tool.path, *flags, source.path, "-o", binary.path, files=(source, binary))
        report = (result.stdout + result.stderr).replace(source.path, "module.ptx")
        if result.returncode:
            lines = [line for line in report.splitlines() if "info" not in line]
            reason = "\n".join(lines) or f"exit code {result.returncode}"
            raise AssemblerError(f"ptxas rejects the module:\n{reason}")
        cubin = binary.read()
    check_cubin(cubin, f"{tool.path} gave")
    return Assembled(cubin, _resources(report), tool, tuple(_notes(report)))


def check_cubin(data: bytes, whose: str) -> None:
    """See that `data` is a binary for GPUs, whole as far as its headers tell.

    Args:
        data: what to look at.
        whose: the subject of the message, such as `ptxas gave`.

    Raises:
        AssemblerError: if it is none.
    """
    if len(data) < _HEADER.size:
        raise AssemblerError(f"{whose} {counted(len(data), 'byte')}, which are not a cubin")
    magic, class_, machine, sections, size, count = _HEADER.unpack_from(data)
    if (magic, class_, machine) != (b"\x7fELF", 2, _EM_CUDA):
        raise AssemblerError(f"{whose} a file that is not a cubin")
    if sections + size * count > len(data):
        raise AssemblerError(f"{whose} a cubin that is cut off after {counted(len(data), 'byte')}")


def disassemble(cubin: bytes, *, lineinfo: bool = False) -> str:
    """SASS of a cubin.

    Args:
        cubin: the binary.
        lineinfo: say by comments which line of the source the instructions come from.

    Raises:
        AssemblerError: if nvdisasm is not installed, or refuses the cubin.
    """
    installed = tools("nvdisasm")
    if not installed:
        raise AssemblerError(
            "nvdisasm is not installed: neither on PATH nor by `pip install nvidia-cuda-nvdisasm`"
        )
    with scratch(cubin) as binary:
        flags = ("-c", *(["-g"] if lineinfo else []))
        result = run_tool(installed[0].path, *flags, binary.path, files=(binary,))
    if result.returncode:
        raise AssemblerError(f"nvdisasm rejects the cubin: {result.stderr.strip()}")
    return result.stdout


_NOTE = re.compile(r"ptxas (?:module\.ptx, line (\d+); )?(info|warning)\s*: (.*)")
_USUAL = re.compile(r"\d+ bytes gmem|Compiling entry|Function properties|Used \d+|Compile time")
"""What `-v` says of every module."""


def _notes(report: str) -> Iterator[Note]:
    """What a report says besides resources: numbered notes, and warnings."""
    for line, kind, message in _NOTE.findall(report):
        if kind == "info" and (_USUAL.match(message) or not message.startswith("(")):
            continue
        around = re.search(r"\bline (\d+)", message)
        number = line or (around[1] if around else 0)
        function = re.search(r"'([\w$]+)'$", message)
        severity = "remark" if kind == "info" else "warning"
        yield Note(message.strip(), severity, int(number), function[1] if function else "")


def _resources(report: str) -> dict[str, Resources]:
    """What `ptxas -v` reports, by kernel."""
    found: dict[str, Resources] = {}
    parts = re.split(r"Compiling entry function '([^']+)'", report)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):

        def number(pattern: str, text: str = text) -> int:
            match = re.search(pattern, text)
            return int(match[1]) if match else 0

        found[name] = Resources(
            registers=number(r"Used (\d+) registers"),
            spill_stores=number(r"(\d+) bytes spill stores"),
            spill_loads=number(r"(\d+) bytes spill loads"),
            stack=number(r"(\d+) bytes stack frame"),
            static_shared=number(r"(\d+) bytes smem"),
            barriers=number(r"used (\d+) barriers"),
        )
    return found
