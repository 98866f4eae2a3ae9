"""A configuration of lit for tests of passes: tilec's tools, FileCheck, and what is installed.

In the `lit.cfg.py` of a package of your own:

    from tilec.testing import lit_config as tile

    tile.configure(config, lit_config, name="acme", root=__file__)

`lit --num-shards=N --run-shard=K` runs a part of the tests.
"""

# Loads nothing of tilec, so that lit may run in another Python than the tools.

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TOOLS = (
    *("tilec", "tile-isa", "tile-layout", "tile-opt", "tile-reduce", "tile-run", "tile-tune"),
    *("tile-translate", "update-tile-test-checks"),
)
"""The commands that tests name."""
_KEPT = ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
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


def configure(
    config: Any,
    lit_config: Any,
    *,
    name: str,
    root: str | Path,
    suffixes: Sequence[str] = (".mlir", ".test"),
    substitutions: Mapping[str, str] | None = None,
) -> None:
    """Set up a suite of tests.

    Args:
        config: lit's, of the suite; `config.python` may name the Python that has tilec.
        lit_config: lit's, of the run; `--param filecheck=PATH` overrides which FileCheck.
        name: of the suite.
        root: the `lit.cfg.py` of the suite, or its folder.
        suffixes: of the tests' files.
        substitutions: what else RUN lines may say, and what stands for it.
    """
    import lit.formats  # noqa: PLC0415

    config.name = name
    config.test_format = lit.formats.ShTest(execute_external=False)
    config.suffixes = list(suffixes)
    config.excludes = ["Inputs", "lit.cfg.py"]
    root = Path(root)
    config.test_source_root = str(root.parent if root.is_file() else root)
    python = getattr(config, "python", sys.executable)
    for variable in _KEPT:
        if variable in os.environ:
            config.environment[variable] = os.environ[variable]
    config.environment["TILEC_CACHE"] = "0"  # what is tested is compiled
    config.environment["TILEC_SIM_PROCESSES"] = "1"  # lit itself runs on all cores
    filecheck = lit_config.params.get("filecheck") or _filecheck(python)
    lit_config.note(f"FileCheck: {filecheck}")
    config.substitutions.append((r"\bFileCheck\b", filecheck))
    for tool in TOOLS:
        module = tool.replace("-", "_")
        config.substitutions.append(
            (rf"(?<![\w./-]){tool}(?![\w./-])", f"{python} -m tilec.tools.{module}")
        )
    config.substitutions += list((substitutions or {}).items())
    config.substitutions.append(("%python", python))
    config.available_features |= _assemblers(python)


def _assemblers(python: str) -> set[str]:
    """Which of `ptxas` and `nvdisasm` tilec finds; tests say `REQUIRES: ptxas`."""
    names = ("ptxas", "nvdisasm")
    code = f"from tilec.backend.cubin import tools; print(*(n for n in {names} if tools(n)))"
    asked = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return set(asked.stdout.split())
