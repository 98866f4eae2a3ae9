"""A tool with one mend taken out: exits with 0 if a program shows what was wrong before it.

    python test/unit/reduction/unmended.py NAME FILE

`MENDS` has the names. What ended the process does so here.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import tilec
from tilec.passes.base import Pass, walk
from tilec.tools import tile_opt, tile_run
from tilec.tools.common import Parser

Instead = Callable[[Any], Any]
"""Gives what stands for a function or a number."""


@contextmanager
def taken_out(name: str, instead: Instead) -> Iterator[None]:
    """Put something else in place of a function of tilec, wherever it is known, or of a number.

    Args:
        name: module and qualified name, parted by a colon.
        instead: gives what stands there.
    """
    module, _, path = name.partition(":")
    __import__(module)
    *within, last = path.split(".")
    owner: Any = sys.modules[module]
    for part in within:
        owner = getattr(owner, part)
    old = getattr(owner, last)
    new, places = instead(old), [owner]
    if not within and callable(old):
        known = [one for key, one in sys.modules.items() if key.startswith("tilec")]
        places = [one for one in known if vars(one).get(last) is old]
    for place in places:
        setattr(place, last, new)
    try:
        yield
    finally:
        for place in places:
            setattr(place, last, old)


def nothing(_: Any) -> Callable[..., Any]:
    """A function that finds nothing."""
    return lambda *given, **named: None


def said(main: Callable[..., int], *words: str) -> tuple[int, str, str]:
    """The exit code of a tool, its output, and its errors."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            code = main(list(words))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    found, words_ = (one.buffer.getvalue().decode() for one in (out, errors))
    return code, found, words_


def opt(path: str, *words: str) -> tuple[int, str, str]:
    """`tile-opt`."""
    return said(tile_opt.main, path, *words)


def _parses(path: str) -> bool:
    """Whether MLIR takes it; what ends the process does."""
    return opt(path)[0] == 0


def is_internal(errors: str) -> bool:
    """Whether a tool says that the fault is its own."""
    return "internal error" in errors or "Traceback" in errors


def _lowers_to_fault(path: str) -> bool:
    return is_internal(said(main_of_tilec, path, "--emit", "nvvm")[2])


def main_of_tilec(words: list[str]) -> int:
    """`tilec`."""
    from tilec.tools import tilec as tool

    return tool.main(words)


def _runs_into_fault(path: str) -> bool:
    return is_internal(said(tile_run.main, path, "--device", "sim", "--arg", "nan")[2])


def remarked(path: str) -> tuple[str, list[str]]:
    """The PTX of a program, and what is remarked of it; nothing of one that is refused."""
    from tilec.isa import TilecError

    try:
        made = tilec.compile(Path(path).read_text(), cache=False)
        ptx = made.ptx
    except TilecError:
        return "", []
    return ptx, [one.message for one in made.remarks]


_BYTES = re.compile(r"'tile.(?:load|store)' op takes (\d+) bytes? at a time")
_ACCESS = re.compile(r"(?:ld|st)\.global(?:\.\w+)*?(?:\.v([24]))?\.b(\d+)")


