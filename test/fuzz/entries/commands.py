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
_LINES = {
    "tilec": (
        "a.mlir -o out.ptx --remarks-output r.yaml", "s.mlir -o out.ptx --remarks-filter tile",
        "a.mlir --emit nvvm -o out.mlir", "given.mlir -o out.ptx", "given -o out.ptx",
    ),
    "tile_opt": (
        "a.mlir --canonicalize -o out.mlir --remarks-output r.yaml", "given.mlir -o out.mlir",
        "a.mlir --pass-pipeline builtin.module(cse)", "given --split-input-file",
    ),
    "tile_run": (
        "s.mlir --device sim --arg 1", "given.ptx --dry-run", "given --dry-run --kernel k",
        "a.mlir --device sim --arg randn:16x16:f16 --arg randn:8x16:f16 --arg zeros:16x8:f32 "
        "--arg zeros:16x8:f32 --out 3=o.npy", "a.ptx --dry-run --arg 1",
    ),
    "tile_layout": ("m16n8k16 --operand a --type f16 -o l.txt",),
    "tile_isa": ("list --target sm_90a", "emit kernel -o k.ptx"),
}  # fmt: skip
"""Command lines that succeed, as a rule, with files that are there."""
_MISSING = ("No such file or directory", "File name too long")
_GIVEN = ("given", "given.ptx", "given.mlir")
_ODD = (
    "nan", "inf", "-inf", "1e400", "-1", "0", "--", "", ".", "/", "b.bin", "a.mlir", "out.ptx",
    "missing/x", "(" * 3000, "[" * 3000, "{" * 3000, "9" * 5000, "randn:60000x60000:e4m3",
    "zeros:99999999999999999", "zeros:1x0", "i8:300", "f16:nan", "i32:nan", "x.npy", "\udcff", "*",
    "0=/", "3=.", "null", "k" * 3000, "a.mlir:1", "-", "/dev/null", "/dev/null/x",
)  # fmt: skip
"""Values that no command expects, whatever it expects."""
_PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p)\n{\n\tret;\n}\n"
_SCALAR = (
    "gpu.module @m { gpu.func @k(%n: i32) kernel "
    "attributes {known_block_size = array<i32: 32, 1, 1>} { gpu.return } }\n"
)
_FIXED = {
    "s.mlir": _SCALAR.encode(),
    "a.mlir": (seeds.ROOT / "examples" / "mma.mlir").read_bytes(),
    "a.ptx": _PTX.encode(),
    "b.bin": bytes(range(256)),
}


def prepare() -> None:
    """Import the tools."""
    compiled_once()
    for tool in _TOOLS:
        import_module(f"tilec.tools.{tool}")


def make(rng: random.Random) -> Case:
    """Words of a tool's command line in any order, or one that is right but for a word."""
    tool = rng.choice(list(_TOOLS))
    words = _nearly_right(tool, rng) if rng.random() < 0.6 else _any_words(tool, rng)
    usable = [word.replace("\0", "").replace("\n", " ") for word in words]
    return Case("commands", "\n".join(usable), {"tool": tool, "given": _given(rng)})


def _nearly_right(tool: str, rng: random.Random) -> list[str]:
    """A command line with a value or two that are odd, some given by `=`."""
    words = rng.choice(_LINES[tool]).split()
    for _ in range(rng.choice((0, 1, 1, 2))):
        at = rng.randrange(len(words))
        if words[at].startswith("--") and rng.random() < 0.7:
            words[at] = f"{words[at].partition('=')[0]}={rng.choice(_ODD)}"
            if at + 1 < len(words) and not words[at + 1].startswith("-"):
                del words[at + 1]
        elif not words[at].startswith("-"):
            words[at] = rng.choice(_ODD)
    return words


def _any_words(tool: str, rng: random.Random) -> list[str]:
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
    return words


def _given(rng: random.Random) -> str:
    """What the files `given` hold."""
    text = rng.choice((_PTX, _PTX.split("\n", 1)[1], "// nothing\n" * 3, _SCALAR))
    if rng.random() < 0.5:
        at = rng.randrange(len(text) + 1)
        return text[:at] + rng.choice(("\0", "\udcff", "\ufeff", "{" * 400)) + text[at:]
    return mutations.mutated(text, rng)


def run(case: Case) -> Reached:
    """Run the tool's `main`; see what it says and leaves."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="tilec-fuzz-") as folder:
        given = case.options.get("given", "").encode(errors="surrogatepass")
        for name, data in (_FIXED | dict.fromkeys(_GIVEN, given)).items():
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
    for reason in _MISSING:
        before, found, _ = said.partition(f": {reason}")
        if found and not any(before.rpartition(" ")[2] in word for word in words):
            raise WrongError("a file that nobody has named is not found")
    # What a verbose flag says on standard error may be much; an error is told in some lines.
    if code in (1, 2) and not said.strip():
        raise WrongError(f"exit code {code} without a word")
    left = {path.name for path in folder.iterdir()} - {*_FIXED, *_GIVEN}
    reproducers = {word.rpartition("=")[2] for word in words if "repro" in word}
    if code and left - reproducers:
        raise WrongError(f"left after a failure: {sorted(left)}")
    for name in ("a.ptx", "b.bin"):
        if not _is_named(words, name) and (folder / name).read_bytes() != _FIXED[name]:
            raise WrongError(f"{name} was overwritten")
    return Reached.REFUSED if code else Reached.PTX if left else Reached.VERIFIED


def _is_named(words: list[str], name: str) -> bool:
    """Whether the command line names a file as an output."""
    # The first word is the input if it is no flag, such as `-oa.ptx`.
    return any(word.endswith(name) for at, word in enumerate(words) if at or word[:1] == "-")
