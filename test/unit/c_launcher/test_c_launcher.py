"""C that launches kernels, built by the system's compiler and run on a driver that writes down."""

import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.launch.c_launcher import c_launcher
from tilec.tools import tilec as command

ROOT = Path(__file__).resolve().parents[3]
GEMM = ROOT / "examples" / "kernels" / "gemm.mlir"
PLACES = [
    *(Path(p, "nvidia", "cu13", "include") for p in sys.path),
    *(Path(p, "triton", "backends", "nvidia", "include") for p in sys.path),
    Path("/usr/local/cuda/include"),
]
INCLUDE = next((place for place in PLACES if (place / "cuda.h").exists()), None)
CC = shutil.which("cc") or shutil.which("gcc")
needs_c = pytest.mark.skipif(not INCLUDE or not CC, reason="no C compiler, or no cuda.h")
STRICT = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]


def built(
    where: Path, *sources: Path, compiler: str | None = CC, flags: list[str] = STRICT
) -> Path:
    """A program of C and the driver that writes down."""
    assert compiler
    driver = where / "libcuda.so"
    fake = Path(__file__).with_name("libcuda.c")
    common = ["-I", str(INCLUDE), "-I", str(where)]
    subprocess.run([str(CC), "-shared", "-fPIC", *common, fake, "-o", driver], check=True)
    program = where / "program"
    linked = [f"-L{where}", f"-Wl,-rpath,{where}", "-lcuda", "-o", str(program)]
    done = subprocess.run(
        [compiler, *flags, *common, *map(str, sources), *linked],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return program


def ran(program: Path, sizes: list[int]) -> tuple[int, list[str], str]:
    """Its exit code, the calls of the driver, and what it says."""
    environment = {**os.environ, "PARAMETERS": " ".join(map(str, sizes))}
    done = subprocess.run([program], check=False, capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout.splitlines(), done.stderr


@needs_c
def test_the_example_builds_and_launches(tmp_path: Path) -> None:
    out = str(tmp_path / "gemm.cubin")
    flags = ["--target", "sm_90a", "--emit", "cubin", "--launcher", "-o", out]
    assert command.main([str(GEMM), *flags]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        *("gemm.c", "gemm.cubin", "gemm.h", "gemm.json"),
    }
    program = built(tmp_path, ROOT / "examples" / "c_launcher" / "main.c", tmp_path / "gemm.c")
    code, lines, _ = ran(program, [8] * 12 + [4] * 3 + [128] * 2)
    assert code == 1  # no kernel has run: C is not K
    assert lines[:2] == ["load ELF\x02", "function gemm"]
    (shared,) = re.findall(r'"dynamic_shared": (\d+)', (tmp_path / "gemm.json").read_text())
    assert lines[2] == f"attribute 8 {shared}"
    # dimensions from the last: extent, stride in bytes, box, step
    assert [line for line in lines if line.startswith("map")] == [
        "map 6 2 0 3 2 0 72 144 64 1 200 0 128 1",
        "map 6 2 0 3 2 0 136 272 64 1 72 0 64 1",
    ]
    assert "of device 3" in lines  # which has three SMs, fewer than the grid's four tiles
    assert "cluster 1 2 1 1" in lines  # of which one takes two of them
    assert f"launch 2 1 1 384 1 1 {shared} 0" in lines
    values = [line.split()[1] for line in lines if line.startswith("parameter")]
    grid = [int.from_bytes(bytes.fromhex(values.pop(12)), "little") for _ in "xyz"]
    numbers = [struct.unpack("<q", bytes.fromhex(value[:16]))[0] for value in values]
    a, b, c = numbers[0], numbers[4], numbers[8]
    assert numbers == [a, 200, 72, 72, b, 72, 136, 136, c, 200, 136, 136, a, b]
    assert grid == [2, 2, 1]
    assert lines[-2] == "end 1"


@tilec.kernel(warps=2)
def scaled(
    x: tl.Array[tl.float32, int, int],
    out: tl.Array[tl.float32, int, int],
    maybe: list[tl.Array[tl.int32, int]],
    n: tl.Scalar[tl.int16],
    by: float,
    half: tl.Scalar[tl.float16],
    flag: bool,
    size: int,
) -> None:
    held = tl.load(x, (0, 0), (16, 16)) * by + half.astype(tl.float32)
    if flag and size > n.astype(tl.int64):
        tl.store(out, (0, 0), held + tl.load(maybe[1], 0, 16).astype(tl.float32))


MAIN = """
#include <stdio.h>
#include "kernels.h"
int main(void) {
  kernels_module module;
  if (kernels_load(&module)) return 2;
  tilec_array2 x = {256, {3, 5}, {8, 1}}, out = {DATA, {SHAPE}, {STRIDES}};
  tilec_array1 first = {4096, {7}, {1}}, second = {8192, {9}, {1}};
  CUresult status = kernels_launch_scaled(&module, 1, 2, 3, (CUstream)77, &x, &out, &first, &second,
                                          -2, 1.5f, 0x3c00, 1, 1ll << 40);
  fprintf(stderr, "%d %s", status, kernels_refused());
  return 0;
}
"""


def sources(
    where: Path, data: str = "4096 + 1024", shape: str = "3, 5", strides: str = "8, 1"
) -> list[Path]:
    memory = np.zeros((3, 8), np.float32)
    x, out = memory[:, :5], np.zeros((3, 8), np.float32)[:, :5]
    lists = [np.zeros(7, np.int32), np.zeros(9, np.int32)]
    compiled = scaled.compile(x, out, lists, 1, 1.0, np.float16(1), True, 3)
    for suffix, text in zip((".h", ".c"), compiled.c_launcher("kernels"), strict=True):
        (where / f"kernels{suffix}").write_text(text, encoding="utf-8")
    main = MAIN.replace("DATA", data).replace("SHAPE", shape).replace("STRIDES", strides)
    (where / "main.c").write_text(main, encoding="utf-8")
    return [where / "main.c", where / "kernels.c"]


@needs_c
def test_every_type_is_passed(tmp_path: Path) -> None:
    program = built(tmp_path, *sources(tmp_path))
    arrays, scalars = [8] * 4 + [8] * 4 + [8, 8] + [8, 8], [2, 4, 2, 1, 8]
    code, lines, said = ran(program, [*arrays, *scalars])
    assert (code, said) == (0, "0 ")
    assert "launch 1 2 3 64 1 1 0 77" in [re.sub(r" \d+ 77$", " 0 77", line) for line in lines]
    values = [bytes.fromhex(line.split()[1]) for line in lines if line.startswith("parameter")]
    layout = "<" + "q" * 12 + "hfHBq"
    assert struct.unpack(layout, b"".join(values)) == (
        *(256, 3, 5, 8),
        *(4096 + 1024, 3, 5, 8),
        *(4096, 7),
        *(8192, 9),
        *(-2, 1.5, 0x3C00, 1, 1 << 40),
    )
    assert lines[-1] == "end 1"


@needs_c
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"data": "4096 + 4"}, "out: the address is a multiple of 16"),
        ({"strides": "8, 2"}, "out: dimension 1 has a stride of 1 element"),
        ({"strides": "7, 1"}, "out: the stride of dimension 0 is a multiple of"),
        ({"shape": "-3, 5"}, "out: a negative extent"),
        ({"data": "256 + 64"}, "out and x overlap|x and out overlap"),
    ],
)
def test_what_the_kernel_does_not_take_is_refused(
    tmp_path: Path, given: dict[str, str], reason: str
) -> None:
    program = built(tmp_path, *sources(tmp_path, **given))
    _, lines, said = ran(program, [8])
    assert re.fullmatch(rf"1 ({reason}).*", said)
    assert not any(line.startswith("launch") for line in lines)


