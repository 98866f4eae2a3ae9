"""The order of blocks: a weak topological one, for graphs drawn by hand and at random."""

from __future__ import annotations

import random

import pytest
from tilec.sim import read
from tilec.sim.control import Block, blocks

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def graph(edges: dict[str, str]) -> dict[str, Block]:
    """Blocks by label, of a function that branches as `edges` says: label to labels."""
    text = []
    for label, targets in edges.items():
        text.append(f"{label}: mov.u32 %r1, 1;")
        text += [f"@%p{n} bra {target};" for n, target in enumerate(targets[:-1])]
        text.append(f"bra {targets[-1]};" if targets else "ret;")
    function = read(f"{HEAD}.entry k() {{\n" + "\n".join(text) + "\n}\n").functions["k"]
    starts = {function.scope.labels[label]: label for label in edges}
    return {starts[b.first]: b for b in blocks(function) if b.first in starts}


def order(edges: dict[str, str]) -> str:
    return "".join(graph(edges))


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({"A": "BC", "B": "D", "C": "D", "D": ""}, {"ABCD", "ACBD"}),
        # The loop B C stands before its exit D, whichever is written first.
        ({"A": "B", "B": "DC", "C": "B", "D": ""}, {"ABCD"}),
        ({"A": "B", "B": "CD", "C": "B", "D": ""}, {"ABCD"}),
        ({"A": "B", "D": "", "B": "DC", "C": "B"}, {"ABCD"}),
        # A loop in a loop, left from inside.
        ({"A": "B", "B": "CE", "C": "DE", "D": "CB", "E": ""}, {"ABCDE"}),
        # A block far away that joins again (LLVM places unlikely code last).
        ({"A": "BD", "B": "C", "C": "", "D": "B"}, {"ADBC"}),
    ],
)
def test_drawn_graphs(edges: dict[str, str], expected: set[str]) -> None:
    assert order(edges) in expected


@pytest.mark.parametrize("seed", range(30))
def test_random_acyclic_graphs(seed: int) -> None:
    rng = random.Random(seed)
    names = [chr(ord("A") + i) for i in range(12)]
    edges = {
        name: "".join(rng.sample(names[i + 1 :], min(len(names) - i - 1, rng.randint(1, 3))))
        for i, name in enumerate(names)
    }
    shuffled = dict([("A", edges["A"]), *rng.sample(list(edges.items())[1:], 11)])
    found = order(shuffled)
    assert len(set(found)) == len(found)
    assert all(found.index(a) < found.index(b) for a in found for b in edges[a])


def test_unreachable_blocks_are_left_out_and_successors_are_numbers() -> None:
    found = graph({"A": "C", "B": "C", "C": ""})
    assert set(found) == {"A", "C"}
    assert found["C"].successors == ()
