"""Configuration of lit: which tools tests name, and which FileCheck reads their CHECK lines."""

# `config` and `lit_config` are lit's.
# ruff: noqa: F821
# mypy: ignore-errors

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import lit.formats

_TOOLS = (
    *("tilec", "tile-isa", "tile-layout", "tile-opt", "tile-reduce", "tile-run"),
    "tile-translate",
)
_OLDEST_FILECHECK = 14  # oldest that the tests are known to pass with


def _filecheck_version(path: str) -> int:
    """LLVM's major version of a FileCheck; 0 if it is not LLVM's."""
    reported = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"LLVM version (\d+)", reported.stdout)
    return int(found[1]) if found else 0


def _filecheck(python: str) -> str:
    """LLVM's FileCheck, newest first, else the Python one that the `test` extra brings."""
    names = {"FileCheck"}
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if Path(folder).is_dir():
            names |= {f.name for f in Path(folder).glob("FileCheck-[0-9]*")}
    found = [path for name in names if (path := shutil.which(name))]
    version, path = max(((_filecheck_version(p), p) for p in found), default=(0, ""))
    if version >= _OLDEST_FILECHECK:
        return path
    return f"{python} -m filecheck"


config.name = "tilec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

# CMake's lit.site.cfg.py says which Python has tilec; lit by itself runs in it.
python = getattr(config, "python", sys.executable)
repository = Path(__file__).resolve().parents[2]

for name in ("PYTHONPATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.environment["TILEC_CACHE"] = "0"  # what is tested is compiled

# lit --param filecheck=PATH overrides the choice.
filecheck = lit_config.params.get("filecheck") or _filecheck(python)
lit_config.note(f"FileCheck: {filecheck}")
config.substitutions.append((r"\bFileCheck\b", filecheck))
for tool in _TOOLS:
    module = tool.replace("-", "_")
    config.substitutions.append(
        (rf"(?<![\w./-]){tool}(?![\w./-])", f"{python} -m tilec.tools.{module}")
    )
config.substitutions.append(("%examples", str(repository / "examples")))
config.substitutions.append(("%python", python))

installed = "from tilec.backend.cubin import tools; print(*(n for n in {names} if tools(n)))"
names = ("ptxas", "nvdisasm")
asked = subprocess.run(
    [python, "-c", installed.format(names=names)], capture_output=True, text=True, check=True
)
config.available_features |= set(asked.stdout.split())
