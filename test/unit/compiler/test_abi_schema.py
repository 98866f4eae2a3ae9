"""The JSON beside the PTX against its published schema, of which the package jsonschema judges."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tilec
from tilec.launch.abi import Abi
from tilec.launch.schema import SchemaError, abi_schema, check

ROOT = Path(__file__).parents[3]
PROGRAMS = ("gemm.mlir", "mma.mlir", "kernels/gemm.mlir", "hopper/gemm.mlir")
VALUES: list[Any] = [
    None, True, 0, 1, -1, 2, 3, 255, 65536, 1 << 31, 1 << 63, 1 << 64, 10**40, "", "x", "128B",
    "memref", [], [0], [1, 1, 1], [None], [-1], {}, {"a": 1}, "7.0",
]  # fmt: skip


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    paths = [ROOT / "examples" / name for name in PROGRAMS]
    return [json.loads(str(tilec.compile(path, target="sm_90a").abi)) for path in paths]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places in a document."""
    yield at
    match value:
        case dict():
            for key, inside in value.items():
                yield from places(inside, (*at, key))
        case list():
            for number, inside in enumerate(value):
                yield from places(inside, (*at, number))


def changed(document: dict[str, Any], rng: random.Random) -> Any:
    """The document with one thing replaced, removed or added."""
    made = copy.deepcopy(document)
    *way, last = rng.choice([at for at in places(made) if at])
    inside = made
    for key in way:
        inside = inside[key]
    match rng.randrange(4):
        case 0 if isinstance(inside, dict):
            del inside[last]
        case 1 if isinstance(inside, dict):
            inside[rng.choice(["name", "kind", "promised", "grid", "x"])] = rng.choice(VALUES)
        case 2 if isinstance(inside, list):
            inside.append(rng.choice([*VALUES, *inside]))
        case _:
            inside[last] = rng.choice(VALUES)
    return made


def test_what_tilec_writes_fits(documents: list[dict[str, Any]]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(abi_schema())
    for document in documents:
        jsonschema.validate(document, abi_schema())
        check(document)


def test_both_judge_alike(documents: list[dict[str, Any]]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    judge = jsonschema.Draft202012Validator(abi_schema())
    rng, verdicts = random.Random(5), set[bool]()
    for document in documents:
        for _ in range(300):
            made = changed(document, rng)
            try:
                check(made)
                fits = True
            except SchemaError:
                fits = False
            assert fits == judge.is_valid(made), made
            verdicts.add(fits)
    assert verdicts == {True, False}


def test_nothing_else_comes_of_a_changed_document(documents: list[dict[str, Any]]) -> None:
    rng = random.Random(6)
    for document in documents:
        for _ in range(300):
            made = changed(changed(document, rng), rng)
            try:
                Abi.parse(json.dumps(made))
            except tilec.TilecError:
                continue


WRONG = {
    '{"target": "sm_80"}': "the document: 'ptx' is missing",
    "[]": "the document: [] is not of type object",
    "{": "not JSON: ",
    "[" * 100_000: "not JSON: ",
    "9" * 5000: "not JSON: ",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:12])
def test_what_is_no_abi_is_named(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Abi.parse(text)
    assert WRONG[text] in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("kernels", 0, "arguments", 0, "promised"), {"aligned": 0}, "aligned: 0 is not from 1"),
        (("kernels", 0, "arguments", 0, "shape"), [1], "shape and strides have different ranks"),
        (("kernels", 0, "arguments", 0, "kind"), "list", "its kind is 'list'; legal: memref,"),
        (("kernels", 0, "block"), [0, 1, 1], "kernels[0].block[0]: 0 is not from 1"),
        (
            ("kernels", 0, "grid"),
            [[{"argument": 9, "dimension": 0, "elements": 1}]],
            "kernels[0].grid: argument 9 is not a memref",
        ),
        (
            ("kernels", 0, "grid"),
            [[{"argument": 0, "dimension": 9, "elements": 1}]],
            "kernels[0].grid: argument 0 has 2 dimensions",
        ),
    ],
)
def test_wrong_fields_are_named(
    place: tuple[Any, ...], value: Any, message: str, documents: list[dict[str, Any]]
) -> None:
    made = inside = copy.deepcopy(documents[0])
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    with pytest.raises(SchemaError) as caught:
        Abi.parse(json.dumps(made))
    assert message in str(caught.value)
