"""Search spaces: expressions, constraints, pins, problems, and declarations in Python and JSON."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilec.isa import TilecError
from tilec.tuning import load, powers
from tilec.tuning.expressions import parse
from tilec.tuning.problems import problem, read_problems

GEMM = """\
import tilec
import tilec.lang as tl


@tilec.tunable(
    {parameters},
    problem={{"m": 256, "n": 128, "k": 64}},
    arguments={{"a": "f16[m, k]", "b": "f16[k, n]", "c": "f32[m, n]"}},
    grid="cdiv(n, BN), cdiv(m, BM)",
    where={where},
)
@tilec.kernel(warps=4)
def gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    BM: tl.Constant[int] = 64,
    BN: tl.Constant[int] = 64,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], 32):
        acc = tl.dot(tl.load(a, (row, k), (BM, 32)), tl.load(b, (k, col), (32, BN)), acc)
    tl.store(c, (row, col), acc)
"""
TEMPLATE = """\
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @double(%x: memref<?xf32>)
      kernel attributes {known_block_size = array<i32: ${32 * warps}, 1, 1>} {
    %size = arith.constant ${B} : index
    %id = gpu.block_id x
    %at = arith.muli %id, %size : index
    %a = tile.load %x[%at] masked : memref<?xf32> -> tensor<${B}xf32>
    %b = arith.addf %a, %a : tensor<${B}xf32>
    tile.store %b, %x[%at] masked : tensor<${B}xf32>, memref<?xf32>
    gpu.return
  }
}
"""
DECLARED: dict[str, Any] = {
    "template": "double.mlir.in",
    "kernel": "double",
    "parameters": {"B": {"values": [64, 128, 256], "default": 128}, "warps": [1, 2]},
    "where": ["B >= 64 * warps"],
    "problem": {"n": 1000},
    "arguments": {"x": "f32[n]"},
    "grid": "cdiv(n, B)",
}


def gemm(
    folder: Path, parameters: str = '{"BM": (32, 64), "BN": (64,)}', where: str = "()"
) -> Path:
    file = folder / "gemm.py"
    file.write_text(GEMM.format(parameters=parameters, where=where))
    return file


def template(folder: Path, **changes: Any) -> Path:
    (folder / "double.mlir.in").write_text(TEMPLATE)
    file = folder / "double.json"
    file.write_text(json.dumps(DECLARED | changes, indent=2))
    return file


def candidates(file: Path) -> list[dict[str, int]]:
    found = load(file)
    return found.candidates(found.default_problem)


@pytest.mark.parametrize(
    "text",
    [
        "BM * BN // (32 * w) <= 128", "-BM // 3 + 2 ** w", "BM % 48 == 16 or not w > 2",
        "max(BM, BN, 100) - min(w, 3) + abs(-w)", "w in (1, 4)", "1 < w < 8",
        "BM if w == 4 else BN",
    ],
)  # fmt: skip
def test_expressions_are_python(text: str) -> None:
    for rows, columns, warps in itertools.product((64, 128), (32, 256), (1, 4, 8)):
        names = {"BM": rows, "BN": columns, "w": warps}
        builtins = {"min": min, "max": max, "abs": abs}
        assert parse(text).value(names) == eval(text, {"__builtins__": {}, **builtins}, names)


def test_cdiv_rounds_up() -> None:
    assert [parse("cdiv(n, 32)").value({"n": n}) for n in (1, 32, 33)] == [1, 1, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("__import__('os')", "`__import__('os')` has"), ("a.b", "has `a.b`"), ("B <", "is not an"),
        ("a @ b", "has `a @ b`"), ("a is b", "comparison"), ("1.5", "has `1.5`"), ("f(1)", "f(1)"),
        ("(" * 500 + "1" + ")" * 500, "is not an expression"), ("open", None),
    ],
)  # fmt: skip
def test_expressions_hold_nothing_else(text: str, said: str | None) -> None:
    if said is None:
        with pytest.raises(TilecError, match="has no value"):
            parse(text).value({})
        return
    with pytest.raises(TilecError) as error:
        parse(text, "f.py:1:2")
    assert str(error.value).startswith("f.py:1:2: error: ")
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["a // 0", "a % 0", "10 ** 10 ** 10", "a ** -1", "a + (1, 2)"])
def test_what_cannot_be_computed(text: str) -> None:
    with pytest.raises(TilecError, match="cannot be computed"):
        parse(text).value({"a": 3})


def test_candidates_are_those_of_a_loop_over_everything(tmp_path: Path) -> None:
    found = load(_with_powers(tmp_path))
    wanted = [
        {"BM": rows, "BN": columns, "warps": warps}
        for rows in (16, 32, 64, 128)
        for columns in (32, 64, 96, 128)
        for warps in (2, 4)
        if not rows * columns > 4096 * warps and not 256 % rows and (columns != 96 or warps == 4)
    ]
    assert found.candidates(found.default_problem) == wanted
    assert found.space.combinations == 32
    assert found.space.default == {"BM": 64, "BN": 64, "warps": 4}
    pinned = found.pinned({"BM": 32}).candidates(found.default_problem)
    assert pinned == [one for one in wanted if one["BM"] == 32]


def _with_powers(folder: Path) -> Path:
    file = gemm(
        folder,
        '{"BM": powers(16, 128), "BN": range(32, 129, 32), "warps": (2, 4)}',
        '["BM * BN <= 4096 * warps", "m % BM == 0", "BN != 96 or warps == 4"]',
    )
    file.write_text("from tilec.tuning import powers\n" + file.read_text())
    return file


def test_a_kernel_in_python_is_compiled_as_its_candidate_says(tmp_path: Path) -> None:
    found = load(gemm(tmp_path))
    problem = found.default_problem
    args = found.values({"BM": 32, "BN": 64}, problem)
    assert [(one.shape, one.dtype) for one in args] == [
        ((256, 64), np.float16), ((64, 128), np.float16), ((256, 128), np.float32),
    ]  # fmt: skip
    made = found.compile({"BM": 32, "BN": 64}, args, "sm_90")
    assert ".target sm_90" in made.ptx
    assert made.kernels[0].block == (128, 1, 1)
    assert found.ctas({"BM": 32, "BN": 64}, problem) == (2, 8, 1)


def test_a_template_is_compiled_as_its_candidate_says(tmp_path: Path) -> None:
    found = load(template(tmp_path))
    assert found.space.default == {"B": 128, "warps": 1}
    assert found.candidates(found.default_problem) == [
        {"B": b, "warps": w} for b in (64, 128, 256) for w in (1, 2) if b >= 64 * w
    ]
    x = np.arange(1000, dtype=np.float32)
    made = found.compile({"B": 256, "warps": 2}, [x], "sm_80")
    assert made.kernels[0].block == (64, 1, 1)
    made.launch(x, grid=found.ctas({"B": 256, "warps": 2}, found.default_problem), device="sim")
    np.testing.assert_array_equal(x, 2 * np.arange(1000))


@pytest.mark.parametrize(
    ("change", "at", "said"),
    [
        ({"where": ["B > 1000"]}, "{", "none of 6 combinations satisfies the constraints for "
         "n=1000: `B > 1000` rejects most"),
        ({"where": ["BLOCK > 1"]}, '"BLOCK > 1"', "reads 'BLOCK', which is neither a parameter"),
        ({"pins": {"C": 1}}, "{", "there is no parameter 'C'"),
        ({"parameters": {"B": [], "warps": [1]}}, '"B"', "parameter 'B' has no values"),
        ({"parameters": {"B": [1.5], "warps": [1]}}, '"B"', "integers are legal"),
        ({"parameters": {"B": {"from": 8, "to": 4}, "warps": [1]}}, '"B"', "no value between"),
        ({"parameters": {"B": [64]}}, "${32 * warps}", "there is no parameter 'warps'"),
        ({"arguments": {"x": "f33[n]"}}, '"x"', "f33"),
        ({"arguments": {"x": "f32[k]"}}, '"x"', "`k` reads 'k'"),
        ({"problem": {"n": 0}}, '"n"', "size 'n' is 0"),
        ({"tile": 1}, '"tile"', "unknown key 'tile'"),
        ({"grid": 3}, '"grid"', "'grid' is a string"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_error_at_its_place(
    tmp_path: Path, change: dict[str, Any], at: str, said: str
) -> None:
    file = template(tmp_path, **change)
    with pytest.raises(TilecError) as error:
        candidates(file)
    text = str(error.value)
    place, _, _ = text.partition(": error: ")
    assert said in text
    assert "\n" not in text
    name, line, column = place.rsplit(":", 2)
    assert Path(name).read_text().splitlines()[int(line) - 1][int(column) - 1 :].startswith(at)


@pytest.mark.parametrize(
    ("parameters", "where", "said"),
    [
        ('{"BX": (1,)}', "()", "'BX' is neither a constant of gemm"),
        ('{"target": (1,)}', "()", "cannot be searched"),
        ('{"BM": "wide"}', "()", "parameter 'BM' has the value 'wide'"),
        ('{"BM": (64,)}', '["BM >"]', "is not an expression"),
    ],
)
def test_what_is_wrong_in_python_is_at_its_line(
    tmp_path: Path, parameters: str, where: str, said: str
) -> None:
    file = gemm(tmp_path, parameters, where)
    with pytest.raises(TilecError) as error:
        load(file)
    assert str(error.value).startswith(f"{file}:5:1: error: ")
    assert said in str(error.value)


def test_files_that_declare_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    for text, said in (
        ("x = 1\n", "the file declares no kernel"),
        ("x = 1\nx / 0\n", ":2:1: error: "),
    ):
        file.write_text(text)
        with pytest.raises(TilecError, match=said):
            load(file)
    with pytest.raises(TilecError, match="no such file"):
        load(tmp_path / "b.py")
    bad = tmp_path / "c.json"
    bad.write_text('{"template": \n]')
    with pytest.raises(TilecError, match=r"c\.json:2:1: error: "):
        load(bad)


def test_problems(tmp_path: Path) -> None:
    sizes = {"m": 512, "n": 512}
    assert str(problem("n=64", sizes)) == "m=512,n=64"
    for text in ("n", "n=0", "n=1,n=2", "x=3", "n=-1"):
        with pytest.raises(TilecError):
            problem(text, sizes)
    file = tmp_path / "problems.txt"
    file.write_text("# of a model\nm=1,n=2\n\n  n=7 # narrow\nm=1,n=2\n")
    assert list(map(str, read_problems(file, sizes))) == ["m=1,n=2", "m=512,n=7"]
    file.write_text("m=1\n  q=2\n")
    with pytest.raises(TilecError, match=r"problems\.txt:2:3: error: the kernel has no size 'q'"):
        read_problems(file, sizes)


def test_powers() -> None:
    assert powers(16, 128) == (16, 32, 64, 128)
    assert powers(3, 30, base=3) == (3, 9, 27)
    for bounds in ((0, 4), (8, 4)):
        with pytest.raises(TilecError):
            powers(*bounds)
