"""Commands in processes of their own, while files, streams, memory and processes fail."""

from __future__ import annotations

import os
import random
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import assemblers
import poison
import seeds
from case import Case, Reached, WrongError

_EXAMPLES = seeds.ROOT / "examples"
_COMMANDS = {
    "tilec": ("tilec", str(_EXAMPLES / "mma.mlir"), "-o", "out.ptx", "--remarks-output", "r.yaml"),
    "cubin": ("tilec", str(_EXAMPLES / "mma.mlir"), "--emit", "cubin", "-o", "out.cubin"),
    "stdout": ("tilec", str(_EXAMPLES / "mma.mlir")),
    "tile_opt": ("tile_opt", str(_EXAMPLES / "mma.mlir"), "--canonicalize", "-o", "out.mlir"),
    "tile_run": (
        "tile_run", str(_EXAMPLES / "mma.mlir"), "--device", "sim", "--arg", "randn:16x16:f16",
        "--arg", "randn:8x16:f16", "--arg", "zeros:16x8:f32", "--arg", "zeros:16x8:f32",
        "--out", "3=out.npy",
    ),
    "tile_layout": ("tile_layout", "m16n8k16", "--operand", "a", "--type", "f16", "-o", "out.txt"),
    "tile_isa": ("tile_isa", "list"),
}  # fmt: skip
_FAULTS = (
    "nothing", "interrupt", "terminate", "kill", "kill worker", "address space", "open files",
    "file size", "closed stdout", "full stdout", "full output", "closed stderr", "ascii", "stack",
    "spoiled cache", "poisoned cache", "others' cache", "ptxas",
)  # fmt: skip
_PATIENCE = 300.0
_TOOLS_HAVE = 3.0
"""Seconds that NVIDIA's tools have here."""
_PACKED = f"""
import os, sys
import tilec.backend.external_tools as tools
tools.PATIENCE = tools.ANSWERS_WITHIN = {_TOOLS_HAVE}
exec(os.environ.get('TILEC_FUZZ_PLANT', ''), {{}})
from tilec.tools import entry
tool = getattr(entry, sys.argv.pop(1))
os.write(int(os.environ['TILEC_FUZZ_BEGUN']), b'.')
os.close(int(os.environ['TILEC_FUZZ_BEGUN']))
tool()
"""


def prepare() -> None:
    """Nothing: each has a process of its own."""


def make(rng: random.Random) -> Case:
    """A command and what befalls it."""
    fault = rng.choice(_FAULTS)
    commands = list(_COMMANDS)
    if fault == "ptxas":
        commands = ["cubin"]
    elif "cache" in fault:
        commands = ["tilec", "cubin", "stdout"]
    options = {
        "command": rng.choice(commands),
        "fault": fault,
        "after": round(rng.choice((rng.uniform(0.0, 0.2), rng.uniform(0.0, 2.5))), 3),
        "amount": rng.choice((0, 1, 64, 1024, 4096, 100_000)),
        "memory": rng.choice((64, 128, 150, 200, 256, 300, 512, 700, 900, 1200, 2000)) << 20,
        "files": rng.choice((3, 4, 6, 8, 12, 20)),
        "seed": rng.randrange(1 << 30),
        "cached": rng.random() < 0.5,
        "assembler": rng.choice(list(assemblers.KINDS)),
        "poison": rng.choice(list(poison.KINDS)),
        "patience": _PATIENCE,
    }
    return Case("faults", "", options)


def run(case: Case) -> Reached:
    """Run the command in an empty folder; see what is said and left."""
    with tempfile.TemporaryDirectory(prefix="tilec-fuzz-") as folder:
        return _run(case, Path(folder))


def _run(case: Case, folder: Path) -> Reached:
    options, work = case.options, folder / "work"
    (folder / "tmp").mkdir()
    (folder / "cache").mkdir(mode=0o700)
    work.mkdir()
    fault = options["fault"]
    environment = {
        **os.environ,
        "TMPDIR": str(folder / "tmp"),
        "TILEC_CACHE_DIR": str(folder / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python leaves halves of it where files may not be long
        "TILEC_CACHE": "1" if options["cached"] or "cache" in fault else "0",
        "TILEC_TRACEBACK": "",
    }
    _prepare(options, folder, environment)
    code, said, begun = _command(options, work, environment)
    contents = {path.name: path.read_bytes() for path in work.iterdir()}
    _judge(options, code, said, sorted(contents), begun=begun)
    if any(poison.MARK in one for one in contents.values()):
        raise WrongError("what somebody else has put into the cache is believed")
    left = sorted(path.name for path in (folder / "tmp").iterdir())
    if left and fault != "kill":
        raise WrongError(f"left in the folder for temporary files: {left}")
    if fault == "ptxas" and assemblers.lives(folder):
        raise WrongError("a process of ptxas goes on")
    return Reached.REFUSED if code else Reached.PTX


def _prepare(options: dict[str, Any], folder: Path, environment: dict[str, str]) -> None:
    """Have the surroundings as the fault wants them."""
    cache, fault = folder / "cache", options["fault"]
    if fault == "ascii":
        environment |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    if fault == "spoiled cache":
        data = random.Random(options["seed"]).randbytes(options["amount"])
        (cache / "compiled-1.sqlite3").write_bytes(data)
        (cache / "compiled-1.sqlite3").chmod(0o600)
    if fault in ("poisoned cache", "others' cache"):
        (folder / "first").mkdir()
        _command({**options, "fault": "nothing"}, folder / "first", environment)
        kind = options["poison"] if fault == "poisoned cache" else "another program"
        poison.put(cache / "compiled-1.sqlite3", kind)
    if fault == "others' cache":
        cache.chmod(0o777)
    if fault == "ptxas":
        assemblers.make(folder, options["assembler"])
        environment["PATH"] = f"{folder / 'bin'}{os.pathsep}{environment.get('PATH', '')}"


def _words(options: dict[str, Any]) -> tuple[str, ...]:
    """The command's name and words."""
    words = _COMMANDS[options["command"]]
    if options["fault"] == "full output":
        return tuple(re.sub(r"out\.\w+$", "/dev/full", word) for word in words)
    return words


def _command(
    options: dict[str, Any], work: Path, environment: dict[str, str]
) -> tuple[int, str, bool]:
    """The exit code of a command, what it says, and whether Python had begun with it."""
    tool, *words = _words(options)
    closed = {"closed stdout": " >&-", "full stdout": " >/dev/full", "closed stderr": " 2>&-"}
    shell = ["sh", "-c", f'exec "$@"{closed.get(options["fault"], "")}', "sh"]
    patience = options.get("patience", _PATIENCE)
    begun, begins = os.pipe()
    try:
        process = subprocess.Popen(
            [*shell, sys.executable, "-c", _PACKED, tool, *words],
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, "TILEC_FUZZ_BEGUN": str(begins)},
            pass_fds=[begins],
            preexec_fn=lambda: _limit(options),  # noqa: PLW1509 (no threads)
        )
        os.close(begins)
        has_begun = bool(select.select([begun], [], [], patience)[0] and os.read(begun, 1))
        if has_begun:
            _befall(options, process)
        _, errors = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise WrongError(f"no end within {patience:g} s") from None
    finally:
        os.close(begun)
    return process.returncode, errors.decode(errors="replace"), has_begun


