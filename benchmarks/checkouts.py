"""Other revisions of tilec beside this one, for comparisons in one run.

Each is laid out in a folder as a wheel would install it, so that none has the import hooks of an
editable install, and none finds another's bytecode.
"""

from __future__ import annotations

import compileall
import io
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def checkout_of(source: str, folder: Path) -> Path:
    """The folder of a checkout.

    Args:
        source: a checkout's folder, or a revision of this one.
        folder: a new folder, for the files of a revision.

    Raises:
        ValueError: if `source` is neither.
    """
    checkout = Path(source)
    return checkout if (checkout / "pyproject.toml").is_file() else _extracted(source, folder)


def installed(checkout: Path, folder: Path) -> Path:
    """A folder in `folder` with the package `tilec` in it, for `PYTHONPATH`.

    Raises:
        ValueError: if Python does not take `tilec` from there.
    """
    options = tomllib.loads((checkout / "pyproject.toml").read_text())["tool"]["setuptools"]
    site = folder / "site"
    for package, where in sorted(options["package-dir"].items()):
        shutil.copytree(
            checkout / where,
            site.joinpath(*package.split(".")),
            ignore=shutil.ignore_patterns("__pycache__"),
            dirs_exist_ok=True,
        )
    compileall.compile_dir(site, quiet=1)
    _check(site)
    return site


def _extracted(revision: str, folder: Path) -> Path:
    """The files of a revision."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "archive", "--format=tar", revision],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise ValueError(f"'{revision}' is neither a checkout of tilec nor a revision of this one")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def _check(site: Path) -> None:
    """Raise unless a process with `site` on its path takes tilec from there."""
    found = subprocess.run(
        [sys.executable, "-c", "import tilec; print(tilec.__file__)"],
        env={"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if not Path(found.strip()).is_relative_to(site):
        raise ValueError(f"Python takes tilec from {found.strip()} and not from {site}")
