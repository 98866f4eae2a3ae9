"""Compilations through the cache: a hit is what a compilation gives, and costs no MLIR.

Against the same compilation without a cache.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tilec
from tilec import cache, version
from tilec.backend.cubin import tools
from tilec.cache import entries as cache_entries
from tilec.cache import fingerprint
from tilec.cache.compilations import CachedCompilation
from tilec.cache.environment import cache_folder
from tilec.cache.fingerprint import _python_files
from tilec.driver import compile_input
from tilec.frontend.inputs import BuilderInput, Built
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.options import Options
from tilec.passes.base import Diagnostic
from tilec.passes.instrumentation import Instrumentation
from tilec.pipelines import pipeline
from tilec.report.diagnostics import place
from tilec.stages import Stage

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Outcome = subprocess.CompletedProcess[str]

# A tile of tf32 is emulated on no target, an s4 product on Hopper is, with a remark.
EMULATED = """
!A = !tile.frag<tensor<16x64xi4>, #tile.layout<"m16n8k64 a s4">>
!B = !tile.frag<tensor<64x8xi4>, #tile.layout<"m16n8k64 b s4">>
!C = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k64 c s32">>
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  gpu.func @k(%a: memref<16x32xi8>, %b: memref<8x32xi8>, %d: memref<16x8xi32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %fa = "tile.load"(%a, %i, %i) : (memref<16x32xi8>, index, index) -> !A
    %fb = "tile.load"(%b, %i, %i) {transposed} : (memref<8x32xi8>, index, index) -> !B
    %z = "tile.fill"(%zero) : (i32) -> !C
    %ab = "tile.mma"(%fa, %fb, %z) {form = "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"}
        : (!A, !B, !C) -> !C
    "tile.store"(%ab, %d, %i, %i) : (!C, memref<16x8xi32>, index, index) -> ()
    gpu.return
  }
}
"""


def entries() -> list[tuple[str, str]]:
    return sorted((row.kind, row.name) for row in cache.store().rows())


@pytest.fixture(autouse=True)
def may_warn_again() -> None:
    cache_entries._warned.clear()


@pytest.mark.parametrize("name", ["gemm.mlir", "gemm_strides.mlir"])
def test_a_hit_is_the_compilation(name: str) -> None:
    path = EXAMPLES / name
    plain = tilec.compile(path, target="sm_90a", cache=False)
    first = tilec.compile(path, target="sm_90a", cache=True)
    hit = tilec.compile(path, target="sm_90a", cache=True)
    assert (type(plain), type(first), type(hit)) == (
        tilec.Compiled,
        tilec.Compiled,
        CachedCompilation,
    )
    for one in (first, hit):
        assert one.ptx == plain.ptx
        assert str(one.abi) == str(plain.abi)
        assert one.kernels == plain.kernels
        assert one.target == plain.target
        assert spelt(one.remarks) == spelt(plain.remarks) != []
    for stage in ("tile", "nvvm", "llvm"):
        assert getattr(hit, stage) == getattr(plain, stage)
    assert hit.explore() == plain.explore()
    assert hit._repr_html_() == plain._repr_html_()


def spelt(found: Sequence[Diagnostic]) -> list[Any]:
    """Remarks with their places as texts: those of two contexts are never equal."""
    return [(replace(one, location=None), str(one.location)) for one in found]


def test_remarks_are_remembered() -> None:
    first, hit = (tilec.compile(EMULATED, cache=True) for _ in range(2))
    assert isinstance(hit, CachedCompilation)
    assert [r.message for r in first.remarks] == [r.message for r in hit.remarks] != []
    assert [place(r.location) for r in first.remarks] == [place(r.location) for r in hit.remarks]
    assert place(hit.remarks[0].location) is not None


def test_a_hit_imports_nothing_heavy(
    program: Callable[..., str], python: Callable[..., Outcome]
) -> None:
    code = (
        "import sys, numpy, tilec\n"
        "compiled = tilec.compile(sys.argv[1], cache=True)\n"
        "compiled.ptx, str(compiled.abi), compiled.kernels, compiled.remarks\n"
        "print(type(compiled).__name__, *sorted({m.partition('.')[0] for m in sys.modules}\n"
        "    & {'torch_mlir', 'mlir', 'llvmlite', 'cuda', 'subprocess', 'ml_dtypes'}))"
    )
    outcomes = [python(code, program(1)) for _ in range(2)]
    assert [o.stderr for o in outcomes] == ["", ""]
    assert "mlir" in outcomes[0].stdout
    assert outcomes[1].stdout == "CachedCompilation\n"


def test_what_makes_another_entry(program: Callable[..., str]) -> None:
    def kind(text: str, **options: Any) -> str:
        return type(tilec.compile(text, cache=True, **options)).__name__

    variants: list[tuple[str, dict[str, Any]]] = [
        (program(1), {}),
        (program(2), {}),
        (program(1), {"target": "sm_90"}),
        (program(1), {"opt_level": 1}),
        (program(1), {"lineinfo": True, "name": "a.mlir"}),
        (program(1), {"lineinfo": True, "name": "b.mlir"}),
    ]
    for text, options in variants:
        assert kind(text, **options) == "Compiled"
    for text, options in variants:
        assert kind(text, **options) == "CachedCompilation"
    assert kind(program(1), name="another name for messages") == "CachedCompilation"
    assert len(entries()) == len(variants)


def test_other_code_makes_another_entry(
    program: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tilec.compile(program(1), cache=True)
    monkeypatch.setattr(version, "__version__", "0.0.0")
    assert not isinstance(tilec.compile(program(1), cache=True), CachedCompilation)
    assert isinstance(tilec.compile(program(1), cache=True), CachedCompilation)
    monkeypatch.setattr(fingerprint, "_libraries", lambda: (("libLLVM.so", 1, 2),))
    assert not isinstance(tilec.compile(program(1), cache=True), CachedCompilation)
    assert len(entries()) == 3


def test_the_code_that_counts() -> None:
    """Of every package that compiles."""
    code = (
        "from tilec.cache import fingerprint\n"
        "print(*(name for name, _, _ in fingerprint._python_files()))\n"
        "print(*(name for name, _, _ in fingerprint._libraries()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours, theirs = map(str.split, done.stdout.splitlines())
    assert {"driver.py", "table.py", "fragments.py", "to_fragments.py", "mma_sp.py"} <= {*ours}
    assert any("_mlir" in name for name in theirs)
    assert any("llvmlite" in name for name in theirs)


def test_each_file_counts_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages lie in each other as a wheel has them, and beside each other where they are edited;
    those that only take what is compiled count in neither."""
    counted = [name.removeprefix("tilec.") for name in fingerprint._OURS if name != "tilec"]
    for layout in ("installed", "edited"):
        top = folder / layout / "tilec"
        outer = top if layout == "installed" else top.parent
        places = {"tilec": top, "tilec.cache": top / "cache"}
        others = ("runtime", "sim", "tools", "tuning")
        places |= {f"tilec.{name}": outer / name for name in (*counted, *others)}
        for name, at in places.items():
            at.mkdir(parents=True, exist_ok=True)
            (at / f"{name}.py").touch()
        monkeypatch.setattr(fingerprint, "_folders", lambda name, at=places: [str(at[name])])
        found = [name for name, _, _ in _python_files()]
        wanted = ("tilec", "tilec.cache", *(f"tilec.{name}" for name in counted))
        assert sorted(found) == sorted(f"{name}.py" for name in wanted)