@needs_c
def test_a_kernel_of_clusters_is_launched_so(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "hopper" / "gemm_cluster.mlir").read_text(encoding="utf-8")
    compiled = tilec.compile(text, target="sm_90a")
    (kernel,) = compiled.kernels
    for suffix, made in zip((".h", ".c"), compiled.c_launcher("kernels"), strict=True):
        (tmp_path / f"kernels{suffix}").write_text(made, encoding="utf-8")
    arrays = ", ".join(f"&a{i}" for i in range(3))
    held = ", ".join(f"a{i} = {{{4096 << i * 4}, {{512, 512}}, {{512, 1}}}}" for i in range(3))
    main = f"""#include "kernels.h"
    int main(void) {{
      kernels_module module;
      tilec_array2 {held};
      if (kernels_load(&module)) return 2;
      return kernels_launch_{kernel.name}(&module, 2, 2, 1, NULL, {arrays});
    }}"""
    (tmp_path / "main.c").write_text(main.replace("NULL", "0"), encoding="utf-8")
    program = built(tmp_path, tmp_path / "main.c", tmp_path / "kernels.c")
    code, lines, _ = ran(program, [])
    assert code == 0
    assert kernel.cluster
    assert f"cluster 1 {' '.join(map(str, kernel.cluster))}" in lines


