"""`tile-run`: launches of tile programs and PTX, arguments, checks against numpy, errors."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tilec.tools import run_progress, tile_run
from tilec.tools import tilec as tilec_tool

ROOT = Path(__file__).resolve().parents[3]
GEMM = str(ROOT / "examples" / "gemm.mlir")
FAMILIES = str(ROOT / "examples" / "families.mlir")
MMA = str(ROOT / "examples" / "mma.mlir")

# y[i] = x[i] * factor of a CTA's 32 threads, with no bounds.
SCALE = """\
.version 8.0
.target sm_80
.address_size 64
.entry scale(.param .u64 y, .param .u64 x, .param .f32 factor)
{
  .reg .f32 %f<3>; .reg .b64 %d<4>; .reg .b32 %r<4>;
  ld.param.u64 %d1, [y];
  ld.param.u64 %d2, [x];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 32, %r1;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.f32 %f2, [%d2];
  mul.rn.f32 %f2, %f2, %f1;
  st.global.f32 [%d1], %f2;
  ret;
}
"""
TWO = SCALE + SCALE[SCALE.index(".entry") :].replace("scale", "other")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the tool; its exit code, standard output and standard error."""

    def go(*arguments: Any) -> tuple[int, str, str]:
        code = tile_run.main([str(a) for a in arguments])
        return code, *capsys.readouterr()

    return go