def test_an_edited_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file is another code; and one changed since the import is not what runs here."""
    package = folder / "package"
    (package / "inside").mkdir(parents=True)
    for name in ("a.py", "inside/b.py"):
        (package / name).write_text("x = 1\n")
        os.utime(package / name, (1e9, 1e9))
    monkeypatch.setattr(fingerprint, "_python_files", lambda: fingerprint._inside(str(package), ()))
    before = fingerprint.fingerprint()
    assert before is not None
    os.utime(package / "inside/b.py", (1e9, 1e9 + 1))
    assert fingerprint.fingerprint() not in (before, None)
    (package / "inside/b.py").write_text("x = 22\n")
    os.utime(package / "inside/b.py", (1e9, 1e9))
    assert fingerprint.fingerprint() not in (before, None)
    monkeypatch.setattr(version, "imported", 1e9 - 1)
    assert fingerprint.fingerprint() is None
    assert cache.key("kind", "part") is None


def test_nothing_is_kept_of_what_is_watched_or_fails(program: Callable[..., str]) -> None:
    text = program(1)
    tilec.compile(text, cache=True, verify_each=True)
    tilec.compile(text, cache=True, instrumentation=Instrumentation())
    for stage in ("tile", "nvvm", "llvm"):
        tilec.compile(text, cache=True, emit=stage)
    for _ in range(2):
        with pytest.raises(tilec.TilecError, match="floating-point"):
            tilec.compile(text.replace("arith.addi", "arith.addf"), cache=True)
    with pytest.raises(tilec.TilecError, match="unknown target"):
        tilec.compile(text, target="sm_1", cache=True)
    assert entries() == []


@pytest.mark.parametrize(
    ("variable", "asked", "used"),
    [
        (None, None, False),
        (None, True, True),
        (None, False, False),
        ("", True, True),
        ("0", True, False),
        ("1", None, True),
        ("1", False, False),
    ],
)
def test_who_decides(
    variable: str | None,
    asked: bool | None,
    used: bool,
    program: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable is not None:
        monkeypatch.setenv("TILEC_CACHE", variable)
    tilec.compile(program(1), cache=asked)
    assert (entries() != []) == used


def test_a_wrong_value_of_the_variable(
    program: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEC_CACHE", "maybe")
    with pytest.raises(tilec.TilecError, match=r"TILEC_CACHE is 'maybe'; legal: 0 .*, 1 "):
        tilec.compile(program(1))


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("TILEC_CACHE_DIR")
    monkeypatch.setenv("HOME", "/home/a")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == Path("/home/a/.cache/tilec")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path("/home/a/.cache/tilec")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache")
    assert cache_folder() == Path("/var/cache/tilec")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == Path("/home/a/Library/Caches/tilec")


def check_compiles_with_one_warning(program: Callable[..., str], warning: str) -> None:
    expected = tilec.compile(program(1), cache=False).ptx
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            assert tilec.compile(program(1), cache=True).ptx == expected
    (only,) = caught
    assert only.category is cache.CacheWarning
    assert warning in str(only.message)
    assert "TILEC_CACHE=0 disables it" in str(only.message)


def test_a_folder_that_cannot_be_made(
    folder: Path, program: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv("TILEC_CACHE_DIR", str(folder / "file" / "cache"))
    check_compiles_with_one_warning(
        program, f"the compile cache is not used: {folder}/file/cache: Not a dir"
    )


def test_a_corrupt_file(program: Callable[..., str]) -> None:
    tilec.compile(program(1), cache=True)
    cache.store().file.write_bytes(b"not a database" * 1000)
    check_compiles_with_one_warning(program, "was corrupt (file is not a database)")
    assert isinstance(tilec.compile(program(1), cache=True), CachedCompilation)


def test_a_full_disk(program: Callable[..., str], python: Callable[..., Outcome]) -> None:
    """As a limit on the size of files stands for it."""
    code = (
        "import sys, resource, tilec\n"
        "tilec.compile(sys.argv[1]).ptx\n"  # LLVM's process has no limit
        "sys.dont_write_bytecode = True\n"  # of which Python would leave halves, and take them
        f"resource.setrlimit({resource.RLIMIT_FSIZE}, (int(sys.argv[2]),) * 2)\n"
        "for _ in range(2):\n"
        "    print(tilec.compile(sys.argv[1], cache=True).ptx)\n"
    )
    expected = tilec.compile(program(1), cache=False).ptx
    for size in (0, 100, 5000, 9000):
        done = python(code, program(1), str(size))
        assert done.stdout == f"{expected}\n" * 2, done.stderr
        assert done.stderr.count("CacheWarning: the compile cache is not used: ") == 1
    tilec.compile(program(1), cache=True)
    assert isinstance(tilec.compile(program(1), cache=True), CachedCompilation)


@pytest.mark.skipif(not tools("ptxas"), reason="no ptxas at hand")
def test_binaries(program: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = tilec.compile(program(1), emit="cubin", cache=False)
    first = tilec.compile(program(1), emit="cubin", cache=True)
    monkeypatch.setattr("tilec.backend.cubin.assemble", None)
    hit = tilec.compile(program(1), emit="cubin", cache=True)
    for one in (first, hit):
        assert one.cubin == plain.cubin
        assert one.resources == plain.resources
        assert one.assembler == plain.assembler
    assert entries() == [("cubin", "add1"), ("ptx", "add1")]


@pytest.mark.skipif(not tools("ptxas"), reason="no ptxas at hand")
def test_another_assembler_makes_another_binary(
    folder: Path, program: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tilec.compile(program(1), emit="cubin", cache=True)
    (folder / "ptxas").write_text(f'#!/bin/sh\nexec {tools("ptxas")[0].path} "$@"\n')
    (folder / "ptxas").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    tilec.compile(program(1), emit="cubin", cache=True)
    assert entries() == [("cubin", "add1"), ("cubin", "add1"), ("ptx", "add1")]


def test_code_that_changes_during_a_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    key = cache.key("test")
    with monkeypatch.context() as edited:
        edited.setattr(version, "imported", 0)
        edited.setattr(fingerprint, "_python_files", lambda: [("a.py", 1, 1)])
        cache.keep(key, 1, kind="test", name="n", target="sm_80")
    assert cache.find(key) is None
    cache.keep(key, 1, kind="test", name="n", target="sm_80")
    assert cache.find(key) == 1


def test_an_entry_is_data(program: Callable[..., str]) -> None:
    """What a kernel in Python keeps and finds, by a key of its own."""
    key = cache.key("test", "source", {"target": "sm_80"})
    assert key is not None
    assert cache.find(key) is None
    cache.keep(key, {"numbers": [1, 2.5, None]}, kind="test", name="n", target="sm_80")
    assert cache.find(key) == json.loads('{"numbers": [1, 2.5, null]}')
    assert cache.find(cache.key("other", "source", {"target": "sm_80"})) is None


class FrontEnd:
    """Builds a program, and counts how often."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.built = 0

    def __call__(self, context: ir.Context) -> Built:
        self.built += 1
        return Built(ir.Module.parse(self.text, context), {"arrays": ["a"], "number": self.built})

    def compile(self, *identity: object, place: str = "", **options: Any) -> tilec.Compiled:
        given = BuilderInput(self, identity or None, place)
        return compile_input(given, Options(**{"cache": True, **options}))


