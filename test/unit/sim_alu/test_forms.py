"""Every spelling that `tilec.sim.alu` knows is PTX, runs on any shape, and keeps its promises.

ptxas, where it is installed, takes each with registers of the types that its signature says.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from tilec.isa import TilecError
from tilec.sim.alu import Unsupported, forms, opcodes, resolve, signature
from tilec.sim.alu.bits import register_dtype, width


def text_counts(types):
    return (
        len(types.results) - types.results.count("carry"),
        len(types.operands) - types.operands.count("carry"),
    )


def random(type_, shape, rng):
    dtype = register_dtype(type_)
    if dtype == np.bool_:
        return np.asarray(rng.integers(0, 2, shape).astype(bool))
    return np.asarray(rng.integers(0, 2 ** (8 * dtype.itemsize), shape, dtype, endpoint=False))


@pytest.mark.parametrize("opcode", opcodes())
def test_every_form_keeps_the_contract(opcode):
    rng = np.random.default_rng(0)
    seen = set()
    for modifiers, types in forms(opcode):
        counts = text_counts(types)
        assert (modifiers, counts) not in seen
        seen.add((modifiers, counts))
        assert signature(opcode, modifiers, *counts) == types
        operation = resolve(opcode, modifiers, *counts)
        shapes = [
            *([shape] * 5 for shape in ((7,), (), (0,))),
            [(7,), (), (), (), ()],
            [(2, 1), (1, 3), (2, 3), (2, 3), (2, 3)],
        ]
        for shape in shapes:
            operands = [random(t, s, rng) for t, s in zip(types.operands, shape, strict=False)]
            if opcode == "lop3":
                operands[3] = np.uint32(0x1A)  # a constant of the text
            before = [x.copy() for x in operands]
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                result = operation(*operands)
            result = result if isinstance(result, tuple) else (result,)
            assert [x.dtype for x in result] == [register_dtype(t) for t in types.results]
            expected = np.broadcast_shapes(*(x.shape for x in operands))
            assert all(x.shape == expected for x in result)
            for x, y in zip(operands, before, strict=True):
                np.testing.assert_array_equal(x, y)


def test_qualifiers_may_stand_in_any_order():
    assert signature("max", ("s32", "relu")).results == ("s32",)
    a, b = np.array([3], "u4"), np.array([2**32 - 5], "u4")
    assert resolve("min", ("s32", "relu"))(a, b)[0] == 0
    assert resolve("add", ("ftz", "rn", "f32"))(a * 0, b * 0)[0] == 0


def test_two_destinations_on_request():
    a, b, c = np.array([1, 5], "u4"), np.array([3, 3], "u4"), np.array([True, True])
    modifiers = ("lt", "and", "s32")
    np.testing.assert_array_equal(resolve("setp", modifiers)(a, b, c), [True, False])
    p, q = resolve("setp", modifiers, 2)(a, b, c)
    np.testing.assert_array_equal((p, q), ([True, False], [False, True]))


def test_three_sources_on_request():
    a, b, c = (np.array([v], "f4").view("u4") for v in (4.0, -2.0, -3.0))
    assert resolve("min", ("f32",), operands=3)(a, b, c).view("f4")[0] == -3
    assert resolve("max", ("abs", "f32"), operands=3)(a, b, c).view("f4")[0] == 4
    assert signature("min", ("f32",), operands=3).operands == ("f32",) * 3


@pytest.mark.parametrize(
    ("opcode", "modifiers", "near"),
    [
        ("add", ("rn", "f23"), "add.rn.f32"),
        ("fma", ("f32",), "fma.rn.f32"),
        ("popcnt", ("b32",), "popc"),
        ("cvt", ("rn", "e4m3x2", "f32"), "cvt.rn.satfinite.e4m3x2.f32"),
    ],
)
def test_an_unknown_spelling_names_the_nearest(opcode, modifiers, near):
    with pytest.raises(Unsupported, match=re.escape(near)) as raised:
        resolve(opcode, modifiers)
    assert isinstance(raised.value, TilecError)
    assert ".".join((opcode, *modifiers)) in str(raised.value)


def test_a_wrong_number_of_operands_is_named():
    with pytest.raises(Unsupported, match=r"'add\.u32' has 1 destinations and 2 source operands"):
        resolve("add", ("u32",), 2)


@pytest.fixture(scope="module")
def ptxas():
    """The newest ptxas there is: the wheel's, else the one on PATH."""
    site = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    found = sorted(site.glob("nvidia/cu*/bin/ptxas"))
    path = found[-1] if found else shutil.which("ptxas")
    if path is None:
        pytest.skip("ptxas is not installed")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    release = tuple(map(int, re.search(r"release (\d+)\.(\d+)", said).groups()))
    if release < (13, 4):
        pytest.skip("ptxas knows PTX 9.4 from release 13.4 on")
    return path


REGISTERS = {1: "%p", 8: "%b", 16: "%h", 32: "%r", 64: "%d"}


def line(opcode, modifiers, types):
    results, operands = (
        [f"{REGISTERS[width(t)]}{i}" for i, t in enumerate(side) if t != "carry"]
        for side in (types.results, types.operands)
    )
    if opcode == "lop3":
        operands[3] = "0x1a"
    return f"{'.'.join((opcode, *modifiers))} {'|'.join(results)}, {', '.join(operands)};"


# stochastic rounding stands on the one target, packed bytes on the other
@pytest.mark.parametrize(
    ("target", "lacks"),
    [("sm_120a", r"^cvt\.rs"), ("sm_100a", r"^(add|sub|min|max|neg)\..*(x4|sat\.(u32|\w16x2)) ")],
)
def test_ptxas_takes_every_form(ptxas, tmp_path, target, lacks):
    lines = [line(o, m, t) for o in opcodes() for m, t in forms(o)]
    lines = [x for x in lines if not re.search(lacks, x)]
    source = tmp_path / "forms.ptx"
    header = (
        f".version 9.4\n.target {target}\n.address_size 64\n.visible .entry k() {{\n"
        ".reg .pred %p<9>; .reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
    )
    source.write_text(header + "\n".join(lines) + "\nret; }\n")
    command = [ptxas, f"-arch={target}", source, "-o", tmp_path / "forms.cubin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    numbers = map(int, re.findall(r"line (\d+)", done.stderr))
    assert not [lines[n - 6] for n in numbers if 6 <= n < 6 + len(lines)], done.stderr[:2000]
    assert done.returncode == 0
