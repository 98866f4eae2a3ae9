"""Every fault of the surroundings befalls every command: what it says, how it ends, what it leaves.

A row of `FAULTS` is a fault with the outcome that it has, a name of `COMMANDS` a column; where a
fault cannot befall a command, such as one that reads no input, there is no cell.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

BEGIN = "import sys; from tilec.tools import entry; getattr(entry, sys.argv.pop(1))()"
PROGRAM = """gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
"""
PTX = (
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) .reqntid 32\n{\n  ret;\n}\n"
)
LOWERED = """gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
"""
CHECKED = f"// RUN: tile-opt %s --canonicalize | FileCheck %s\n{PROGRAM}"
FORM = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


class Command(NamedTuple):
    """A command line.

    Attributes:
        words: its words; `IN` is the input, `OUT` the output.
        source: the input's contents; empty if it reads none.
        outputs: the files that it leaves when it succeeds.
        prints: whether it prints on standard output if OUT is `-`.
        makes_folder: whether its output is a folder.
        changes: whether it changes its input.
        parses: whether what it reads is a program to it, else text.
        slow: whether to leave most faults to `-m slow`, as others have them in CI.
    """

    words: tuple[str, ...]
    source: str
    outputs: tuple[str, ...]
    prints: bool = True
    makes_folder: bool = False
    changes: bool = False
    parses: bool = True
    slow: bool = False


COMMANDS = {
    "tilec": Command(("tilec", "IN", "-o", "OUT"), PROGRAM, ("out.json", "out.ptx")),
    "tilec, remarks": Command(
        ("tilec", "IN", "-o", "OUT", "--remarks-output", "r.yaml"),
        PROGRAM,
        ("out.json", "out.ptx", "r.yaml"),
    ),
    "tilec, all stages": Command(
        ("tilec", "IN", "-o", "OUT", "--save-temps", "temps"),
        PROGRAM,
        ("out.json", "out.ptx", "temps"),
    ),
    "tile-opt": Command(("tile_opt", "IN", "--canonicalize", "-o", "OUT"), PROGRAM, ("out.ptx",)),
    "tile-run": Command(
        ("tile_run", "IN", "--device", "sim", "--arg", "zeros:4", "--out", "0=OUT"),
        PTX,
        ("out.ptx",),
        prints=False,
    ),
    "tile-run, printing": Command(
        ("tile_run", "IN", "--device", "sim", "--arg", "zeros:4", "--out", "0=out.ptx"),
        PTX,
        ("out.ptx",),
    ),
    "tile-layout": Command(
        ("tile_layout", "m16n8k16", "--operand", "a", "--type", "f16", "-o", "OUT"),
        "",
        ("out.ptx",),
    ),
    "tile-isa": Command(
        ("tile_isa", "emit", FORM, "--target", "sm_80", "-o", "OUT"), "", ("out.ptx",)
    ),
    "python -m tilec": Command(
        ("-m tilec", "IN", "-o", "OUT"), PROGRAM, ("out.json", "out.ptx"), slow=True
    ),
    "tilec, explorer": Command(
        ("tilec", "IN", "--emit", "html", "-o", "OUT"),
        PROGRAM,
        ("out.ptx",),
        slow=True,
    ),
    "tile-isa, list": Command(("tile_isa", "list"), "", (), slow=True),
    "tile-translate": Command(
        ("tile_translate", "IN", "--mlir-to-llvmir", "-o", "OUT"), LOWERED, ("out.ptx",), slow=True
    ),
    "tile-reduce": Command(
        ("tile_reduce", "IN", "--test", "true", "-o", "OUT"),
        PROGRAM,
        ("out.ptx",),
        parses=False,
        slow=True,
    ),
    "tile-lsp-server": Command(("tile_lsp_server",), "", (), prints=False, slow=True),
    "update-tile-test-checks": Command(
        ("update_tile_test_checks", "IN"),
        CHECKED,
        (),
        prints=False,
        changes=True,
        parses=False,
        slow=True,
    ),
    "tile-new-pass": Command(
        ("tile_new_pass", "acme", "-o", "OUT"),
        "",
        ("out.ptx",),
        prints=False,
        makes_folder=True,
        slow=True,
    ),
}


class Outcome(NamedTuple):
    """How a command ends.

    Attributes:
        code: its exit code.
        says: what all that it says on standard error matches.
        whole: whether its outputs are there; none of them otherwise.
    """

    code: int | tuple[int, ...] = 0
    says: str = ""
    whole: bool = True


class Fault(NamedTuple):
    """Something that goes wrong around a command.

    Attributes:
        outcome: what is to come of it.
        words: what takes the place of `IN` and `OUT`.
        prepare: what happens to the folder before.
        limit: what the process is limited to before it begins.
        environment: variables.
        shell: redirections.
        signal: sent after a time.
        applies: whether it can befall a command.
    """

    outcome: Outcome
    words: Mapping[str, str] = {}
    prepare: Callable[[Path], object] | None = None
    limit: tuple[int, int] | None = None
    environment: Mapping[str, str] = {}
    shell: str = ""
    signal: int | None = None
    applies: Callable[[Command], bool] = lambda command: True


def error(text: str) -> Outcome:
    """One line, exit code 1, nothing left."""
    return Outcome(1, rf"error: {text}\n", whole=False)


def reads(command: Command) -> bool:
    return bool(command.source)


def parses(command: Command) -> bool:
    return bool(command.source) and command.parses


def writes_a_file(command: Command) -> bool:
    return not command.makes_folder


def makes_folder(command: Command) -> bool:
    return command.makes_folder


def writes(command: Command) -> bool:
    return bool(command.outputs) or command.changes


def prints(command: Command) -> bool:
    return command.prints


def spoil(folder: Path) -> None:
    cache = folder / "cache"
    cache.mkdir(mode=0o700)
    (cache / "compiled-1.sqlite3").write_bytes(b"no database at all" * 100)
    (cache / "compiled-1.sqlite3").chmod(0o600)


def open_cache(folder: Path) -> None:
    (folder / "cache").mkdir()
    (folder / "cache").chmod(0o777)


IN_PLACE = ("tile_opt", "tile_translate", "tile_reduce")
"""Commands that may write over their input, as upstream's do."""
CACHED = {"TILEC_CACHE": "1"}
WARNING = r"(warning: the compile cache is not used: .*\n)?"
ENDED = (0, -signal.SIGKILL)
ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
FAULTS = {
    "none": Fault(Outcome()),
    "no input": Fault(error("gone: No such file or directory"), {"IN": "gone"}, applies=reads),
    "input is a folder": Fault(error(r"\. is a directory"), {"IN": "."}, applies=reads),
    "input is not text": Fault(
        error(r"bad:1: not UTF-8: byte 0xff at offset 2"),
        {"IN": "bad"},
        lambda folder: (folder / "work" / "bad").write_bytes(b"//\xff\n"),
        applies=reads,
    ),
    "input is of NULs": Fault(
        Outcome(1, r"(?s)(bad:|error: bad:).*error.*", whole=False),
        {"IN": "bad"},
        lambda folder: (folder / "work" / "bad").write_bytes(b"\0x\0" * 1000),
        applies=parses,
    ),
    "input is deep": Fault(
        Outcome(1, r"(?s)(error: )?bad:\d+:\d+: .*", whole=False),
        {"IN": "bad"},
        lambda folder: (folder / "work" / "bad").write_text("module {" * 100_000),
        applies=parses,
    ),
    "input is damaged bytecode": Fault(
        Outcome(1, r"(?s)(error: )?bad:.*", whole=False),
        {"IN": "bad"},
        lambda folder: (folder / "work" / "bad").write_bytes(b"ML\xefR\x0dx\0\xff" * 100),
        applies=reads,
    ),
    "input has a name that is no text": Fault(
        Outcome(1, r"(?s)(error: )?bad:1:\d+: [^\n]*\n.*", whole=False),
        {"IN": "bad"},
        lambda folder: (folder / "work" / "bad").write_text('gpu.module @"\\FF" {}\n'),
        applies=parses,
    ),
    "input is closed": Fault(
        error("<stdin>: Bad file descriptor"), {"IN": "-"}, shell="<&-", applies=reads
    ),
    "output in no folder": Fault(
        error(r"no/out: (No such file or directory|Not a directory)"),
        {"OUT": "no/out"},
        applies=writes_a_file,
    ),
    "output is a folder": Fault(error(r"\.: Is a directory"), {"OUT": "."}, applies=writes_a_file),
    "output is full": Fault(
        error("/dev/full: No space left on device"), {"OUT": "/dev/full"}, applies=writes_a_file
    ),
    "output is there": Fault(error(r"\. already exists"), {"OUT": "."}, applies=makes_folder),
    "output is below a file": Fault(
        error(r"/dev/null/x: Not a directory"), {"OUT": "/dev/null/x"}, applies=makes_folder
    ),
    "output is the input": Fault(
        error("in.file is the input; choose another output"),
        {"OUT": "in.file"},
        applies=lambda command: reads(command) and command.words[0] not in IN_PLACE,
    ),
    "files are too large": Fault(
        error(r"\S+: File too large"), limit=(resource.RLIMIT_FSIZE, 16), applies=writes
    ),
    "standard output is closed": Fault(
        error("<stdout>: Bad file descriptor"), {"OUT": "-"}, shell=">&-", applies=prints
    ),
    "standard output is full": Fault(
        error("<stdout>: No space left on device"), {"OUT": "-"}, shell=">/dev/full", applies=prints
    ),
    "nobody reads standard output": Fault(
        Outcome(1, "", whole=False), {"OUT": "-"}, shell="| true", applies=prints
    ),
    "standard error is closed": Fault(Outcome(), shell="2>&-"),
    "no encoding but ASCII": Fault(Outcome(), {"OUT": "-"}, environment=ASCII, applies=prints),
    "no folder for temporary files": Fault(
        Outcome((0, 1), r"(error: .*No usable temporary directory.*\n)?"),
        environment={"TMPDIR": "/no/such/folder"},
    ),
    "no home": Fault(
        Outcome(says=WARNING), environment={**CACHED, "HOME": "/no/home", "TILEC_CACHE_DIR": ""}
    ),
    "the cache is spoiled": Fault(Outcome(says=WARNING), prepare=spoil, environment=CACHED),
    "the cache is open to all": Fault(
        Outcome(says=WARNING), prepare=open_cache, environment=CACHED
    ),
    "interrupted": Fault(Outcome((0, 130, -signal.SIGINT)), signal=signal.SIGINT),
    "terminated": Fault(Outcome((0, 143, -signal.SIGTERM)), signal=signal.SIGTERM),
    "killed": Fault(Outcome(ENDED), signal=signal.SIGKILL),
}
SHORT = ("none", "standard output is full")
"""Faults that befall every command in CI."""
CELLS = [
    pytest.param(fault, command, marks=[pytest.mark.slow] * (of.slow and fault not in SHORT))
    for fault, one in FAULTS.items()
    for command, of in COMMANDS.items()
    if one.applies(of) and (one.words.get("OUT", "-") == "-" or "OUT" in "".join(of.words))
]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has /dev/full, and these limits")
@pytest.mark.parametrize(("fault", "command"), CELLS)
def test_outcome(fault: str, command: str, tmp_path: Path) -> None:
    one, of = FAULTS[fault], COMMANDS[command]
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "tmp").mkdir()
    if of.source:
        (work / "in.file").write_text(of.source)
        named = "in.file" if of.words[0] != "tile_run" else "in.ptx"
        (work / "in.ptx").write_text(of.source)
        if fault == "output is the input":
            named = "in.file"
    else:
        named = "-"
    if one.prepare:
        one.prepare(tmp_path)
    before = {path.name: read(path) for path in work.iterdir()}
    put = {"IN": named, "OUT": "out.ptx", **one.words}
    words = [put.get(w, w.replace("OUT", put["OUT"])) for w in of.words]
    code, said = run(words, one, tmp_path)
    if of.changes and code == 0:
        before.pop("in.file")
    outcome = one.outcome
    assert code in (outcome.code if isinstance(outcome.code, tuple) else (outcome.code,)), said
    if one.signal is None:
        assert re.fullmatch(outcome.says, said), said
    assert "Traceback" not in said or one.signal is not None
    left = {path.name: path for path in work.iterdir() if path.name not in before}
    if code == 0 and "out.ptx" in "".join(words):
        assert sorted(left) == sorted(of.outputs)
    elif fault == "killed":
        assert all(name.startswith(".") or name in of.outputs for name in left)
    elif code:
        assert left == {}
    assert {name: read(work / name) for name in before} == before
    if fault != "killed":
        assert list((tmp_path / "tmp").iterdir()) == []


