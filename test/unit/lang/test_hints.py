"""Names of Triton's and numpy's that tilec does not have say what to write instead."""

import inspect
import math
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.lang import hints


def missing(holder: Any, name: str) -> str:
    """What is said of a name that is not there."""
    with pytest.raises(AttributeError) as caught:
        getattr(holder, name)
    return str(caught.value)


def test_triton_s_names_are_there_or_have_a_hint() -> None:
    language = pytest.importorskip("triton.language")
    names = [name for name in dir(language) if not name.startswith("_")]
    others = [name for name in names if not hasattr(tl, name)]
    assert [name for name in others if "; write " not in missing(tl, name)] == []
    assert len(others) < len(names) / 2


def test_triton_s_keywords_are_there_or_have_a_hint() -> None:
    """Of functions that both have; the first argument is passed without its name."""
    language = pytest.importorskip("triton.language")
    lost = []
    for name in set(dir(language)) & set(dir(tl)):
        theirs, ours = getattr(language, name), getattr(tl, name)
        if name.startswith("_") or not inspect.isfunction(ours):
            continue
        _, *others = inspect.signature(getattr(theirs, "fn", theirs)).parameters.values()
        for keyword in (one.name for one in others if one.kind is not one.VAR_POSITIONAL):
            if keyword.startswith("_") or keyword in inspect.signature(ours).parameters:
                continue
            text = f"{name}() got an unexpected keyword argument '{keyword}'"
            lost += [text] * (not hints.of_keyword(text).startswith("; write "))
    assert lost == []


def test_libdevice_s_names_are_there_or_have_a_hint() -> None:
    """Names of tutorial 07's module of functions; what a hint names is there."""
    libdevice = pytest.importorskip("triton.language.extra.libdevice")
    names = [name for name in dir(libdevice) if not name.startswith("_")]
    said = {name: missing(tl, name) for name in names if not hasattr(tl, name)}
    assert [name for name, text in said.items() if "; write " not in text] == []
    for text in said.values():
        for named in re.findall(r"\btl\.(\w+)", text.partition("; write ")[2]):
            assert hasattr(tl, named), text


def test_triton_s_methods_are_there_or_have_a_hint() -> None:
    core = pytest.importorskip("triton.language.core")
    tile = tl.Tile(None, tl.float32, (8,))
    names = [name for name in dir(core.tensor) if not name.startswith("_")]
    others = [name for name in names if name not in dir(tl.Tile)]
    assert [name for name in others if "; write " not in missing(tile, name)] == []


def test_triton_s_own_names_have_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    package = pytest.importorskip("triton")
    monkeypatch.delattr(tilec, "testing", raising=False)  # there once something has imported it
    assert {"autotune", "Config"} <= set(dir(package)) & set(dir(tilec))
    for name in ("jit", "heuristics", "cdiv", "next_power_of_2", "testing"):
        assert hasattr(package, name)
        assert "; write " in missing(tilec, name)


@pytest.mark.parametrize(
    "name",
    ["add", "matmul", "logical_and", "true_divide", "bitwise_or", "square", "vstack", "sign"],
)
def test_numpy_s_names_have_a_hint(name: str) -> None:
    assert hasattr(np, name)
    assert "; write " in missing(tl, name)


def test_a_name_of_nobody_s_has_the_nearest() -> None:
    assert missing(tl, "cumsam").endswith("; nearest: cumsum, cumprod, sum")
    assert "reshape" in missing(tl.Tile(None, tl.float32, (8,)), "reshap")
    assert missing(tl, "__wrapped__") == "module 'tilec.lang' has no attribute '__wrapped__'"


@pytest.mark.parametrize("table", [hints._LANGUAGE, hints._NUMPY, hints._LIBDEVICE])
def test_what_a_hint_names_is_there(table: Any) -> None:
    """Each `tl.name` of a hint, and no hint for what is there."""
    for name, hint in table.items():
        assert not hasattr(tl, name)
        for named in re.findall(r"\btl\.(\w+)", hint):
            assert hasattr(tl, named), hint


X = tl.Array[tl.float32, int]
UFUNC: Any = np.exp
PLAIN: Any = math.exp
ANY: Any = tl
WRONG: list[tuple[Callable[[Any], object], str]] = [
    (lambda x: ANY.load(x, 0, 8).to(tl.float16), r"a tile has no 'to'; write x.astype\(dtype\)"),
    (lambda x: ANY.trans(ANY.zeros((8, 8))), "has no attribute 'trans'; write x.T"),
    (lambda x: ANY.load(x + ANY.arange(8)), "x is an array in memory, not a pointer: tl.load"),
    (lambda x: ANY.load(x, 0, 8, other=1.0), "unexpected keyword argument 'other'; write fill="),
    (lambda x: ANY.zeros(8).sum(keep_dims=True), "'keep_dims'; write keepdims="),
    (lambda x: ANY.sort(ANY.zeros(8), dim=0), "'dim'; write axis="),
    (lambda x: ANY.argmax(ANY.zeros(8), 0, tie_break_left=True), "of equal elements the first is"),
    (
        lambda x: ANY.dot(ANY.zeros((8, 8)), None, allow_tf32=True),
        "write cast the factors to tl.tf",
    ),
    (lambda x: UFUNC(ANY.zeros(8)), "write the function of tl that has this name"),
    (lambda x: PLAIN(ANY.load(x, 0, ())), "take tl.exp and the like instead of functions of math"),
]


@pytest.mark.parametrize(("make", "reason"), WRONG, ids=[reason[:24] for _, reason in WRONG])
def test_errors_of_kernels_have_the_hint(make: Callable[[Any], object], reason: str) -> None:
    @tilec.kernel
    def kernel(x: X) -> None:
        make(x)

    with pytest.raises(tl.KernelError, match=reason) as caught:
        kernel.build()
    assert caught.value.place.file == __file__


def test_settings_at_the_launch_have_a_hint() -> None:
    @tilec.kernel
    def kernel(x: X) -> None:
        tl.store(x, 0, tl.zeros(8))

    with pytest.raises(tilec.TilecError, match=r"'num_warps'; write kernel.using\(warps=…\)"):
        kernel[1](np.zeros(8, np.float32), num_warps=8)
    with pytest.raises(tilec.TilecError, match=r"unknown setting 'num_warps'.*warps"):
        kernel.using(num_warps=8)


def test_what_notebooks_complete() -> None:
    assert dir(tl) == sorted(tl.__all__)
    assert all(hasattr(tl, name) for name in dir(tl))
    assert {"kernel", "function", "compile"} <= set(dir(tilec))


def test_hints_are_read_where_somebody_reads_an_error() -> None:
    code = (
        "import sys, tilec.lang as tl, tilec.lang.interpreter, tilec.lang.memory\n"
        "assert not hasattr(tl, 'trans') and not hasattr(tl.Tile(None, tl.float32, (8,)), 'to')\n"
        "assert 'tilec.lang.hints' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
