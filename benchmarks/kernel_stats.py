"""Instructions, registers and conflicts of tilec's kernels, beside others', in one run.

    python benchmarks/kernel_stats.py [--target sm_80] [--triton-python PATH] [--cute-python PATH]
                                      [--json] [--out FILE]

The kernels are those of `examples/kernels`, which name no layout, and Triton's of the same tiles
and warps (`triton_kernels.py`), for sm_80 but where tiles are for Hopper, and for sm_100a if that
is the target; of these the GEMM and attention are in the CuTe DSL, too (`cute_kernels.py`). One
ptxas assembles all. Three sources: the PTX, where the loop is the innermost that has a matrix
instruction; ptxas, the loop of whose SASS is
found in the same way; and a run on the simulator, of a problem of three steps of the loop, which
counts bank conflicts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import tilec
from tilec import sim
from tilec.backend.cubin import assemble, disassemble
from tilec.isa import target as find_target
from tilec.pipelines import pipeline
from tilec.sim import Report
from tilec.sim.ptx import read_text

_CAPABILITY = "100"
"""Of datacenter Blackwell, as Triton counts."""
HERE = Path(__file__).resolve().parent
KINDS = {
    "mma": r"(mma|wgmma\.mma_async|tcgen05\.mma|[A-Z]*MMA)\b",
    "tcgen05.ld": r"(tcgen05\.ld|LDTM)\b",
    "tcgen05.st": r"(tcgen05\.st|STTM)\b",
    "tcgen05.cp": r"(tcgen05\.cp|UTCCP)\b",
    "tcgen05 commit": r"(tcgen05\.commit|UTCBAR)\b",
    "TMA load": r"(cp\.async\.bulk\.tensor\.\dd\.shared|UTMALDG)\b",
    "wgmma wait": r"(wgmma\.wait_group|WARPGROUP\.DEPBAR)\b",
    "mbarrier": r"(mbarrier|SYNCS)\b",
    "mov": r"(mov|U?MOV)\b",
    "ldmatrix": r"(ldmatrix|LDSM)\b",
    "stmatrix": r"(stmatrix|STSM)\b",
    "cp.async": r"(cp\.async\.c[ag]|LDGSTS)\b",
    "barrier": r"(bar|barrier|BAR)\b(?!.*warp)",
    "ld.shared": r"(ld\.shared|LDS)\b",
    "st.shared": r"(st\.shared|STS)\b",
    "ld.global": r"(ld\.global|LDG)\b",
    "st.global": r"(st\.global|STG)\b",
    "shfl": r"(shfl|SHFL)\b",
}


@dataclass(frozen=True)
class Problem:
    """A kernel of both compilers, and a small problem for it.

    Attributes:
        program: tilec's program, in MLIR or Python.
        kernel: the kernel's name in it.
        threads: of a CTA.
        constants: of a kernel in Python.
        deep: the head size of attention.
        hopper: whether its tiles are for sm_90a.
        blackwell: whether its instructions are those of sm_100a.
        without: passes that the pipeline has not.
    """

    program: Path
    kernel: str
    threads: int
    constants: Mapping[str, int] = field(default_factory=dict)
    deep: int = 64
    hopper: bool = False
    blackwell: bool = False
    without: tuple[str, ...] = ()

    def compiled(self, target: str) -> tilec.Compiled:
        """The program, compiled."""
        if self.program.suffix == ".mlir":
            how = pipeline(find_target(target))
            for name in self.without:
                how = how.replaced(name)
            return tilec.compile(self.program, target=target, pipeline=how)
        kernel = runpy.run_path(str(self.program))[self.kernel]
        found: tilec.Compiled = kernel.using(warps=self.threads // 32).compile(
            *self.arguments("tilec"), target=target, **self.constants
        )
        return found

    def arguments(self, compiler: str) -> list[Any]:
        """What the kernel takes: matrices of random numbers, and their extents."""
        rng = np.random.default_rng(0)
        if self.kernel == "gemm":
            m, n, k = 128, 128, 192
            a = rng.standard_normal((m, k)).astype(np.float16)
            b = rng.standard_normal((k, n)).astype(np.float16)
            c = np.zeros((m, n), np.float32)
            return [a, b, c] if compiler == "tilec" else [a, b, c, k, k, n, n, None, None]
        if self.kernel == "gemm_tiles":
            a = rng.standard_normal((128, 192)).astype(np.float16)
            b = rng.standard_normal((256, 192)).astype(np.float16)
            return [a, b, np.zeros((128, 256), np.float16)]
        if self.kernel == "gemm_pingpong":
            a = rng.standard_normal((64, 192)).astype(np.float16)
            b = rng.standard_normal((256, 192)).astype(np.float16)
            return [a, b, np.zeros(256, np.float32), np.zeros((64, 256), np.float16)]
        if self.kernel == "scaled_gemm":
            m, n, k = 128, 128, 384
            a, b = (
                rng.standard_normal((rows, k)).astype(ml_dtypes.float8_e4m3fn) for rows in (m, n)
            )
            scales = [np.full((rows, k // 32), 127, np.uint8) for rows in (m, n)]
            codes = [one.view(np.uint8) for one in (a, b)]
            c = np.zeros((m, n), np.float32)
            if compiler == "tilec":
                return [*codes, *scales, c]
            return [*codes, *scales, c, k, k, k, k // 32, k // 32, n, None, None]
        keys = 3 * self.constants.get("BN", 64)
        q = rng.standard_normal((1, 128, self.deep)).astype(np.float16)
        k, v = (rng.standard_normal((1, keys, self.deep)).astype(np.float16) for _ in "kv")
        o, scale = np.zeros_like(q), np.float32(0.18)
        if compiler == "tilec":
            return [q, k, v, o, scale]
        return [q, k, v, o, 128, keys, scale, None, None]


KERNELS = HERE.parent / "examples" / "kernels"
PROBLEMS = {
    "gemm": Problem(KERNELS / "gemm.mlir", "gemm", 256),
    "attention": Problem(KERNELS / "attention.mlir", "attention", 128),
    "scaled_gemm": Problem(KERNELS / "scaled_gemm.mlir", "scaled_gemm", 256, blackwell=True),
    "scaled_gemm by all threads": Problem(
        KERNELS / "scaled_gemm.mlir",
        "scaled_gemm",
        256,
        blackwell=True,
        without=("tile-form-pairs", "tile-make-persistent", "tile-specialize-warps"),
    ),
    "gemm_128x256": Problem(
        KERNELS.parent / "hopper" / "tiles.mlir", "gemm_tiles", 256, hopper=True
    ),
    "gemm_pingpong": Problem(
        KERNELS.parent / "hopper" / "pingpong.mlir", "gemm_pingpong", 128, hopper=True
    ),
    **{
        f"attention_{deep}": Problem(
            KERNELS / "attention.py",
            "attention",
            256,
            {"BM": 128, "BN": keys, "WHOLE": True},
            deep,
            hopper=True,
        )
        for deep, keys in ((64, 128), (128, 128), (256, 64))
    },
}
"""Problems by name. Those of attention on Hopper name the head size, and have no mask."""


def counts(instructions: Iterable[str]) -> dict[str, int]:
    """Instructions in all, and by kind."""
    found: Counter[str] = Counter()
    for text in instructions:
        found["all"] += 1
        for kind, pattern in KINDS.items():
            found[kind] += bool(re.match(pattern, text))
    return {"all": found["all"], **{kind: found[kind] for kind in KINDS}}


def innermost(jumps: Sequence[tuple[int, int, bool]], instructions: Sequence[str]) -> list[str]:
    """The instructions of the smallest loop that has a matrix instruction; none if none has.

    A natural loop: an instruction that is jumped to, and what leads back to it and is not reached
    from the beginning without passing it.

    Args:
        jumps: instruction, where it jumps, whether it always does.
        instructions: all.
    """
    after: dict[int, list[int]] = {}
    before: dict[int, list[int]] = {}
    always = {at for at, _, surely in jumps if surely}
    falls = [(at, at + 1) for at in range(len(instructions) - 1) if at not in always]
    for source, target in (*falls, *((at, target) for at, target, _ in jumps)):
        after.setdefault(source, []).append(target)
        before.setdefault(target, []).append(source)
    bodies = []
    for first in {target for _, target, _ in jumps if target < len(instructions)}:
        entered = _reached(0, after, without=first)
        ends = [at for at in before[first] if at not in entered]
        if ends:
            inside = {first}.union(*(_reached(at, before, without=first) for at in ends))
            bodies.append([instructions[i] for i in sorted(inside)])
    bodies = [body for body in bodies if counts(body)["mma"]]
    return min(bodies, key=len, default=[])


def _reached(start: int, edges: dict[int, list[int]], *, without: int) -> set[int]:
    found = {start} - {without}
    waiting = list(found)
    while waiting:
        more = {n for n in edges.get(waiting.pop(), []) if n != without} - found
        found |= more
        waiting += more
    return found


def ptx_counts(text: str, kernel: str) -> dict[str, dict[str, int]]:
    """Counts of a kernel's PTX, in all and in its loop."""
    body = read_text(text).functions[kernel].body or []
    mnemonics = [instruction.mnemonic for instruction in body]
    labels = _labels(text, [instruction.position for instruction in body])
    jumps = []
    for at, instruction in enumerate(body):
        if instruction.opcode in ("bra", "ret", "exit"):
            leaves = instruction.opcode != "bra"
            named = labels.get(str(instruction.operands[-1])) if not leaves else [len(body)]
            assert named
            target = min(named, key=lambda place: abs(place - at))
            jumps.append((at, target, instruction.guard is None))
    return {"ptx": counts(mnemonics), "ptx_loop": counts(innermost(jumps, mnemonics))}