def read(path: Path) -> bytes:
    return path.read_bytes()


def run(words: list[str], one: Fault, folder: Path) -> tuple[int, str]:
    """The exit code of a command that something befalls, and what it says."""
    code = folder / "code"
    # The shell keeps the exit code where a pipe follows.
    script = (
        f'"$@" {one.shell}'
        if not one.shell.startswith("|")
        else f'{{ "$@"; echo $? >{code}; }} {one.shell}; exit $(cat {code})'
    )
    begin = words[0].split() if words[0].startswith("-m") else ["-c", BEGIN, words[0]]
    script = script if one.shell else 'exec "$@"'
    process = subprocess.Popen(
        ["sh", "-c", script, "sh", sys.executable, *begin, *words[1:]],
        cwd=folder / "work",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            **os.environ,
            "TMPDIR": str(folder / "tmp"),
            "TILEC_CACHE_DIR": str(folder / "cache"),
            "TILEC_CACHE": "0",
            # Python 3.11 would leave halves of them, which it takes for whole, at "File too large".
            "PYTHONDONTWRITEBYTECODE": "1",
            **one.environment,
        },
        preexec_fn=(lambda: limit(*one.limit)) if one.limit else None,  # noqa: PLW1509
    )
    if one.signal is not None:
        time.sleep(0.5)
        process.send_signal(one.signal)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors.decode()


