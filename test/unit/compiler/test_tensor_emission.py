"""Every `tcgen05.mma` is written from an op as the ISA spells it, and ptxas takes it.

Elsewhere it is refused at its line: `tilec.compile` writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.isa import TARGETS, TilecError

from .tensor_cases import Shape, has, shapes

SHAPES = list(shapes())
WITH = [name for name, one in TARGETS.items() if one.has_tensor_memory]
Chosen = list[tuple[Shape, list[tuple[str, bool]]]]


def program(chosen: Chosen) -> str:
    """A kernel for each shape."""
    with tile.module("m", target="sm_100a") as module:
        for number, (shape, mnemonics) in enumerate(chosen):
            with tile.kernel(f"k{number}_of_{shape.group}", {}, block=128):
                shape.build(mnemonics)
    pair = r"\1known_cluster_size = array<i32: 2, 1, 1>, known_block_size"
    return re.sub(r"(gpu\.func @k\d+_of_2\(.*?)known_block_size", pair, str(module))


def expected(chosen: Chosen) -> Iterator[list[tuple[str, str, str]]]:
    """Of each kernel what stands of each instruction: mnemonic, place of A, descriptor."""
    for shape, mnemonics in chosen:
        yield [
            (mnemonic, "[%r" if in_tensor else "%rd", str(shape.descriptor(mnemonic)))
            for mnemonic, in_tensor in mnemonics
        ]


_WRITTEN = re.compile(
    r"(tcgen05\.mma\S*) \[%r\d+\], (\[%r|%rd)\d+\]?, %rd\d+(?:, \[%r\d+\])?, (\d+)"
    r"(?:, \[%r\d+\], \[%r\d+\])?, %p\d+;"
)


def check(chosen: Chosen, name: str, assemblers_for: Callable[..., list[Any]]) -> int:
    """Compile the shapes for a target, and hold what is written against the ISA; how many."""
    ptx = tilec.compile(program(chosen), target=name, cache=False).ptx
    kernels = ptx.split(".entry ")[1:]
    found = [_WRITTEN.findall(one) for one in kernels]
    wanted = list(expected(chosen))
    assert found == wanted
    assert ptx.count("tcgen05.mma") == sum(map(len, wanted))
    ptxas = assemblers_for(TARGETS[name])[-1]
    assert ptxas.run(ptx, ptxas.architecture(TARGETS[name])) == (0, "")
    return sum(map(len, wanted))


def those_of(name: str, some: Sequence[Shape]) -> Chosen:
    """Shapes with the mnemonics that a target has."""
    chosen = [(one, [m for m in one.mnemonics if has(m[0], name)]) for one in some]
    return [(one, mnemonics) for one, mnemonics in chosen if mnemonics]


def by_turns() -> Chosen:
    """Every mnemonic once, and so every type, M and N of each kind about as often."""
    turns: dict[tuple[object, ...], list[Shape]] = {}
    for one in SHAPES:
        turns.setdefault((one.kind, one.group, one.stationary, one.sparse), []).append(one)
    found: dict[Shape, list[tuple[str, bool]]] = {}
    for family in turns.values():
        for at, mnemonic in enumerate(family[0].mnemonics):
            found.setdefault(family[at * 7 % len(family)], []).append(mnemonic)
    return list(found.items())


TURNS = by_turns()


def test_a_sample_is_written_and_assembles(assemblers_for: Callable[..., list[Any]]) -> None:
    some = [(one, m) for one, m in TURNS[::9] if has(m[0][0], "sm_100a")]
    assert check(some, "sm_100a", assemblers_for) > 30


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH)
def test_every_mnemonic_is_written_and_assembles(
    name: str, assemblers_for: Callable[..., list[Any]]
) -> None:
    some = [(one, [m for m in mnemonics if has(m[0], name)]) for one, mnemonics in TURNS]
    chosen = [(one, mnemonics) for one, mnemonics in some if mnemonics]
    assert check(chosen, name, assemblers_for) > 300


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_every_mnemonic_type_and_shape_is_written(
    part: int, assemblers_for: Callable[..., list[Any]]
) -> None:
    """Half of the shapes for sm_100a, half for sm_110a, which have all mnemonics."""
    name = ("sm_100a", "sm_110a")[part % 2]
    assert check(those_of(name, SHAPES[part::40]), name, assemblers_for) > 500


def refusals(chosen: Chosen, name: str) -> None:
    """Each op is refused at its line, where a target has not got its instruction."""
    text = program(chosen)
    lines = [n for n, line in enumerate(text.splitlines(), 1) if "tile.tcgen05_mma" in line]
    wanted = [m for _, mnemonics in chosen for m, _ in mnemonics]
    lacking = {at for at, m in zip(lines, wanted, strict=True) if not has(m, name)}
    try:
        _ = tilec.compile(text, target=name, name="p.mlir", cache=False).ptx
        said = ""
    except TilecError as error:
        said = str(error)
    each = re.findall(r"(?m)^p\.mlir:(\d+):\d+: error: 'tile\.tcgen05_mma\w*' op (\S+)", said)
    assert {int(line) for line, _ in each} == lacking
    for line, mnemonic in each:
        assert mnemonic.partition(".a::")[0] == wanted[lines.index(int(line))]
    assert said.count(f"does not exist on {name}; it needs sm_10") >= len(lacking)


def test_a_sample_is_refused_elsewhere() -> None:
    refusals(TURNS[::9], "sm_100f")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, one in TARGETS.items() if one.number >= 80])
def test_every_mnemonic_is_refused_elsewhere(name: str) -> None:
    refusals(TURNS, name)