def _labels(text: str, positions: Sequence[int]) -> dict[str, list[int]]:
    """The numbers of the instructions that each label stands before, once in each block of PTX."""
    found: dict[str, list[int]] = {}
    for label in re.finditer(r"^\s*(\$?\w+):", text, re.MULTILINE):
        number = sum(position < label.start() for position in positions)
        found.setdefault(label[1], []).append(number)
    return found


def sass_counts(text: str, kernel: str) -> dict[str, dict[str, int]]:
    """Counts of a kernel's disassembled SASS, in all and in the loop."""
    (text,) = re.findall(
        rf"^\.text\.{kernel}:\n(.*?)(?=^\s*\.section|\Z)", text, re.MULTILINE | re.DOTALL
    )
    labels: dict[str, int] = {}
    instructions: list[str] = []
    branches: list[tuple[int, str, bool]] = []
    for line in text.splitlines():
        if label := re.match(r"\s*(\.L_x_\d+):", line):
            labels[label[1]] = len(instructions)
        code = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(@!?U?P\d\s+)?(\S.*?)\s*;", line)
        if code and not code[2].startswith("NOP"):
            if code[2].startswith("BRA") and (target := re.search(r"`\((\.L_x_\d+)\)", code[2])):
                asks = code[1] or re.match(r"BRA\S*\s+!?U?P\d", code[2])
                branches.append((len(instructions), target[1], not asks))
            if code[2].startswith(("EXIT", "RET")) and not code[1]:
                branches.append((len(instructions), "", True))
            instructions.append(code[2])
    end = len(instructions)
    jumps = [(at, labels.get(target, end), surely) for at, target, surely in branches]
    return {"sass": counts(instructions), "sass_loop": counts(innermost(jumps, instructions))}


