"""Commands in processes of their own, while files, streams, memory and processes fail."""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
    "file size", "closed stdout", "full stdout", "closed stderr", "ascii", "spoiled cache", "stack",
)  # fmt: skip
_PATIENCE = 300.0
_PACKED = (
    "import os, sys; exec(os.environ.get('TILEC_FUZZ_PLANT', ''), {})\n"
    "from tilec.tools import entry; getattr(entry, sys.argv.pop(1))()"
)


def prepare() -> None:
    """Nothing: each has a process of its own."""


def make(rng: random.Random) -> Case:
    """A command and what befalls it."""
    options = {
        "command": rng.choice(list(_COMMANDS)),
        "fault": rng.choice(_FAULTS),
        "after": round(rng.uniform(0.1, 2.5), 3),
        "amount": rng.choice((0, 1, 64, 1024, 4096, 100_000)),
        "memory": rng.choice((64, 256, 512, 700, 900, 1200, 2000)) << 20,
        "files": rng.choice((3, 4, 6, 8, 12, 20)),
        "seed": rng.randrange(1 << 30),
        "cached": rng.random() < 0.5,
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
        "TILEC_CACHE": "1" if options["cached"] or "cache" in fault else "0",
        "TILEC_TRACEBACK": "",
    }
    if fault == "ascii":
        environment |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    if fault == "spoiled cache":
        data = random.Random(options["seed"]).randbytes(options["amount"])
        (folder / "cache" / "compiled-1.sqlite3").write_bytes(data)
        (folder / "cache" / "compiled-1.sqlite3").chmod(0o600)
    code, said = _command(options, work, environment)
    _judge(options, code, said, sorted(path.name for path in work.iterdir()))
    left = sorted(path.name for path in (folder / "tmp").iterdir())
    if left and fault != "kill":
        raise WrongError(f"left in the folder for temporary files: {left}")
    return Reached.REFUSED if code else Reached.PTX


def _command(
    options: dict[str, object], work: Path, environment: dict[str, str]
) -> tuple[int, str]:
    tool, *words = _COMMANDS[str(options["command"])]
    closed = {"closed stdout": " >&-", "full stdout": " >/dev/full", "closed stderr": " 2>&-"}
    shell = ["sh", "-c", f'exec "$@"{closed.get(str(options["fault"]), "")}', "sh"]
    process = subprocess.Popen(
        [*shell, sys.executable, "-c", _PACKED, tool, *words],
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=lambda: _limit(options),  # noqa: PLW1509 (no threads)
    )
    try:
        _befall(options, process)
        _, errors = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise WrongError(f"no end within {_PATIENCE:g} s") from None
    return process.returncode, errors.decode(errors="replace")


def _limit(options: dict[str, object]) -> None:
    kind, amount = {
        "address space": (resource.RLIMIT_AS, options["memory"]),
        "open files": (resource.RLIMIT_NOFILE, options["files"]),
        "file size": (resource.RLIMIT_FSIZE, options["amount"]),
        "stack": (resource.RLIMIT_STACK, 1 << 20),
    }.get(str(options["fault"]), (None, 0))
    if kind is not None:
        resource.setrlimit(kind, (int(str(amount)), int(str(amount))))


def _befall(options: dict[str, object], process: subprocess.Popen[bytes]) -> None:
    """Send a signal to the process, or to one of its own, after a while."""
    signals = {
        "interrupt": signal.SIGINT,
        "terminate": signal.SIGTERM,
        "kill": signal.SIGKILL,
        "kill worker": signal.SIGKILL,
    }
    number = signals.get(str(options["fault"]))
    if number is None:
        return
    time.sleep(float(str(options["after"])))
    if options["fault"] != "kill worker":
        process.send_signal(number)
        return
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        for child in children.read_text().split():
            os.kill(int(child), number)
    except OSError:
        return


def _judge(options: dict[str, object], code: int, said: str, left: list[str]) -> None:
    fault = options["fault"]
    outputs = [word.rpartition("=")[2] for word in _COMMANDS[str(options["command"])]]
    whole = {name for name in outputs if name.startswith(("out.", "r."))}
    if "out.ptx" in whole or "out.cubin" in whole:
        whole.add("out.json")
    if fault == "kill":
        hidden = [name for name in left if not name.startswith(".")]
        if hidden and set(hidden) != whole and not set(hidden) <= whole:
            raise WrongError(f"left by a process that was killed: {left}")
        return
    if code == 0 and set(left) != whole:
        raise WrongError(f"success, and there are {left}")
    if code and left:
        raise WrongError(f"left after {fault}: {left}")
    if fault in _EXPLAINED_BY_PYTHON:
        return
    if code < 0:
        raise WrongError(f"ended by signal {-code}: {said[-200:]}")
    if "Traceback" in said or "internal error" in said:
        if fault in ("interrupt", "terminate") and "site" in said:
            return  # Python's own start
        raise WrongError(said.strip().splitlines()[-1][:300])
    legal = {0, 1, 128 + signal.SIGINT, 128 + signal.SIGTERM}
    if code not in legal:
        raise WrongError(f"exit code {code}: {said[-200:]}")
    if code == 1 and fault in _ABOUT_A_FILE and not _NAMED.search(said):
        raise WrongError(f"names no file: {said[-200:]}")
    if fault in ("nothing", "kill worker", "spoiled cache") and code:
        raise WrongError(f"fails: {said[-300:]}")


_ABOUT_A_FILE = ("full stdout", "file size")
_NAMED = re.compile(r"^error: \S+: (?:No space left on device|File too large)$", re.MULTILINE)
_EXPLAINED_BY_PYTHON = ("address space", "open files", "stack")
"""Faults so early that Python itself may not start; what is left still counts."""
