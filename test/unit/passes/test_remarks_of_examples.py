"""Each number in the remarks of each example, beside the PTX of that example.

The PTX is asked line by line: `.loc` says which line of the program each instruction comes from. A
remark that no rule here knows fails, so that none goes unread.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import NamedTuple

import pytest
import tilec
from tilec.compiled import Compiled
from tilec.launch.abi import KernelEntry
from tilec.passes.base import Diagnostic
from tilec.report.diagnostics import places

from ..wording import faults
from .ptx_reading import Kernel, kernels, static_shared

EXAMPLES = Path(__file__).parents[3] / "examples"
TEXTS = sorted(EXAMPLES.rglob("*.mlir"))
SCRIPTS = [
    pytest.param(path, marks=[pytest.mark.slow] * path.with_suffix(".mlir").exists())
    for path in sorted((EXAMPLES / "kernels").glob("*.py"))
]
"""Those that are as a text besides are left for those who ask."""
HOPPER = ("gemm", "sparse_gemm", "attention_128")
"""Whose tiles become TMA, clusters, warps with roles and `wgmma`, dense, sparse and overlapped."""


class Said(NamedTuple):
    """A remark, and what there is to check it by.

    Attributes:
        line: of the program.
        kernel: the PTX that it is of.
        shared: bytes of shared memory of a CTA.
        beside: all that is remarked of the same line.
        entry: how the kernel is launched.
    """

    line: int
    kernel: Kernel
    shared: int
    beside: list[str]
    entry: KernelEntry

    def count(self, start: str) -> int:
        """How many instructions of the line begin so."""
        found = self.kernel.lines.get(self.line, {})
        return sum(n for name, n in found.items() if name.startswith(start))

    def everywhere(self, start: str, end: str = "") -> int:
        """How many instructions of the kernel begin and end so."""
        return sum(
            n
            for found in self.kernel.lines.values()
            for name, n in found.items()
            if name.startswith(start) and name.endswith(end)
        )

    def widths(self, *kinds: str) -> set[int]:
        """Bytes of the line's accesses of these kinds; none if LLVM moved them to another line."""
        return set().union(*(self.kernel.widths.get((self.line, kind), set()) for kind in kinds))

    def anywhere(self, *kinds: str) -> set[int]:
        """The same of the whole kernel."""
        widths = self.kernel.widths
        return set().union(*(widths[key] for key in widths if key[1] in kinds))

    @property
    def told(self) -> set[int]:
        """The bytes at a time that the line's loads from global memory are said to take."""
        texts = [text for text in self.beside if "store" not in text and "scatter" not in text]
        found = re.findall(r"(?:copied|takes) (\d+)(?: and (\d+))? bytes? at a time", str(texts))
        return {int(size) for pair in found for size in pair if size}


def products(said: Said, count: str, form: str, m: str, n: str) -> None:
    warps = said.kernel.threads // 32
    assert int(m) * int(n) == warps
    assert said.count(form) % int(count) == 0
    assert said.count(form) > 0


def warpgroups(said: Said, count: str, form: str, m: str, n: str) -> None:
    assert said.count(form) % int(count) == 0
    assert said.count(form) > 0
    assert int(m) * int(n) <= said.kernel.threads // 128


def staged(said: Said, _: str, copied: str, loaded: str) -> None:
    # Bytes that go through registers are loaded and stored.
    kinds = ("cp.async", "ld.global")
    assert int(copied) in said.told
    assert said.widths(*kinds) == said.told or said.told <= said.anywhere(*kinds)
    for how in loaded.split(", "):
        if size := re.fullmatch(r"loads of (\d+) bytes?", how):
            assert int(size[1]) in said.anywhere("ld.shared")
        else:
            base = how.removesuffix(".b16").removesuffix(".b8")
            assert said.count(base) > 0, how


def stages(said: Said, stages: str, size: str, ahead: str) -> None:
    assert int(stages) * int(size) <= said.shared
    assert said.count("cp.async.commit_group") >= int(stages) if int(stages) > 1 else True
    assert int(ahead) == int(stages) - 1


def own_layout(said: Said, own: str, better: str, verdict: str, price: str | None) -> None:
    emitted = int(better if verdict == "worth" else own)
    assert said.count("st.global") % emitted == 0
    assert said.count("st.global") > 0
    if verdict == "worth":
        assert any(f", cost {price}" in other for other in said.beside), "one price"
    else:
        assert not any("tile.convert_layout" in other for other in said.beside)


def trip(said: Said, size: str, stores: str, store: str, loads: str, load: str) -> None:
    assert int(size) <= said.shared
    for count, name in ((stores, store), (loads, load)):
        assert said.count(name) % int(count) == 0, name
        assert said.count(name) > 0, name


def access(said: Said, op: str, sizes: str) -> None:
    kind = "ld" if op in ("tile.load", "tile.gather") else "st"
    kinds = (f"{kind}.global", f"{kind}.generic")
    expected = {int(size) for size in sizes.split(" and ")}
    assert expected <= (said.widths(*kinds) or said.anywhere(*kinds))


