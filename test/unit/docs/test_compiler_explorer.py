"""The configuration for Compiler Explorer names compilers that behave as it calls them.

Its compiler type `mlir` calls EXE [OPTIONS] -o FOLDER/example.out.mlir [OPTIONS OF THE USER] INPUT,
reads that file, and finds places in what is on standard error.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tilec.isa import target
from tilec.pipelines import pipeline

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "compiler_explorer.md").read_text(encoding="utf-8")
TILEC = str(Path(sys.executable).with_name("tilec"))


def properties() -> dict[str, str]:
    (text,) = re.findall(r"^```properties\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return dict(line.split("=", 1) for line in text.splitlines() if line)


FOUND = properties()
COMPILERS = FOUND["group.tilec.compilers"].split(":")
SHOWS = {
    "tilecptx": ".entry mma",
    "tileclines": "\t.loc\t1 ",
    "tilecllvm": "define ptx_kernel void @mma(",
    "tilecnvvm": "llvm.func @mma(",
    "tilectile": "= tile.mma ",
}


def run(compiler: str, source: Path, folder: Path, *options: str) -> tuple[int, str, Path]:
    output = folder / "example.out.mlir"
    own = FOUND.get(f"compiler.{compiler}.options", "").split()
    command = [TILEC, *own, "-o", str(output), *options, str(source)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr, output


def test_every_compiler_is_described():
    assert FOUND["compilers"] == "&tilec"
    assert FOUND["defaultCompiler"] in COMPILERS
    assert set(COMPILERS) == set(SHOWS)
    for compiler in COMPILERS:
        assert FOUND[f"compiler.{compiler}.exe"].endswith("/bin/tilec")
        assert FOUND[f"compiler.{compiler}.name"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_output(compiler, tmp_path):
    code, _, output = run(compiler, ROOT / "examples" / "mma.mlir", tmp_path, "--target", "sm_90a")
    assert code == 0
    assert SHOWS[compiler] in output.read_text()


def test_errors_have_places(tmp_path):
    source = tmp_path / "example.mlir"
    source.write_text("gpu.module @m {\n  nonsense\n}\n")
    code, said, output = run("tilecptx", source, tmp_path)
    assert code == 1
    assert re.match(rf"{re.escape(str(source))}:2:\d+: error: ", said)
    assert not output.exists()


def test_version():
    flag = FOUND["group.tilec.versionFlag"]
    done = subprocess.run([TILEC, flag], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"tilec \d+\.\d+\.\d+\n", done.stdout)


HEADING = re.compile(r"^// -----// IR Dump (Before|After) (.+) //----- //$")
KERNEL = re.compile(r"^\s*\w+\.func\s+(?:\w+\s+)?@(\w+).*\{$")
"""What its parser of MLIR's dumps looks for: headings, and functions that begin on a line."""


def test_dumps_of_passes_are_what_its_pipeline_viewer_reads(tmp_path):
    flags = ("--mlir-print-ir-before-all", "--mlir-print-ir-after-all")
    source = ROOT / "examples" / "mma.mlir"
    code, said, _ = run("tilecptx", source, tmp_path, "--target", "sm_80", *flags)
    assert code == 0
    dumps: list[tuple[str, str, list[str]]] = []
    for line in said.splitlines():
        if found := HEADING.match(line):
            dumps.append((found[1], found[2], []))
        else:
            assert "IR Dump" not in line
            dumps[-1][2].append(line)
    before = [(name, lines) for when, name, lines in dumps if when == "Before"]
    after = [(name, lines) for when, name, lines in dumps if when == "After"]
    assert sorted(name for name, _ in before) == sorted(name for name, _ in after)
    passes = str(pipeline(target("sm_80")))
    for name, _ in after:
        # Class: argument, with options; the argument is how the pipeline names the pass.
        assert re.split(r"[:({]\s*", name.rstrip(")"))[1] in passes, name
    tiles = [lines for name, lines in after if "tile-" in name]
    names = [match[1] for lines in tiles for line in lines if (match := KERNEL.match(line))]
    assert set(names) == {"mma"}
    assert len(names) >= len(tiles) - 3  # behind the last passes it is an llvm.func
    changed = [name for (name, old), (_, new) in zip(before, after, strict=True) if old != new]
    assert 0 < len(changed) < len(after)
