"""Command lines of every tool, in this process, on files in a folder that must stay as it was."""

from __future__ import annotations

import io
import os
import random
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

import mutations
import seeds
from case import Case, Reached, WrongError
from contexts import compiled_once

_TOOLS = {
    "tilec": (
        "a.mlir", "-", "-o", "out.ptx", "--target", "sm_80", "sm_90a", "--emit", "tile",
        "nvvm", "llvm",
        "ptx", "html", "-O0", "-O3", "--pipeline", "tile-to-fragments", "--save-temps", "temps",
        "--lineinfo", "--remarks", "--remarks-filter", "tile", "--remarks-output", "r.yaml", "(",
        "--verify-each", "--mlir-timing", "--mlir-print-ir-after-all", "--mlir-print-ir-before",
        "--mlir-pass-pipeline-crash-reproducer", "repro.mlir", "--list-targets", "--version", "-v",
    ),
    "tile_opt": (
        "a.mlir", "-", "-o", "out.mlir", "--pass-pipeline", "builtin.module(cse)", "--canonicalize",
        "--tile-select-mma", "--split-input-file", "--verify-diagnostics", "--list-passes",
        "--show-dialects", "--run-reproducer", "--mlir-print-debuginfo", "--mlir-print-op-generic",
        "--remarks-output", "r.yaml", "--remarks", "--verify-each", "--cse=x=1", "--a{b}",
    ),
    "tile_run": (
        "a.ptx", "a.mlir", "--kernel", "k", "--grid", "1,1", "--block", "32", "--dynamic-smem", "0",
        "--arg", "zeros:16:f32", "1", "nan", "randn:4x4", "--seed", "--out", "0=o.npy", "--check",
        "gemm", "--device", "sim", "--arch", "sm_80", "-O3", "--numerics", "fast", "--no-checks",
        "--max-steps", "100", "--report", "json", "--lines", "--dry-run",
    ),
    "tile_layout": (
        "m16n8k16", "m8n8k4", "--operand", "a", "b", "c", "--type", "f16", "s8", "--element", "3,5",
        "--format", "json", "svg", "csv", "text", "html", "-o", "l.txt", "--lane", "14",
        "--descriptor",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", "--convert", "--smem", "16x16",
    ),
    "tile_isa": (
        "list", "show", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--target", "sm_90a",
        "--family", "wmma", "emit", "kernel", "-o", "k.ptx", "--a", "smem", "registers",
        "--json", "x",
    ),
}  # fmt: skip
_FIXED = {
    "a.mlir": (seeds.ROOT / "examples" / "mma.mlir").read_bytes(),
    "a.ptx": b".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) { ret; }\n",
    "b.bin": bytes(range(256)),
}


def prepare() -> None:
    """Import the tools."""
    compiled_once()
    for tool in _TOOLS:
        import_module(f"tilec.tools.{tool}")


def make(rng: random.Random) -> Case:
    """Words of a tool's command line in any order, some of them changed."""
    tool = rng.choice(list(_TOOLS))
    words = [rng.choice(_TOOLS[tool]) for _ in range(rng.choice((1, 2, 4, 6, 9)))]
    if rng.random() < 0.8:
        words.insert(0, _TOOLS[tool][0])
    for at in range(len(words)):
        chance = rng.random()
        if chance < 0.08:
            words[at] = mutations.mutated(words[at], rng, _TOOLS[tool])
        elif chance < 0.14 and words[at].startswith("--"):
            words[at] += "=" + rng.choice(
                [*_TOOLS[tool], "--", "", "=", "b.bin", ".", *mutations.NUMBERS]
            )
    usable = [word.replace("\0", "") for word in words]
    return Case("commands", "\n".join(word.replace("\n", " ") for word in usable), {"tool": tool})


def run(case: Case) -> Reached:
    """Run the tool's `main`; see what it says and leaves."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="tilec-fuzz-") as folder:
        for name, data in _FIXED.items():
            Path(folder, name).write_bytes(data)
        os.chdir(folder)
        try:
            return _run(case.options["tool"], case.text.split("\n"), Path(folder))
        finally:
            os.chdir(before)


def _run(tool: str, words: list[str], folder: Path) -> Reached:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    errors, stdin = io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(_FIXED["a.mlir"]), encoding="utf-8")
    try:
        with redirect_stdout(out), redirect_stderr(errors):
            code = import_module(f"tilec.tools.{tool}").main(words)
    except SystemExit as exit_:
        code = exit_.code
    finally:
        sys.stdin = stdin
    said = errors.getvalue()
    if "Traceback" in said or "internal error" in said:
        raise WrongError(said.strip().splitlines()[-1][:300])
    if code not in (0, 1, 2, None):
        raise WrongError(f"exit code {code!r}")
    # What a verbose flag says on standard error may be much; an error is told in some lines.
    if code in (1, 2) and not said.strip():
        raise WrongError(f"exit code {code} without a word")
    left = {path.name for path in folder.iterdir()} - set(_FIXED)
    reproducers = {word.rpartition("=")[2] for word in words if "repro" in word}
    if code and left - reproducers:
        raise WrongError(f"left after a failure: {sorted(left)}")
    for name in ("a.ptx", "b.bin"):
        if (folder / name).read_bytes() != _FIXED[name] and not _is_named(words, name):
            raise WrongError(f"{name} was overwritten")
    return Reached.REFUSED if code else Reached.PTX if left else Reached.VERIFIED


def _is_named(words: list[str], name: str) -> bool:
    """Whether the command line names a file as an output."""
    return any(word.endswith(name) for word in words[1:])
