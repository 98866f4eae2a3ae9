"""The wheel, made from the sdist, has every file of the packages, and nothing else.

A wheel that is there already, such as that of a release, is named by `TILEC_WHEEL`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETTINGS = PROJECT["tool"]["setuptools"]


def folder_of(package: str) -> str:
    """Where the modules of a package are, behind the links of `src`."""
    linked = ROOT.joinpath(SETTINGS["package-dir"][""], *package.split("."))
    return str(linked.resolve().relative_to(ROOT))


PACKAGES = {package: folder_of(package) for package in SETTINGS["packages"]}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if given := os.environ.get("TILEC_WHEEL"):
        return Path(given)
    setuptools = pytest.importorskip("setuptools")
    if int(setuptools.__version__.partition(".")[0]) < 77 or not importlib.util.find_spec("build"):
        pytest.skip("needs build and setuptools 77 or later: pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"  # a copy: setuptools leaves its build folder beside the sources
    tree.mkdir()
    top = {Path(at).parts[0] for at in PACKAGES.values()}
    for name in (*top, "src", "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, symlinks=True)
        else:
            shutil.copy(source, tree / name)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, tree],
        check=True,
        capture_output=True,
    )
    (made,) = folder.glob("*.whl")
    return made


def files_of_packages() -> set[str]:
    """Where the wheel should have each file in a package's folder or below it."""
    found = set()
    package_of = {Path(folder): package for package, folder in PACKAGES.items()}
    for top in {Path(folder).parts[0] for folder in PACKAGES.values()}:
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                at = path.relative_to(ROOT)
                nearest = next(parent for parent in at.parents if parent in package_of)
                package = package_of[nearest].replace(".", "/")
                found.add(f"{package}/{at.relative_to(nearest)}")
    return found


def test_every_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == files_of_packages()


def test_every_folder_with_modules_is_a_package() -> None:
    """One that pyproject.toml forgets would be missing from the wheel, and from this test."""
    folders = set(PACKAGES.values())
    top = {Path(at).parts[0] for at in folders}
    with_modules = {
        str(path.parent.relative_to(ROOT)) for name in top for path in (ROOT / name).rglob("*.py")
    }
    assert with_modules <= folders


def test_what_it_declares(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = next(n for n in archive.namelist() if n.endswith("/METADATA")).rpartition("/")[0]
        declared = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
        licence = archive.read(f"{info}/licenses/LICENSE")
    project = PROJECT["project"]
    assert declared["Name"] == "tilec"
    assert declared["Version"] == project["version"]
    assert declared["License-Expression"] == project["license"]
    assert declared["Requires-Python"] == project["requires-python"]
    needed = {one for one in declared.get_all("Requires-Dist") or [] if "extra ==" not in one}
    assert needed == {one.replace(" ", "") for one in project["dependencies"]}
    assert set(declared.get_all("Provides-Extra") or []) == set(project["optional-dependencies"])
    for name, target in project["scripts"].items():
        assert f"{name} = {target}" in entry_points
    assert licence == (ROOT / "LICENSE").read_bytes()


def test_nothing_of_the_machine(wheel: Path) -> None:
    """No absolute path of whoever built it, no bytecode, nobody's permissions."""
    with zipfile.ZipFile(wheel) as archive:
        for one in archive.infolist():
            assert not one.filename.startswith(("/", "..")), one.filename
            assert not one.filename.endswith((".pyc", ".so", ".orig", "~")), one.filename
            assert str(ROOT).encode() not in archive.read(one), one.filename


@pytest.mark.slow
def test_it_runs(wheel: Path, tmp_path: Path) -> None:
    """From an empty folder, with nothing of the sources on the path."""
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", site, wheel], check=True, capture_output=True)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import tilec; "
        "assert tilec.__file__.startswith(sys.argv[1]), tilec.__file__; "
        "print(tilec.compile(open(sys.argv[2]).read()).ptx)"
    )
    program = ROOT / "examples" / "mma.mlir"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code, str(site), str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "mma.sync" in ran.stdout