@needs_c
@pytest.mark.parametrize(
    ("a", "b", "block"),
    [
        ("{200, 72}, {72, 1}", "{72, 136}, {136, 1}", 384),
        ("{200, 0}, {72, 1}", "{0, 136}, {136, 1}", 256),  # no elements
        ("{200, 72}, {0, 1}", "{72, 136}, {136, 1}", 256),  # rows that are one
        ("{1, 72}, {0, 1}", "{72, 136}, {136, 1}", 384),  # one row
    ],
)
def test_arrays_that_no_map_describes(tmp_path: Path, a: str, b: str, block: int) -> None:
    """They are for the kernel without maps, whose threads copy themselves, a CTA a tile."""
    compiled = tilec.compile(GEMM.read_text(encoding="utf-8"), target="sm_90a")
    for suffix, made in zip((".h", ".c"), compiled.c_launcher("kernels"), strict=True):
        (tmp_path / f"kernels{suffix}").write_text(made, encoding="utf-8")
    main = f"""#include "kernels.h"
    int main(void) {{
      kernels_module module;
      tilec_array2 a = {{1 << 20, {a}}}, b = {{1 << 21, {b}}};
      tilec_array2 c = {{1 << 22, {{200, 136}}, {{136, 1}}}};
      if (kernels_load(&module)) return 2;
      if (kernels_launch_gemm(&module, 2, 2, 1, 0, &a, &b, &c)) return 3;
      return kernels_unload(&module);
    }}"""
    (tmp_path / "main.c").write_text(main, encoding="utf-8")
    program = built(tmp_path, tmp_path / "main.c", tmp_path / "kernels.c")
    code, lines, _ = ran(program, [])
    assert code == 0
    assert any(line.startswith("map") for line in lines) == (block == 384)
    (launched,) = (line.split() for line in lines if line.startswith("launch"))
    grid = ["2", "1", "1"] if block == 384 else ["2", "2", "1"]  # of three SMs, one cluster
    assert launched[1:5] == [*grid, str(block)]


@needs_c
@pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler")
def test_the_header_is_c_plus_plus(tmp_path: Path) -> None:
    sources(tmp_path)
    text = (
        '#include "kernels.h"\n#include "kernels.h"\nint main() { return kernels_refused() == 0; }'
    )
    (tmp_path / "main.cpp").write_text(text, encoding="utf-8")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    common = ["-I", str(INCLUDE), "-I", str(tmp_path)]
    subprocess.run(["c++", *flags, *common, tmp_path / "main.cpp"], check=True)


@pytest.mark.parametrize("name", ["", "3d", "a-b", "while", "ü"])
def test_a_name_that_is_none_in_c_is_refused(name: str) -> None:
    compiled = scaled.compile(
        *[np.zeros((4, 4), np.float32)] * 2,
        [np.zeros(1, np.int32)] * 2,
        1,
        1.0,
        np.float16(1),
        True,
        3,
    )
    with pytest.raises(tilec.TilecError, match="is not a name in C; legal: letters"):
        compiled.c_launcher(name)


def test_arguments_whose_names_are_words_of_c() -> None:
    @tilec.kernel
    def kernel(int: tl.AnyArray, stream: float, module: float) -> None:  # noqa: A002
        tl.store(int, 0, tl.zeros(8) + stream + module)

    header, source = kernel.compile(np.zeros(8, np.float32), 1.0, 2.0).c_launcher("k")
    assert "const tilec_array1 *int_," in header
    assert "float stream_," in header
    assert "&module_" in source


