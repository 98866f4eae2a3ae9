"""Kernels in Python: texts of functions, changed, compiled when called and run on the simulator."""

from __future__ import annotations

import linecache
import random
from functools import cache
from importlib.util import find_spec

import mutations
from case import Case, Reached

_HEAD = "import numpy as np, tilec, tilec.lang as tl\nfrom typing import Annotated\n"
_KERNELS = (
    """
@tilec.kernel(warps=1)
def kernel(
    x: Annotated[tl.Array[tl.float32, int, int], tl.Facts(aligned=16, sizes=(4, 8))]
) -> None:
    tl.store(x, (0, 0), tl.load(x, (0, 0), (4, 8)) + 1)
""",
    """
@tilec.kernel(warps=4)
def kernel(x: tl.Array[tl.float32, int, int], y: tl.Array[tl.float32, int, int]) -> None:
    i, j = tl.program_id(0) * 16, tl.program_id(1) * 16
    t = tl.load(x, (i, j), (16, 16))
    u = t * 2.0 + tl.sum(t, axis=1, keepdims=True)
    for k in range(0, x.shape[1], 8):
        u = tl.where(u > k, u - 1, u)
    tl.store(y, (i, j), u)
""",
    """
@tilec.kernel
def kernel(a: tl.Array[tl.float16, int, int], b: tl.Array[tl.float16, int, int],
           c: tl.Array[tl.float32, int, int], n: int) -> None:
    acc = tl.zeros((16, 16))
    for k in range(0, n, 16):
        acc = tl.dot(tl.load(a, (0, k), (16, 16)), tl.load(b, (k, 0), (16, 16)), acc)
    if n > 3:
        acc = acc + 1
    else:
        acc = -acc
    tl.store(c, (0, 0), acc)
""",
    """
@tilec.function
def scaled(t, by=3):
    return t * by if by else t

@tilec.kernel(warps=1)
def kernel(x: tl.Array[tl.int32, int], n: tl.Scalar[tl.int32]) -> None:
    t = tl.load(x, (0,), (32,))
    while n > 1:
        n = n // 2
        t = scaled(t + n, by=2)
    tl.store(x, (0,), (t << 1) % 7 - tl.iota((32,)))
""",
)
_CALLS = (
    "kernel[1](np.ones((4, 8), np.float32))",
    "kernel[1](np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32))",
    "kernel[1](np.ones((16, 16), np.float16), np.ones((16, 16), np.float16),"
    " np.zeros((16, 16), np.float32), 16)",
    "kernel[1](np.arange(32, dtype=np.int32), 9)",
)
_WORDS = (
    "tl.load", "tl.store", "tl.zeros", "tl.sum", "tl.dot", "tl.where", "tl.max", "tl.exp",
    "tl.iota",
    "None", "True", "...", "()", "[]", "{}", "lambda: 0", "float('nan')", "10**400", "'x'", "print",
    "yield", "return", "break", "continue", "pass", "del", "global", "import os", "await", "*",
    "**",
    "x", "y", "t", "n", "acc", "range", "1j", "tl", "tilec", "np", "tl.float64", "tl.int8",
    "kernel", "0", "1", "warps", "4", "aligned", "sizes", "(0, 8)", "(8,)", "-1", "(1.5, 8)",
    "tilec.kernel(1)", "tilec.kernel(0, warps=4)", "tl.Facts(sizes=(0, 8))", "tl.Facts('x')",
)  # fmt: skip


def prepare() -> None:
    """Import what a launch needs."""
    for number, text in enumerate(_KERNELS):
        run(Case("kernels", _HEAD + text, {"call": _CALLS[number]}))


def make(rng: random.Random) -> Case:
    """A kernel with changes, or its call."""
    number = rng.randrange(len(_KERNELS))
    text, call = _KERNELS[number], _CALLS[number]
    if rng.random() < 0.8:
        text = mutations.mutated(text, rng, _WORDS, rng.choice(_KERNELS))
    else:
        call = mutations.mutated(call, rng, _WORDS, rng.choice(_CALLS))
    return Case("kernels", _HEAD + text, {"call": call})


def run(case: Case) -> Reached:
    """Define and launch; what tilec raises must be TilecError.

    What the kernel's Python raises of itself is the user's.
    """
    import tilec

    name = f"<fuzz {hash(case.text)}>"
    code = f"{case.text}\n"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    space: dict[str, object] = {"__name__": "fuzz"}
    try:
        try:
            exec(compile(code, name, "exec"), space)
        except tilec.TilecError:
            return Reached.REFUSED
        except Exception as error:
            if _is_users(error, name) or isinstance(error, SyntaxError):
                return Reached.REFUSED  # Python's of the text around the kernel
            raise
        call = case.options["call"].replace(
            "kernel[1]", "kernel.using(device='sim', cache=False)[1]"
        )
        try:
            made = compile(call, "<call>", "eval")
        except (SyntaxError, ValueError):
            return Reached.REFUSED
        try:
            eval(made, space)
        except tilec.TilecError:
            return Reached.REFUSED
        except Exception as error:
            if _is_users(error, name):
                return Reached.REFUSED
            raise
    finally:
        linecache.cache.pop(name, None)
    return Reached.RAN


def _is_users(error: BaseException, name: str) -> bool:
    """Whether the kernel or the call raised it, or what they called, rather than tilec."""
    at, users = error.__traceback__, True
    while at is not None:
        code = at.tb_frame.f_code
        if code.co_filename in (name, "<call>"):
            users = True
        elif code.co_name == "__getattr__" and isinstance(error, AttributeError):
            return users  # of a name that a package has not, it says so to who asks
        elif code.co_filename.startswith(_tilec()):
            users = False
        at = at.tb_next
    return users


@cache
def _tilec() -> tuple[str, ...]:
    """The folders of tilec's packages."""
    found: list[str] = []
    for package in ("tilec", "lang", "passes", "dialects", "ir", "layout", "isa", "sim", "runtime"):
        spec = find_spec(package if package == "tilec" else f"tilec.{package}")
        found += (spec.submodule_search_locations or ()) if spec else ()
    return tuple(f"{folder}/" for folder in found)