def stats(
    compiler: str,
    name: str,
    ptx: str,
    dynamic: int,
    target: str,
    report: Report | None,
    entry: str = "",
) -> dict[str, Any]:
    """All figures of one kernel.

    Args:
        compiler: whose it is.
        name: of the problem.
        ptx: its PTX.
        dynamic: bytes of dynamic shared memory.
        target: what it was compiled for.
        report: of its run on the simulator, if there was one.
        entry: the kernel's name, if it is not the problem's.
    """
    kernel = entry or PROBLEMS[name].kernel
    built = assemble(ptx, find_target(target))
    used = built.resources[kernel]
    return {
        "compiler": compiler,
        "kernel": name,
        "target": target,
        **ptx_counts(ptx, kernel),
        **sass_counts(disassemble(built.cubin), kernel),
        "registers": used.registers,
        "spills": used.spill_stores + used.spill_loads,
        "shared": used.static_shared + dynamic,
        "conflicts": report.conflicts if report else None,
        "wavefronts": report.wavefronts if report else None,
        "assembler": ".".join(map(str, built.assembler.version)),
    }


def tilec_stats(name: str, target: str) -> dict[str, Any]:
    """Figures of tilec's kernel."""
    problem = PROBLEMS[name]
    compiled = problem.compiled(target)
    (kernel,) = (k for k in compiled.kernels if k.name == problem.kernel)
    args = problem.arguments("tilec")
    report = compiled.launch(*args, grid=1, kernel=problem.kernel, device="sim")
    assert report is not None
    return stats("tilec", name, compiled.ptx, kernel.dynamic_shared, target, report)