def _remark_is_false(path: str) -> bool:
    """Whether a remark speaks of accesses of a size that the PTX does not have."""
    ptx, remarks = remarked(path)
    sizes = {int(many or 1) * int(bits) // 8 for many, bits in _ACCESS.findall(ptx)}
    told = {int(found[1]) for one in remarks if (found := _BYTES.search(one))}
    return bool(told - sizes)


def _inferred(old: Callable[..., Any]) -> Callable[..., Any]:
    """Remarks of what was inferred for tiles, whatever became of it."""
    from tilec.dialects.tile.ops.memory import vector_of
    from tilec.dialects.tile.tiles import bits_of
    from tilec.ir.types import element_of

    def note(self: Any, op: Any, size: int) -> Any:
        del size
        return old(self, op, vector_of(op) * bits_of(element_of(op.memref.type)) // 8)

    return note


def _blames_bounds(path: str) -> bool:
    """Whether what is said to keep accesses narrow is not that the address is odd, as it is."""
    return any("known to be in bounds" in one for one in remarked(path)[1])


def _raw_integer(old: Callable[..., Any]) -> Callable[..., Any]:
    del old
    return lambda promised, name: promised[name].value


def _raw_number(old: Callable[..., Any]) -> Callable[..., Any]:
    """A scalar's bytes, of whatever number."""

    def scalar(parameter: Any, value: Any, index: int) -> bytes:
        return old(parameter, int(value), index)

    return scalar


def _raw_strides(old: Callable[..., Any]) -> Callable[..., Any]:
    del old

    def strides_and_offset(type_: Any) -> Any:
        strides, offset = type_.get_strides_and_offset()
        return list(strides), offset

    return strides_and_offset


def _loses_file(path: str) -> bool:
    return 'loc("-":' in opt(path, "--mlir-print-debuginfo")[1]


def _without_file(old: Callable[..., Any]) -> Callable[..., Any]:
    return lambda arguments, _: old(arguments, "")


def _flag_is_taken_for_file(path: str) -> bool:
    words = ["--tile-from-linalg=tile-m=64 tile-n=64", path]
    return f"unrecognized arguments: {path}" in said(tile_opt.main, *words)[2]


def _by_argparse(old: Callable[..., Any]) -> Callable[..., Any]:
    del old
    return Parser.parse_known_args


def _is_not_nested(path: str) -> bool:
    return "restricted to" in opt(path, "--convert-gpu-to-nvvm")[2]


def _prints_nothing(path: str) -> bool:
    code, out, _ = opt(path, "--verify-diagnostics", "--allow-unregistered-dialect")
    return code == 0 and not out.strip()


def _silent(old: Callable[..., Any]) -> Callable[..., Any]:
    return lambda module, name, job: (
        "" if job.arguments.verify_diagnostics else old(module, name, job)
    )


def _upstream_refuses(path: str) -> bool:
    """Whether mlir-opt 22 does not know the memory spaces of tiles, as without the IRDL."""
    import shutil
    import subprocess

    generic = opt(path, "--print-tile-op-generic")[1]
    tool = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
    assert tool is not None
    words = [tool, "--allow-unregistered-dialect", "-"]
    done = subprocess.run(words, input=generic, capture_output=True, text=True, check=False)
    return bool(generic) and "unsupported memory space" in done.stderr


class Erases(Pass):
    """Erases sums that are used."""

    name = "test-erases"

    def apply(self, module: Any) -> None:
        """Erase them."""
        for op in [op for op in walk(module.operation) if op.operation.name == "arith.addf"]:
            op.operation.erase()


def _dies(path: str) -> bool:
    """Runs the pass with nobody who would speak for the process."""
    from tilec.frontend.contexts import new_context
    from tilec.frontend.parsing import parse
    from tilec.report.diagnostics import Source

    module = parse(Source(path, Path(path).read_text()), new_context())
    Erases().apply(module)
    str(module)
    return False


MENDS: Mapping[str, tuple[str, Instead, Callable[[str], bool]]] = {
    "excess": ("tilec.frontend.structure:excess", nothing, _parses),
    "comments": (
        "tilec.frontend.structure:_blank", lambda _: lambda found: found[0],
        lambda path: "nest more than" in opt(path)[2],
    ),
    "strides": ("tilec.ir.types:strides_and_offset", _raw_strides, _lowers_to_fault),
    "promises": ("tilec.passes.analysis.memory_facts:_integer", _raw_integer, _lowers_to_fault),
    "widths": ("tilec.dialects.tile.tiles:_WIDEST", lambda _: 1 << 20, _lowers_to_fault),
    "numbers": ("tilec.isa.launch:_scalar", _raw_number, _runs_into_fault),
    "flags": (
        "tilec.tools.opt_arguments:OptParser.parse_known_args", _by_argparse,
        _flag_is_taken_for_file,
    ),
    "powers": ("tilec.passes.analysis.memory_facts:_integer", _raw_integer, _blames_bounds),
    "remarks": (
        "tilec.passes.nvvm.access_remarks:AccessRemarks.note", _inferred, _remark_is_false,
    ),
    "file": ("tilec.tools.opt_arguments:style", _without_file, _loses_file),
    "nesting": (
        "tilec.passes.upstream_passes:_restricted", nothing, _is_not_nested,
    ),
    "printing": ("tilec.tools.tile_opt:_printed", _silent, _prints_nothing),
    "crash": ("tilec.tools.crash_watch:watch_for_crashes", nothing, _dies),
    "irdl": ("tilec.dialects.irdl:irdl_text", lambda _: lambda: "", _upstream_refuses),
}  # fmt: skip


ALONE = ("excess", "crash", "irdl")
"""What ends the process, or is a fault of upstream's tool without our text."""


def was_wrong(name: str, path: str) -> bool:
    """Whether a program in a file shows a fault without its mend."""
    where, instead, fault = MENDS[name]
    with taken_out(where, instead):
        return fault(path)


def is_wrong(name: str, path: str) -> bool:
    """Whether it does with the mend, as of what can be told so."""
    return name not in ALONE and MENDS[name][2](path)


def shows(name: str, path: str) -> bool:
    """Whether a program shows what a mend has mended: without it, and not with it."""
    return not is_wrong(name, path) and was_wrong(name, path)


if __name__ == "__main__":
    sys.exit(not shows(sys.argv[1], sys.argv[2]))