def limit(kind: int, amount: int) -> None:
    resource.setrlimit(kind, (amount, amount))


@pytest.mark.skipif(sys.platform != "linux", reason="limits are of Linux")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[pytest.mark.slow] if of.slow else [])
        for name, of in COMMANDS.items()
    ],
)
@pytest.mark.parametrize(
    ("kind", "amounts"),
    [
        (resource.RLIMIT_AS, [m << 20 for m in (30, 60, 150, 300, 700, 1500)]),
        (resource.RLIMIT_NOFILE, [5, 9, 14]),
        (resource.RLIMIT_STACK, [256 << 10]),
    ],
    ids=["address space", "open files", "stack"],
)
def test_little_of_everything(kind: int, amounts: list[int], command: str, tmp_path: Path) -> None:
    """So early that Python itself may not start; what is left is all or nothing in any case."""
    of = COMMANDS[command]
    for number, amount in enumerate(amounts):
        folder = tmp_path / str(number)
        (folder / "work").mkdir(parents=True)
        (folder / "tmp").mkdir()
        (folder / "work" / "in.ptx").write_text(of.source)
        words = [
            {"IN": "in.ptx", "OUT": "out.ptx"}.get(w, w.replace("OUT", "out.ptx")) for w in of.words
        ]
        code, said = run(words, Fault(Outcome(), limit=(kind, amount)), folder)
        left = sorted(p.name for p in (folder / "work").iterdir() if p.name != "in.ptx")
        assert left == (sorted(of.outputs) if code == 0 else []), said
        assert "internal error" not in said
        assert "Traceback" not in said or "tilec" not in said