class Peer(NamedTuple):
    """Another compiler.

    Attributes:
        script: what prints the PTX of a problem's kernel, in a file beside this one.
        simulated: whether its kernels for sm_80 run on the simulator.
        lacks: why it has no kernel, by problem.
    """

    script: str
    simulated: bool
    lacks: Mapping[str, str] = {}


PEERS = {
    "triton": Peer("triton_kernels.py", simulated=True),
    "cute": Peer(
        "cute_kernels.py",
        simulated=False,
        lacks={
            "gemm_pingpong": "this repository has no kernel in the CuTe DSL whose warpgroups take "
            "tiles in turn"
        },
    ),
}


def peer_stats(
    compiler: str, name: str, python: str, target: str = "sm_80"
) -> dict[str, Any] | None:
    """Figures of another compiler's kernel; None where it is missing, or has no such kernel.

    Args:
        compiler: of `PEERS`.
        name: of the problem.
        python: the interpreter that imports the compiler.
        target: what tilec compiles for.
    """
    newest = find_target(target).has_tensor_memory
    peer, problem = PEERS[compiler], PROBLEMS[name]
    if name in peer.lacks or problem.without or not (peer.simulated or problem.hopper):
        return None
    environment = {**os.environ, "TRITON_DEFAULT_FP_FUSION": "1"}
    command = [python, str(HERE / peer.script), name, "ptx", *([_CAPABILITY] if newest else [])]
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if made.returncode:
        return None
    ptx = made.stdout
    shared = int(ptx.split()[1])  # the first line says it
    if problem.hopper:  # it makes tensor maps in memory of its own, which a launch gives it
        entry = re.findall(r"\.entry (\w+)", ptx)[0]
        return stats(compiler, name, ptx, shared, "sm_90a", None, entry)
    arch = target if newest else "sm_80"
    report = sim.launch(
        ptx, problem.kernel, 1, problem.threads, problem.arguments(compiler),
        arch=arch, dynamic_smem=shared, numerics="fast",
    )  # fmt: skip
    return stats(compiler, name, ptx, shared, arch, report.require_ok())


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The figures, a column a kernel."""
    lines = [["", *(f"{r['compiler']} {r['kernel']}" for r in rows)]]
    for part in ("ptx_loop", "sass_loop", "ptx", "sass"):
        for kind in rows[0][part]:
            values = [r[part][kind] for r in rows]
            if any(values):
                lines.append([f"{part.replace('_', ' ')}: {kind}", *map(str, values)])
    for what in ("registers", "spills", "shared", "conflicts", "wavefronts"):
        lines.append([what, *(str(r[what]) for r in rows)])
    return aligned(lines)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Cells in columns, the first to the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(v.rjust(w) for v, w in zip(line[1:], widths[1:], strict=True)),
            ]
        )
        for line in lines
    )


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="sm_80", help="of tilec's kernels")
    for compiler in PEERS:
        option = f"--{compiler}-python"
        parser.add_argument(option, default=sys.executable, metavar="PATH")
    parser.add_argument("--kernel", choices=PROBLEMS, help="one of them only")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the object to a file, too")
    arguments = parser.parse_args()
    rows = []
    absent: dict[str, dict[str, str]] = {}
    newest = find_target(arguments.target).has_tensor_memory
    known = [
        name
        for name, one in PROBLEMS.items()
        if (not one.hopper or arguments.target == "sm_90a") and (newest or not one.blackwell)
    ]
    for name in [arguments.kernel] if arguments.kernel else known:
        rows.append(tilec_stats(name, arguments.target))
        for compiler, peer in PEERS.items():
            python = getattr(arguments, f"{compiler}_python")
            theirs = peer_stats(compiler, name, python, arguments.target)
            rows += [theirs] if theirs else []
            if name in peer.lacks:
                absent.setdefault(compiler, {})[name] = peer.lacks[name]
    result = json.dumps({"kernels": rows, "absent": absent})
    if arguments.out:
        arguments.out.write_text(f"{result}\n")
    print(result if arguments.json else table(rows))
    if not arguments.json:
        for compiler, kernels in absent.items():
            for reason in dict.fromkeys(kernels.values()):
                names = ", ".join(n for n, why in kernels.items() if why == reason)
                print(f"{compiler} has no {names}: {reason}")


if __name__ == "__main__":
    main()
