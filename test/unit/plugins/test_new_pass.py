"""The template of `tile-new-pass`: its own tests pass where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tilec.tools import tile_new_pass, update_tile_test_checks


def install(folder: Path, site: Path) -> None:
    """Install a package as pip would, without a network."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    for package in project["tool"]["setuptools"]["packages"]:
        shutil.copytree(folder / package, site / package)
    named = project["project"]
    about = site / f"{named['name']}-{named['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: {named['name']}\nVersion: {named['version']}\n")
    text = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in of.items())
        for group, of in named["entry-points"].items()
    )
    (about / "entry_points.txt").write_text(text)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the template, installed for processes that start."""
    folder, site = tmp_path / "bolt", tmp_path / "site"
    site.mkdir()
    assert tile_new_pass.main(["bolt", "-o", str(folder)]) == 0
    install(folder, site)
    others = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(site), others))))
    return folder


def test_its_tests_pass(package: Path) -> None:
    lit = [sys.executable, "-c", "__import__('lit.main').main.main()", "-v", str(package / "test")]
    done = subprocess.run(lit, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Passed: 3" in done.stdout
    # A part of them, and one whose CHECK lines are not what is printed.
    path = package / "test" / "fuse_scales.mlir"
    path.write_text(path.read_text().replace("= 6.0", "= 5.0"))
    done = subprocess.run(lit, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    done = subprocess.run(
        [*lit, "--num-shards=3", "--run-shard=2"], capture_output=True, text=True, check=False
    )
    assert "1 of 3 tests" in done.stdout + done.stderr


def test_check_lines_are_updated(package: Path) -> None:
    path = package / "test" / "fuse_scales.mlir"
    before = path.read_text()
    path.write_text(before.replace("= 6.000000e+00", "= 7.0"))
    command = [sys.executable, "-m", "tilec.tools.update_tile_test_checks", str(path)]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        after = path.read_text()
        assert after.count("// CHECK-LABEL: gpu.func @six(") == 1
        assert "= 7.0" not in after
        assert "// CHECK-NEXT: %[[V1:[A-Za-z0-9_]+]] = bolt.scale %[[V0]] {factor = 6" in after
        code = [line for line in after.split("\n") if "//" not in line]
        assert code == [line for line in before.split("\n") if "//" not in line]
    lit = [sys.executable, "-c", "__import__('lit.main').main.main()", "-v", str(path)]
    done = subprocess.run(lit, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_names_and_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tile_new_pass.main(["Bolt", "-o", str(tmp_path / "x")]) == 1
    assert "lower-case letters" in capsys.readouterr().err
    assert tile_new_pass.main(["bolt", "-o", str(tmp_path)]) == 1
    assert "already exists" in capsys.readouterr().err


def test_what_no_lines_are_written_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.mlir"
    for run, message in (
        ("", "no RUN line"),
        ("// RUN: tile-opt %s | FileCheck %s --check-prefixes=A,B\n", "several prefixes"),
        ("// RUN: tile-opt %s --no-such-pass | FileCheck %s\n", "fails"),
    ):
        path.write_text(f"{run}module {{}}\n")
        assert update_tile_test_checks.main([str(path)]) == 1
        assert message in capsys.readouterr().err
        assert path.read_text() == f"{run}module {{}}\n"
