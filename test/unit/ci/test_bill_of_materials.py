"""Pinned versions, and the bill of materials that is made of them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

requirements = pytest.importorskip("packaging.requirements")
utils = pytest.importorskip("packaging.utils")

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / ".ci" / "bill_of_materials.py"
LICENCES = ROOT / "docs" / "licences.md"
METADATA = """Metadata-Version: 2.4
Name: sample
Version: 1.0
License-Expression: Apache-2.0
Requires-Dist: numpy>=1.26
Requires-Dist: pytest>=8; extra == "test"
"""


def load():
    spec = importlib.util.spec_from_file_location("bill_of_materials", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


bill_of_materials = load()
PINNED = bill_of_materials.pinned(bill_of_materials.CONSTRAINTS.read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("dask", "dev", "docs", "judge", "lsp", "optuna", "plots", "png", "ptxas", "test")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel that needs numpy, and for its tests something else."""
    path = tmp_path / "sample-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sample-1.0.dist-info/METADATA", METADATA)
    return path


@pytest.fixture
def bill(wheel: Path, tmp_path: Path) -> Path:
    """Its bill of materials."""
    path = tmp_path / "bill.json"
    subprocess.run([sys.executable, SCRIPT, wheel, "-o", path], check=True)
    return path


def test_every_dependency_is_pinned_within_its_bounds() -> None:
    given = [*PROJECT["dependencies"]]
    given += [line for extra in EXTRAS for line in PROJECT["optional-dependencies"][extra]]
    for wanted in map(requirements.Requirement, given):
        if wanted.name == PROJECT["name"]:
            assert wanted.extras <= set(EXTRAS)
            continue
        found = PINNED[utils.canonicalize_name(wanted.name)]
        assert wanted.specifier.contains(found.version), wanted


def test_every_pinned_package_has_hashes() -> None:
    assert len(PINNED) > len(PROJECT["dependencies"])
    assert not [one.name for one in PINNED.values() if not one.hashes]


def test_schema(bill: Path) -> None:
    """By CycloneDX's own library."""
    validation = pytest.importorskip("cyclonedx.validation.json")
    schema = pytest.importorskip("cyclonedx.schema")
    checker = validation.JsonStrictValidator(schema.SchemaVersion.V1_6)
    assert checker.validate_str(bill.read_text(encoding="utf-8")) is None


def test_what_runs_is_listed_and_nothing_else(bill: Path) -> None:
    document = json.loads(bill.read_text(encoding="utf-8"))
    assert [one["name"] for one in document["components"]] == ["numpy"]
    (numpy,) = document["components"]
    assert numpy["version"] == PINNED["numpy"].version
    assert {one["content"] for one in numpy["externalReferences"][0]["hashes"]} == set(
        PINNED["numpy"].hashes
    )
    assert "BSD" in numpy["licenses"][0]["license"]["name"]
    edges = {one["ref"]: one["dependsOn"] for one in document["dependencies"]}
    assert edges == {"pkg:pypi/sample@1.0": [numpy["purl"]], numpy["purl"]: []}


def test_twice_the_same(bill: Path, wheel: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    subprocess.run([sys.executable, SCRIPT, wheel, "-o", again], check=True)
    assert again.read_bytes() == bill.read_bytes()


def test_unknown_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel, "w") as archive:
        text = METADATA.replace("numpy>=1.26", "hypothetical-package")
        archive.writestr("sample-1.0.dist-info/METADATA", text)
    ran = subprocess.run(
        [sys.executable, SCRIPT, wheel], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert ran.stderr == "error: hypothetical-package is not in constraints.txt: run .ci/lock\n"


def test_licences_are_listed() -> None:
    """Of all that tilec needs to run, at the versions that are pinned for the page's Python."""
    pins = bill_of_materials.CONSTRAINTS.read_text(encoding="utf-8")
    pinned = bill_of_materials.pinned(pins, "3.11.0")
    rows = [line.split("|") for line in LICENCES.read_text(encoding="utf-8").splitlines()]
    listed = {row[1].strip(): row[2].strip() for row in rows if len(row) == 5}
    for line in PROJECT["dependencies"]:
        name = utils.canonicalize_name(requirements.Requirement(line).name)
        assert listed[name] == pinned[name].version
        assert version(name)