def _limit(options: dict[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which the harness ignores
    kind, amount = {
        "address space": (resource.RLIMIT_AS, options["memory"]),
        "open files": (resource.RLIMIT_NOFILE, options["files"]),
        "file size": (resource.RLIMIT_FSIZE, options["amount"]),
        "stack": (resource.RLIMIT_STACK, 1 << 20),
    }.get(options["fault"], (None, 0))
    if kind is not None:
        resource.setrlimit(kind, (amount, amount))


def _befall(options: dict[str, Any], process: subprocess.Popen[bytes]) -> None:
    """Send a signal to the process, or to one of its own, after a while."""
    signals = {
        "interrupt": signal.SIGINT,
        "terminate": signal.SIGTERM,
        "kill": signal.SIGKILL,
        "kill worker": signal.SIGKILL,
    }
    number = signals.get(options["fault"])
    if number is None:
        return
    time.sleep(options["after"])
    if options["fault"] != "kill worker":
        process.send_signal(number)
        return
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        for child in children.read_text().split():
            os.kill(int(child), number)
    except OSError:
        return


def _judge(options: dict[str, Any], code: int, said: str, left: list[str], *, begun: bool) -> None:
    fault = options["fault"]
    outputs = [word.rpartition("=")[2] for word in _COMMANDS[options["command"]]]
    whole = {name for name in outputs if name.startswith(("out.", "r."))}
    if "out.ptx" in whole or "out.cubin" in whole:
        whole.add("out.json")
    if fault == "kill":
        if not {name for name in left if not name.startswith(".")} <= whole:
            raise WrongError(f"left by a process that was killed: {left}")
        return
    if code == 0 and set(left) != whole:
        raise WrongError(f"success, and there are {left}")
    if code and left:
        raise WrongError(f"left after {fault}: {left}")
    if not begun:
        return  # what Python itself does not get over
    _judge_words(options, code, said)


def _judge_words(options: dict[str, Any], code: int, said: str) -> None:
    """See that a command of which Python has begun ends in order."""
    fault, number = options["fault"], _ENDING.get(options["fault"])
    if code < 0 and code != -(number or 0):
        raise WrongError(f"ended by signal {-code}: {said[-200:]}")
    if "Traceback" in said or "internal error" in said:
        raise WrongError(said.strip().splitlines()[-1][:300])
    if code > 1 and code != 128 + (number or 0):
        raise WrongError(f"exit code {code}: {said[-200:]}")
    if fault in _FILES_NAMED and code == 1:
        _judge_file(_FILES_NAMED[fault], said)
    if fault in ("nothing", "kill worker") or "cache" in fault:
        if code:
            raise WrongError(f"fails: {said[-300:]}")
        if said.count("\n") > 1:
            raise WrongError(f"says more than one warning: {said[-300:]}")
    if fault == "ptxas":
        _judge_assembler(options["assembler"], code, said)


_ENDING = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM}
_FILES_NAMED = {
    "full stdout": "<stdout>",
    "full output": "/dev/full",
    "file size": r"(?:out|r)\.\w+|<stdout>",
}


def _judge_file(name: str, said: str) -> None:
    """See that what is said of a file that takes no more is one line, and names it."""
    # Where a file may not grow the cache's may not, too, which is a warning.
    cache = r"(?:warning: the compile cache is not used: [^\n]*\n)?"
    line = rf"{cache}error: (?:{name}): (?:No space left on device|File too large)\n"
    if not re.fullmatch(line, said):
        raise WrongError(f"names no file: {said[-200:]}")


def _judge_assembler(kind: str, code: int, said: str) -> None:
    """See that a ptxas that does not do its work is named, and one that is none passed over."""
    if code != assemblers.KINDS[kind].code:
        raise WrongError(f"exit code {code} of a ptxas that {kind}: {said[-200:]}")
    if code and not re.match(r"error: .*ptxas", said):
        raise WrongError(f"names no ptxas: {said[-200:]}")