def test_a_front_end(program: Callable[..., str]) -> None:
    front_end = FrontEnd(program(1))
    first, hit = (front_end.compile("front end", 1) for _ in range(2))
    assert isinstance(hit, CachedCompilation)
    assert front_end.built == 1
    assert first.ptx == hit.ptx == tilec.compile(program(1), cache=False).ptx
    assert first.facts == hit.facts == {"arrays": ["a"], "number": 1}
    assert hit.nvvm == first.nvvm  # made when asked for
    assert front_end.built == 2
    front_end.text = program(2)
    assert front_end.compile("front end", 2).ptx != first.ptx
    assert front_end.compile("another", 1).facts["number"] == 4


def test_where_line_information_says_it_the_place_counts(program: Callable[..., str]) -> None:
    front_end = FrontEnd(program(1))
    for line in ("a.py:1", "a.py:2", "a.py:2"):
        front_end.compile("front end", place=line)
    assert front_end.built == 1
    for line in ("a.py:1", "a.py:2", "a.py:2"):
        front_end.compile("front end", place=line, lineinfo=True)
    assert front_end.built == 3


def test_what_nobody_can_tell_apart_is_made_each_time(program: Callable[..., str]) -> None:
    front_end = FrontEnd(program(1))
    for _ in range(2):
        front_end.compile()
        front_end.compile("front end", emit=Stage.NVVM)
        front_end.compile("front end", verify_each=True)
        front_end.compile("front end", instrumentation=Instrumentation())
        front_end.compile("front end", pipeline=pipeline(target("sm_80")))
    assert front_end.built == 10
    assert entries() == []