def registers(said: Said, how: str) -> None:
    kind = {"movmatrix": "movmatrix", "shuffles": "shfl.sync"}
    number, _, what = how.removeprefix("takes ").removesuffix(" per warp").partition(" ")
    if what in kind:
        assert said.count(kind[what]) % int(number) == 0
        assert said.count(kind[what]) > 0
    else:
        assert how in ("renames registers", "permutes registers")


def shared(said: Said, _: str, total: str, apart: str) -> None:
    assert int(total) == said.shared < int(apart)


def reduction(said: Said, warps: str, moved: str) -> None:
    assert int(warps) <= said.kernel.threads // 32
    assert int(moved) <= said.shared
    assert said.count("st.shared") > 0


def roles(
    said: Said, threads: str, computing: str, own: str, others: str, less: str, ring: str, size: str
) -> None:
    assert int(ring) * int(size) <= said.shared
    assert int(threads) == said.kernel.threads == int(computing) + int(others)
    assert said.kernel.registers == {int(own), int(less)}


def roles_in_turn(said: Said, threads: str, times: str, each: str, *rest: str) -> None:
    roles(said, threads, str(int(times) * int(each)), *rest)


def turns(said: Said, groups: str) -> None:
    assert said.kernel.threads == (int(groups) + 1) * 128  # and a warpgroup that loads
    assert len(said.kernel.registers) > 1


def boxes(said: Said, panels: str) -> None:
    assert said.count("cp.async.bulk.tensor.2d.global") % int(panels) == 0


def panels(said: Said, size: str, number: str, lines: str, width: str, swizzle: str) -> None:
    element, rest = divmod(int(swizzle), int(width))  # a panel is as wide as a line of its swizzle
    assert element in (1, 2, 4)
    assert rest == 0
    assert int(size) == int(number) * int(lines) * int(width) * element <= said.shared
    assert said.everywhere("wgmma.mma_async") > 0


def by_tma(said: Said, _: str, rows: str, cols: str) -> None:
    assert said.everywhere("cp.async.bulk.tensor") > 0
    # A CTA of a cluster copies its part of the rows.
    found = [map_.box[-2:] for map_ in said.entry.maps]
    assert any(int(rows) % box[0] == 0 and int(cols) == box[1] for box in found), found


def persistent(said: Said, how: str) -> None:
    assert said.entry.ctas_per_sm == (1 if how == "SM" else None)


def cluster(said: Said, number: str) -> None:
    assert prod(said.entry.cluster or ()) == int(number)
    assert said.everywhere("cp.async.bulk.tensor", ".multicast::cluster") > 0


def not_boxed(said: Said) -> None:
    assert said.count("cp.async.bulk.tensor") == 0
    assert said.anywhere("st.global")


def overlapped(said: Said, held: str, there: str) -> None:
    assert int(held) <= int(there)
    assert int(there) in said.kernel.registers
    assert said.everywhere("wgmma.wait_group") > 1


def in_flight(said: Said) -> None:
    assert sum("wgmma.wait_group.sync.aligned 1;" in line for line in said.kernel.text) == 1


def awaited(said: Said) -> None:
    assert not any("wgmma.wait_group.sync.aligned 1;" in line for line in said.kernel.text)


def alone(said: Said) -> None:
    assert said.everywhere("cp.async.bulk.tensor", ".multicast::cluster") == 0


def columns(said: Said, wanted: str, allocated: str) -> None:
    assert said.everywhere("tcgen05.alloc") > 0
    assert int(wanted) <= int(allocated) in {32, 64, 128, 256, 512}


def layout(said: Said, extents: str, out: str) -> None:
    assert "x".join(re.findall(r"\w+ (\d+)", out)) == extents


def told(said: Said, *_: str) -> None:
    """What PTX does not show: a choice of tiles, or what a pass was asked for."""


