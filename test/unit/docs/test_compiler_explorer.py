"""The configuration for Compiler Explorer names compilers that behave as it calls them.

Its compiler type `mlir` calls EXE [OPTIONS] -o FOLDER/example.out.mlir [OPTIONS OF THE USER] INPUT,
reads that file, and finds places in what is on standard error.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
