"""What `tilec.isa` imports only when it is asked for."""

from __future__ import annotations

import subprocess
import sys

from tilec import isa


def loaded_by(code: str) -> set[str]:
    """Modules that a new process has loaded when it has run `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_the_language_needs_no_forms() -> None:
    loaded = loaded_by("import tilec, tilec.lang")
    assert "tilec.isa.targets" in loaded
    assert not {"tilec.isa.form_classes", "tilec.isa.operands", "tilec.isa.table"} & loaded


def test_no_module_takes_the_place_of_a_name() -> None:
    """As `tilec.isa.forms` would, were there a module of that name: importing it sets that."""
    loaded = loaded_by(
        "from tilec import isa\n"
        "isa.forms(), [isa.forms_of(kind) for kind in (isa.Mma, isa.WmmaMma, isa.MatrixMemory)]"
    )
    assert not {f"tilec.isa.{name}" for name in isa.__all__} & loaded


def test_every_name_is_there() -> None:
    for name in isa.__all__:
        assert getattr(isa, name) is not None


def test_editors_complete_names_before_they_are_used() -> None:
    code = "from tilec import {0}; assert set({0}.__all__) <= set(dir({0}))"
    for package in ("isa", "layout"):
        loaded = loaded_by(code.format(package))
        assert f"tilec.{package}" in loaded
        assert not {"tilec.isa.wmma", "tilec.layout.tma_boxes"} & loaded