@pytest.fixture
def ptx(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a PTX file."""

    def write(text: str = SCALE) -> Path:
        path = tmp_path / "kernel.ptx"
        path.write_text(text)
        return path

    return write


def args(*specs: str) -> list[str]:
    return [word for spec in specs for word in ("--arg", spec)]


# Tile programs


def test_gemm_checked_and_written(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "c.npy"
    specs = args("randn:128x192:f16", "randn:192x256:f16", "zeros:128x256:f32")
    code, text, error = run(GEMM, "--grid", "2,1", *specs, "--check", "gemm", "--out", f"2={out}")
    assert (code, error) == (0, "")
    assert "check gemm: argument 2: largest difference" in text
    a, b = (
        np.random.default_rng((0, i)).standard_normal(s).astype(np.float16).astype(np.float64)
        for i, s in enumerate([(128, 192), (192, 256)])
    )
    np.testing.assert_allclose(np.load(out), a @ b, atol=1e-3)


@pytest.mark.parametrize(
    ("kernel", "a", "b", "c"),
    [
        ("gemm_s8", "i8", "i8", "i32"),
        ("gemm_bf16", "bf16", "bf16", "f32"),
        ("gemm_tf32", "f32", "f32", "f32"),
        ("gemm_f64", "f64", "f64", "f64"),
    ],
)
def test_one_kernel_of_several(run: Run, kernel: str, a: str, b: str, c: str) -> None:
    """B is given as N×K or K×N, as the kernel has it."""
    shape = "48x64" if kernel in ("gemm_s8", "gemm_bf16") else "64x48"
    kind = "randint" if a == "i8" else "randn"
    specs = args(f"{kind}:32x64:{a}", f"{kind}:{shape}:{b}", f"zeros:32x48:{c}")
    code, text, error = run(
        FAMILIES, "--kernel", kernel, "--grid", "3,2", *specs, "--check", "gemm"
    )
    assert (code, error) == (0, "")
    assert "check gemm: argument 2" in text


def test_an_addend(run: Run) -> None:
    specs = args("randn:16x16:f16", "randn:8x16:f16", "randn:16x8:f32", "zeros:16x8:f32")
    assert run(MMA, *specs, "--check", "gemm")[0] == 0


def test_json_is_the_report_of_the_simulator(run: Run) -> None:
    specs = args("randint:128x64:f16", "randint:64x128:f16", "zeros:128x128:f32")
    code, text, _ = run(GEMM, *specs, "--check", "gemm", "--report", "json")
    document = json.loads(text)
    assert code == 0
    assert document["device"] == "sim"
    assert document["report"]["flops"] == 2 * 128 * 128 * 64
    (check,) = document["check"]
    assert (check["argument"], check["wrong"], check["largest"]) == (2, 0, 0.0)


def test_the_architecture_decides_the_bits(run: Run, tmp_path: Path) -> None:
    def bits(*options: str) -> bytes:
        out = tmp_path / "d.npy"
        specs = args("randn:16x16:f16", "randn:8x16:f16", "zeros:16x8:f32", "zeros:16x8:f32")
        assert run(MMA, *specs, *options, "--out", f"3={out}")[0] == 0
        return out.read_bytes()

    assert bits() == bits("--arch", "sm_80") == bits("--device", "sim")
    assert bits("--arch", "sm_90") != bits("--arch", "sm_80")
    assert bits("--numerics", "fast") != bits("--numerics", "exact")
    assert bits("--seed", "1") != bits("--seed", "0")
    assert bits("--no-checks") == bits()


def test_the_json_beside_ptx_says_how_to_launch(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "gemm.ptx"
    assert tilec_tool.main([GEMM, "-o", str(path)]) == 0
    specs = args("randn:128x64:f16", "randn:64x128:f16", "zeros:128x128:f32")
    assert run(path, *specs, "--check", "gemm")[0] == 0
    path.with_suffix(".json").unlink()
    code, _, error = run(path, "--block", 256, *specs)
    assert code == 1
    assert "takes 12 arguments" in error


def test_an_error_of_the_program_is_shown_in_its_place(run: Run, tmp_path: Path) -> None:
    program = tmp_path / "wrong.mlir"
    program.write_text("gpu.module @m {\n  gpu.func @k() kernel {\n    tile.nothing\n  }\n}\n")
    code, text, error = run(program)
    assert (code, text) == (1, "")
    assert error.startswith(f"{program}:3:")
    assert "error: " in error


def test_findings_name_the_line_of_the_tile_program(run: Run) -> None:
    specs = args("zeros:128x64:f16", "zeros:64x128:f16", "zeros:128x128:f32")
    code, text, error = run(GEMM, "--grid", "2,1", *specs)
    assert code == 1
    assert "out-of-bounds" in text
    assert "gemm.mlir:" in text
    assert error.startswith("error: kernel 'gemm': ")


# PTX


def test_ptx_with_arrays_of_files_and_scalars(
    run: Run, ptx: Callable[..., Path], tmp_path: Path
) -> None:
    x, out = np.arange(64, dtype=np.float32), tmp_path / "y.npy"
    np.save(tmp_path / "x.npy", x)
    launch = ["--grid", 2, "--block", "32,1,1"]
    specs = args("zeros:64", str(tmp_path / "x.npy"), "f32:2.5")
    assert run(ptx(), *launch, *specs, "--out", f"0={out}")[0] == 0
    np.testing.assert_array_equal(np.load(out), x * np.float32(2.5))
    specs = args("zeros:8x8:f32", "arange:64:f32", "-0.5")
    assert run(ptx(), *launch, *specs, "--out", f"0={out}")[0] == 0
    np.testing.assert_array_equal(np.load(out), x.reshape(8, 8) * np.float32(-0.5))


def test_files_of_narrow_types(run: Run, tmp_path: Path) -> None:
    a = np.arange(16 * 64).reshape(16, 64).astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "a.npy", a)  # numpy itself calls the elements V2
    specs = [f"{tmp_path / 'a.npy'}:bf16", "randint:16x64:bf16", "zeros:16x16:f32"]
    launch = [FAMILIES, "--kernel", "gemm_bf16"]
    assert run(*launch, *args(*specs), "--check", "gemm")[0] == 0
    code, _, error = run(*launch, *args(specs[0].removesuffix(":bf16"), *specs[1:]))
    assert code == 1
    assert "elements of type" in error


def test_standard_input(tmp_path: Path) -> None:
    def go(text: str, *options: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "tilec.tools.tile_run", "-", *options]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)

    done = go(SCALE, "--block", "32", *args("zeros:32", "randn:32", "f32:1"))
    assert (done.returncode, done.stderr) == (0, "")
    done = go("gpu.module @m {", "--block", "32")
    assert done.returncode == 1
    assert "<stdin>:1:" in done.stderr


def test_dry_run(run: Run, ptx: Callable[..., Path]) -> None:
    assert run(ptx(), "--dry-run") == (0, "", "")
    code, _, error = run(ptx(SCALE.replace("mul.rn.f32 %f2", "frobnicate.f32 %f2")), "--dry-run")
    assert code == 1
    assert "kernel.ptx:17:" in error


def test_step_limit(run: Run, ptx: Callable[..., Path]) -> None:
    endless = ptx(SCALE.replace("  ret;", "again: bra again;\n  ret;"))
    launch = [endless, "--block", 32, *args("zeros:32", "zeros:32", "0")]
    code, text, _ = run(*launch, "--max-steps", 1000)
    assert code == 1
    assert "step-limit" in text


# Checks against numpy


REFERENCE = "def reference(y, x, factor):\n    return x * factor\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def reference(y, x, factor):\n    return {0: x * factor}\n", ""),
        (
            "RTOL = 0.1\ndef reference(y, x, factor):\n    return {0: x * factor * 1.05}\n",
            "",
        ),
        (
            "ATOL = 0.01\ndef reference(y, x, factor):\n    return {0: x * factor + 1}\n",
            "32 of 32 elements are wrong; at [0] 0.0 for 1.0, off by 1 where 0.01 is allowed",
        ),
        ("def reference(y, x, factor):\n    return {0: x}\n", "31 of 32 elements are wrong"),
    ],
)
def test_reference_of_a_file(
    run: Run, ptx: Callable[..., Path], tmp_path: Path, text: str, says: str
) -> None:
    check, out = tmp_path / "check.py", tmp_path / "y.npy"
    check.write_text(text)
    specs = args("zeros:32", "arange:32", "f32:3")
    code, found, _ = run(ptx(), "--block", 32, *specs, "--check", check, "--out", f"0={out}")
    assert code == bool(says)
    assert says in found
    assert out.exists() == (not says)


def test_a_reference_may_return_the_last_array(run: Run, tmp_path: Path) -> None:
    check = tmp_path / "check.py"
    check.write_text(
        "import numpy as np\ndef reference(a, b, c, d):\n"
        "    return a.astype(float) @ b.astype(float).T + c\n"
    )
    specs = args("randint:16x16:f16", "randint:8x16:f16", "randint:16x8", "zeros:16x8")
    assert run(MMA, *specs, "--check", check)[0] == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def reference(y, x, factor):\n    return 1 / 0\n", "check.py:2: ZeroDivisionError"),
        ("def reference(:\n", "check.py:1: "),
        ("import nothing_of_this_name\n", "check.py:1: ModuleNotFoundError"),
        ("x = 1\n", "defines no function 'reference'"),
        ("def reference(*a):\n    return {2: 1}\n", "argument 2 is not an array"),
        ("def reference(*a):\n    return {0: a[1][:3]}\n", "has shape (3,)"),
    ],
)
def test_references_that_fail(
    run: Run, ptx: Callable[..., Path], tmp_path: Path, text: str, says: str
) -> None:
    check = tmp_path / "check.py"
    check.write_text(text)
    specs = args("zeros:32", "arange:32", "f32:3")
    code, _, error = run(ptx(), "--block", 32, *specs, "--check", check)
    assert code == 1
    assert error.startswith("error: ")
    assert says in error
    assert "Traceback" not in error


def test_a_wrong_product_is_found(run: Run, ptx: Callable[..., Path], tmp_path: Path) -> None:
    """A kernel that only scales; and one whose sums are right to less than the types allow."""
    specs = args("randn:4x8", "randn:8x4", "zeros:4x4", "f32:1")
    swapped = ptx(
        SCALE.replace(
            "(.param .u64 y, .param .u64 x,", "(.param .u64 x, .param .u64 z, .param .u64 y,"
        )
    )
    out = tmp_path / "c.npy"
    code, text, error = run(swapped, "--block", 16, *specs, "--check", "gemm", "--out", f"2={out}")
    assert code == 1
    assert "16 of 16 elements are wrong" in text
    assert error == "error: --check gemm: the result is wrong\n"
    assert not out.exists()


def test_gemm_refuses_what_is_no_product(run: Run, ptx: Callable[..., Path]) -> None:
    launch = [ptx(), "--block", 32, "--check", "gemm"]
    assert "takes three matrices" in run(*launch, *args("zeros:32", "zeros:32", "1"))[2]
    specs = args("zeros:4x8", "zeros:4x4", "zeros:4x4")
    assert "no product fits the shapes 4x8, 4x4, 4x4" in run(*launch, *specs)[2]


# Errors


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--device", "cuda", "--lines"], "--lines is only for the simulator"),
        (["--kernel", "scal"], "no kernel 'scal'; nearest: scale"),
        ([], "does not fix its threads; --block"),
        (["--block", "32"], "takes 3 arguments"),
        (["--block", "2048", *args("zeros:32", "zeros:32", "1")], "at most 1024"),
        (["--arg", "randn:3x:f16"], "argument 0, 'randn:3x:f16': '3x' is not a shape"),
        (["--arg", "randn:3:f17"], "unknown type 'f17'; legal: f16, bf16"),
        (["--arg", "randn:3:i8"], "'randint' makes whole numbers"),
        (["--arg", "zeros:9999999x9999999"], "more than 16 GiB"),
        (["--arg", "i8:300"], "300 does not fit int8"),
        (["--arg", "i32:1.5"], "1.5 does not fit int32"),
        (["--arg", "i32:inf"], "inf does not fit int32"),
        (["--arg", "some"], "neither a file, an array nor a number"),
        (["--arg", "missing.npy"], "missing.npy: No such file"),
        (["--arg", __file__ + ".npy"], "No such file"),
        (["--out", "0=y.npy", "--arg", "1"], "--out 0=y.npy: argument 0 is not an array"),
        (["--out", "7=y.npy"], "argument 7 is not an array"),
        (["--arch", "sm_9", "--block", "32", *args("zeros:32", "zeros:32", "1")], "sm_9"),
        (["--block", "32", *args("1", "2", "zeros:4")], "argument 2 is a pointer"),
        (["--check", "missing.py"], "missing.py: No such file"),
    ],
)
def test_errors(
    run: Run, ptx: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    options: list[str], says: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    before = {ptx().name}
    code, text, error = run("kernel.ptx", *options)
    assert (code, text) == (1, "")
    assert error.startswith("error: ")
    assert says in error
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("specs", "says"),
    [
        (["zeros:128x64:f16"], "takes 3 arguments"),
        (["1", "zeros:64x128:f16", "zeros:128x128"], "argument 0 is not an array"),
        (["zeros:64:f16", "zeros:64x128:f16", "zeros:128x128"], "takes ?x?xf16"),
        (["zeros:128x64:bf16", "zeros:64x128:f16", "zeros:128x128"], "elements of bfloat16"),
    ],
)
def test_arrays_that_do_not_fit_a_tile_program(run: Run, specs: list[str], says: str) -> None:
    code, _, error = run(GEMM, *args(*specs))
    assert code == 1
    assert says in error


def test_several_kernels_need_a_name(run: Run, ptx: Callable[..., Path]) -> None:
    code, _, error = run(ptx(TWO), "--block", 32)
    assert code == 1
    assert "there are: scale, other" in error


@pytest.mark.parametrize("contents", [b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_files_that_hold_no_array(
    run: Run, ptx: Callable[..., Path], tmp_path: Path, contents: bytes
) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(contents)
    code, _, error = run(ptx(), *args(str(path)))
    assert code == 1
    assert "not a numpy array" in error


@pytest.mark.parametrize(
    "options",
    [["--grid", "0"], ["--grid", "1,2,3,4"], ["--out", "x.npy"], ["--seed", "-1"], ["-O9"]],
)
def test_usage(run: Run, ptx: Callable[..., Path], options: list[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        run(ptx(), *options)
    assert raised.value.code == 2


def test_findings_leave_no_file(run: Run, ptx: Callable[..., Path], tmp_path: Path) -> None:
    out = tmp_path / "y.npy"
    specs = args("zeros:31", "zeros:32", "1")
    code, text, error = run(ptx(), "--block", 32, *specs, "--out", f"0={out}")
    assert code == 1
    assert "out-of-bounds" in text
    assert error == "error: kernel 'scale': 1 finding\n"
    assert not out.exists()


# Progress


class Terminal:
    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_progress_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_progress, "_PERIOD", 0.01)

    def shown(delay: float) -> str:
        monkeypatch.setattr(run_progress, "_DELAY", delay)
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        with run_progress.ProgressBar() as bar:
            bar.update(3, 4)
            for _ in range(6000):
                if delay == 0 and "75%" not in terminal.text:
                    run_progress.time.sleep(0.01)
        return terminal.text

    text = shown(0)
    assert "75% 3/4 CTAs" in text
    assert text.endswith("\r\x1b[K")
    assert shown(3600) == ""
    monkeypatch.undo()
    with run_progress.ProgressBar() as bar:
        bar.update(3, 4)
    assert capsys.readouterr().err == ""


TABLE = """\
.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 table[16];
.entry look(.param .u64 y)
{
  .reg .b32 %r<3>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  mov.u64 %d3, table;
  add.u64 %d3, %d3, %d2;
  ld.const.u32 %r2, [%d3];
  add.u64 %d1, %d1, %d2;
  st.global.u32 [%d1], %r2;
  ret;
}
"""


def test_symbols_are_set(run: Run, tmp_path: Path) -> None:
    source, found = tmp_path / "k.ptx", tmp_path / "y.npy"
    source.write_text(TABLE)
    common = (
        source,
        "--device",
        "sim",
        "--block",
        4,
        "--arg",
        "zeros:4:i32",
        "--out",
        f"0={found}",
    )
    assert run(*common, "--symbol", "table=arange:4:i32")[0] == 0
    np.testing.assert_array_equal(np.load(found), np.arange(4))


@pytest.mark.parametrize(
    ("symbol", "reason"),
    [
        ("tables=arange:4:i32", "no .global or .const variable 'tables'; it has table"),
        ("table=arange:5:i32", "variable 'table' has 16 bytes; the array has 20"),
        ("table=null", "--symbol table=null: neither an array nor a number with a type"),
    ],
)
def test_symbols_that_do_not_fit(run: Run, tmp_path: Path, symbol: str, reason: str) -> None:
    source = tmp_path / "k.ptx"
    source.write_text(TABLE)
    code, _, said = run(
        source, "--device", "sim", "--block", 4, "--arg", "zeros:4:i32", "--symbol", symbol
    )
    assert code == 1
    assert reason in said
    assert said.count("\n") == 1