RULES: tuple[tuple[str, Callable[..., None]], ...] = (
    (r"becomes (\d+) (mma\S+?)(?:, emulated on \w+)? for each of (\d+)x(\d+) warps.*", products),
    (r"becomes (\d+) (wgmma\S+) for each of (\d+)x(\d+) warpgroups.*", warpgroups),
    (
        r"goes through (\d+) bytes of shared memory, swizzled as .*: copied (\d+) bytes? at a "
        r"time, "
        r"loaded by (.*); \d+ wavefronts? per warp, \w+ of them for bank conflicts",
        staged,
    ),
    (
        r"has (\d+) stages? of (\d+) bytes of shared memory: .*; copies begin (\d+) rounds? ahead",
        stages,
    ),
    (
        r"in its tile's own layout takes (\d+) instructions? and \d+ sectors? per warp, coalesced "
        r"(\d+) and \d+: (worth|not worth|no room)[^\d]*(\d+)?",
        own_layout,
    ),
    (
        r"goes through (\d+) bytes of shared memory, by (\d+) (\S+) and (\d+) (\S+) per warp, "
        r"cost \d+.*",
        trip,
    ),
    (r"(renames registers|permutes registers|takes .* per warp), cost \d+", registers),
    (r"has (\d+) buffers that share (\d+) bytes of shared memory; apart they take (\d+)", shared),
    (r"is over (\d+) warps: (\d+) bytes go through shared memory, .*", reduction),
    (
        r"is split into roles: of (\d+) threads (\d+) compute, with (\d+) registers each, and "
        r"one of the (\d+) others, with (\d+), loads boxes by TMA to a ring of (\d+) "
        r"stages? of (\d+) bytes",
        roles,
    ),
    (
        r"is split into roles: of (\d+) threads (\d+) times (\d+) compute whole tiles in turn, "
        r"with (\d+) registers each, and one of the (\d+) others, with (\d+), loads boxes by TMA "
        r"to a ring of (\d+) stages? of (\d+) bytes",
        roles_in_turn,
    ),
    (r"lets (\d+) warpgroups take tiles in turn, .*", turns),
    (r"is for clusters of (\d+) neighbours along [xy]: each CTA loads a part of .*", cluster),
    (r"has no clusters(?: of .*)?: .*", alone),
    (r"is of (\d+) columns of tensor memory, for which (\d+) are allocated", columns),
    (r"is not stored by boxes: .*", not_boxed),
    (
        r"begins the first product of a round beside the second of the round before, which goes on "
        r"while others compute: (\d+) registers? of (\d+) hold what both need",
        overlapped,
    ),
    (r"leaves its product in flight at the end of an iteration; the next one .*", in_flight),
    (r"waits for its products in each iteration: .*", awaited),
    (r"leaves by TMA, through (\d+) panels? of .*", boxes),
    (r"gives tensor<(\d+(?:x\d+)*)x\w+> the layout of .*: '.* -> (.*)'", layout),
    (
        r"goes through (\d+) bytes of shared memory, in (\d+) panels? of (\d+) lines of (\d+) "
        r"elements, swizzled as (\d+)B",
        panels,
    ),
    (
        r"is made by TMA, (a box|\d+ boxes) of (\d+)x(\d+) elements a round; elements outside the "
        r"array are zeros",
        by_tma,
    ),
    (r"becomes tiles of .*; its grid is \(.*\)", told),
    (r"goes down \d+ rows? of CTAs before the next column", told),
    (r"takes tiles (?:along|\d+ rows? at a time).*: \d+ of them read \d+ rows and .*", told),
    (r"is made a round ahead: the loop carries its tile", told),
    (r"is inside .*: no mask", told),
    (r"is launched with one CTA per (SM|tile)[,:].*", persistent),
    (r"(?:writes|reads|updates) data that other threads may not have .*", told),
)
ACCESS = re.compile(r"'(\S+)' op takes ([\d and]+) bytes? at a time.*")


def check(one: Diagnostic, said: Said) -> None:
    if found := ACCESS.fullmatch(one.message):
        access(said, *found.groups())
        return
    text = re.sub(r"^'\S+' op ", "", one.message)
    for pattern, rule in RULES:
        if found := re.fullmatch(pattern, text):
            rule(said, *found.groups())
            return
    pytest.fail(f"no rule reads: {one.message}")


def check_all(compiled: Compiled) -> int:
    """Check all remarks of a program that was compiled with line information; how many."""
    ptx, sizes = kernels(compiled.ptx), static_shared(compiled.ptx)
    entries = {kernel.name: kernel for kernel in compiled.kernels}
    lines: dict[tuple[str, int], list[str]] = {}
    found: list[tuple[Diagnostic, int]] = []
    for one in compiled.remarks:
        line = next(places(one.location)).line
        lines.setdefault((one.function, line), []).append(one.message)
        found.append((one, line))
    for one, line in found:
        entry = entries[one.function]
        size = sizes.get(one.function, 0) + entry.dynamic_shared
        assert one.decided_by.startswith("tile-")
        assert faults(one.message) == []
        check(one, Said(line, ptx[one.function], size, lines[one.function, line], entry))
    return len(found)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_remarks_of_texts(path: Path) -> None:
    compiled = tilec.compile(path, lineinfo=True)
    assert check_all(compiled) or "tile.dot" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", HOPPER)
def test_remarks_of_texts_for_hopper(name: str) -> None:
    path = EXAMPLES / "kernels" / f"{name}.mlir"
    assert check_all(tilec.compile(path, target="sm_90a", lineinfo=True))


class LaunchedError(Exception):
    """A script has come to its first kernel."""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_remarks_of_scripts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Compiled] = []

    def launch(self: Compiled, *_: object, **__: object) -> None:
        compiled.append(self)
        raise LaunchedError

    monkeypatch.setattr(Compiled, "launch", launch)
    with pytest.raises(LaunchedError):
        runpy.run_path(str(path), run_name="__main__")
    (first,) = compiled
    assert check_all(first.again(replace(first.options, lineinfo=True, cache=False)))