@tilec.kernel(warps=8)
def double(
    extents: tl.AnyArray, strides: tl.AnyArray, map0: tl.AnyArray, refuse: float, virtual: float
) -> None:
    acc = tl.zeros((128, 128))
    for k in range(0, extents.shape[1], 64):
        left, right = tl.load(extents, (0, k), (128, 64)), tl.load(strides, (k, 0), (64, 128))
        acc = tl.dot(left, right, acc)
    tl.store(map0, (0, 0), acc * refuse + virtual)


@needs_c
def test_names_of_the_source_s_own_are_left_to_it(tmp_path: Path) -> None:
    left, right = np.zeros((2, 256, 256), np.float16)
    sums = np.zeros((128, 128), np.float32)
    compiled = double.using(target="sm_90a").compile(left, right, sums, 1.0, 2.0)
    header, source = compiled.c_launcher("kernels")
    assert source.count("cuTensorMapEncodeTiled") == 3  # of both factors and of the sums
    (tmp_path / "kernels.h").write_text(header, encoding="utf-8")
    (tmp_path / "kernels.c").write_text(source, encoding="utf-8")
    main = """#include "kernels.h"
    int main(void) {
      kernels_module module;
      tilec_array2 a = {1 << 20, {256, 256}, {256, 1}}, b = a, c = {1 << 24, {128, 128}, {128, 1}};
      b.data = 1 << 21;
      if (kernels_load(&module)) return 2;
      return kernels_launch_double_(&module, 1, 1, 1, 0, &a, &b, &c, 1.0f, 2.0f);
    }"""
    (tmp_path / "main.c").write_text(main, encoding="utf-8")
    program = built(tmp_path, tmp_path / "main.c", tmp_path / "kernels.c")
    code, lines, _ = ran(program, [])
    assert code == 0
    assert "function double" in lines
    cpp = shutil.which("c++")
    if cpp is not None:
        common = [cpp, "-std=c++20", "-fsyntax-only", "-I", INCLUDE, "-x", "c++"]
        subprocess.run([*map(str, common), str(tmp_path / "kernels.h")], check=True)


@needs_c
def test_no_argument_hides_what_a_launch_declares(tmp_path: Path) -> None:
    """An argument may have the name of any variable of the source, of clusters too."""
    abi = tilec.compile(GEMM.read_text(encoding="utf-8"), target="sm_90a").abi
    (kernel,) = abi.kernels
    assert kernel.cluster
    assert kernel.ctas_per_sm
    source = c_launcher(abi, "", "kernels").source
    declared = {*re.findall(r"^  (?:\w+ )+\**(\w+)(?:\[\w*\])? ?[=;]", source, re.MULTILINE)}
    assert {"ctas", "clusters", "config", "parameters", "sms"} <= declared
    first, *others = kernel.arguments
    for name in declared:
        renamed = kernel._replace(arguments=(first._replace(name=name), *others))
        made = c_launcher(abi._replace(kernels=(renamed,)), "", "kernels")
        (tmp_path / "kernels.h").write_text(made.header, encoding="utf-8")
        (tmp_path / "kernels.c").write_text(made.source, encoding="utf-8")
        command_ = [str(CC), *STRICT, "-fsyntax-only", "-I", str(INCLUDE), "kernels.c"]
        subprocess.run(command_, check=True, cwd=tmp_path)


def test_without_a_file_there_is_no_launcher(capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main([str(GEMM), "--launcher"]) == 1
    assert (
        "--launcher writes C beside a file of PTX or cubin: give -o FILE" in capfd.readouterr().err
    )


def test_it_never_writes_over_its_input(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "gemm.c"
    program.write_text(GEMM.read_text(encoding="utf-8"), encoding="utf-8")
    assert command.main([str(program), "--launcher", "-o", str(tmp_path / "gemm.ptx")]) == 1
    assert program.read_text(encoding="utf-8") == GEMM.read_text(encoding="utf-8")
    assert "gemm.c" in capfd.readouterr().err
