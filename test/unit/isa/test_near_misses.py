"""Forms one qualifier away from a legal one: refused by the table, and by ptxas.

Where the two disagree, the disagreement is listed here with its reason.
"""

from __future__ import annotations

import difflib
import random
import re

import pytest
from tilec.isa import UnknownNameError, form, forms, target, warp_forms
from tilec.isa.errors import nearest
from tilec.isa.spellings import spellings

# Words of one class: a form's neighbours have another word of it, or none (-).
TYPES = "f16 bf16 tf32 f32 f64 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4 b1 s32"
CLASSES = {
    "mma": [
        "m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128"
        " m16n8k256",
        TYPES,
        "row col",
        "kind::f8f6f4 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 -",
        "scale_vec::1X scale_vec::2X scale_vec::4X",
        "ue8m0 ue4m3 -",
        "block_scale -",
        "sp::ordered_metadata sp",
    ],
    "wmma": ["m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128", TYPES, "row col"],
    "ldmatrix": [
        "x1 x2 x4 x8",
        "trans -",
        "m8n8 m16n16 m8n16 m16n8",
        "b16 b8 b8x16 s8",
        "b6x16_p32 b4x16_p64 s4 -",
    ],
    "stmatrix": ["x1 x2 x4 x8", "trans -", "m8n8 m16n16 m8n16 m16n8", "b16 b8 b8x16"],
    "movmatrix": ["m8n8 m16n8", "trans -", "b16 b8"],
}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "b1": 1}
BITS |= dict.fromkeys(["e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "s8", "u8"], 8) | {"s4": 4, "u4": 4}
ROUNDINGS = {"rn", "rz", "rm", "rp"}


def neighbours(ptx):
    words = ptx.split(".")
    for at, word in enumerate(words):
        for members in map(str.split, CLASSES[words[0]]):
            if word in members:
                for other in members:
                    new = [] if other == "-" else [other]
                    yield ".".join((*words[:at], *new, *words[at + 1 :]))
    if "mma" in words and not ROUNDINGS & set(words):
        yield f"{ptx}.rn"
    if "mma" in words and "satfinite" not in words:
        at = next(i for i, word in enumerate(words) if re.fullmatch(r"m\d+n\d+k\d+", word)) + 3
        yield f"{ptx}.satfinite" if words[0] == "wmma" else insert(words, at, "satfinite")
    if words[0] == "mma" and not any(word.startswith("kind") for word in words):
        at = [i for i, word in enumerate(words) if word in ("row", "col")][-1] + 1
        for kind in ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"):
            yield insert(words, at, f"kind::{kind}")
    if words[0] in ("ldmatrix", "stmatrix") and "trans" not in words:
        yield insert(words, 5, "trans")


def insert(words, at, word):
    return ".".join((*words[:at], word, *words[at:]))


def vector(type_, elements):
    """A brace list of the registers that so many elements take; at most the eight of any form."""
    pool = {"f32": "%f", "f64": "%d"}.get(type_, "%r")
    count = elements * BITS[type_] // (2048 if type_ == "f64" else 1024)
    return "{" + ", ".join(f"{pool}{n}" for n in range(min(max(count, 1), 8))) + "}"


def line(ptx):
    """PTX text with the registers that the shape and types call for."""
    words = ptx.split(".")
    types = [word for word in words if word in BITS]
    if words[0] == "movmatrix":
        return f"{ptx} %r0, %r1;"
    if words[0] in ("ldmatrix", "stmatrix"):
        matrices = int(re.search(r"\.x(\d)", ptx)[1])
        count = matrices * (2 if "m16n16" in words else 1)
        registers = "{" + ", ".join(f"%r{n}" for n in range(min(count, 8))) + "}"
        return (
            f"{ptx} {registers}, [%p];" if words[0] == "ldmatrix" else f"{ptx} [%p], {registers};"
        )
    m, n, k = map(int, re.search(r"\.m(\d+)n(\d+)k(\d+)", ptx).groups())
    wmma = words[0] == "wmma"
    sizes = {"a": m * k, "b": k * n}

    def multiplicand(type_, name):
        return vector(type_, 512 if wmma and type_ == "f16" else sizes[name])

    if wmma and "mma" not in words[1:]:
        inside = multiplicand(types[0], words[2]) if words[2] in sizes else vector(types[0], m * n)
        return f"{ptx} {inside}, [%p];" if words[1] == "load" else f"{ptx} [%p], {inside};"
    d, a, b, c = (types[0], "f16", "f16", types[1]) if len(types) == 2 else types[:4]
    if (m, k, a) == (8, 4, "f16") and not wmma:
        sizes = {name: 4 * size for name, size in sizes.items()}
        m *= 4
    if words[1].startswith("sp"):
        sizes["a"] //= 2
    if re.search(r"kind::mxf4", ptx):
        sizes = {name: size // 2 for name, size in sizes.items()}
    operands = [vector(d, m * n), multiplicand(a, "a"), multiplicand(b, "b"), vector(c, m * n)]
    if words[1].startswith("sp"):
        operands += ["%r0", "0"]
    if "block_scale" in words:
        operands += ["%r0", "{0, 0}", "%r1", "{0, 0}"]
    return f"{ptx} {', '.join(operands)};"


@pytest.fixture(scope="module")
def misses():
    legal = set(warp_forms())
    legal |= {spelling for found in warp_forms().values() for spelling in spellings(found)}
    return sorted({other for ptx in warp_forms() for other in neighbours(ptx)} - legal)


# What ptxas takes although the ISA does not grant it: pattern, example, reason.
DISAGREEMENTS = [
    (
        r"mma.*\.kind::(mxf8f6f4|mxf4|mxf4nvf4)\.(f16|f32)\.e[45]m[23]\.e[45]m[23]\.\2",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e5m2.f32",
        "without .block_scale ptxas does not look at the kind of an fp8 form",
    ),
    (
        r"mma\.sync.*\.m16n8k16\.row\.col\.kind::f8f6f4\.(f16|f32)\.e[45]m[23]\.e[45]m[23]\.\1",
        "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32",
        "ptxas has the k16 forms on fp8 under .kind::f8f6f4 too",
    ),
    (
        r"wmma\.mma\..*\.m16n16k(8|16)\.r[nzmp]\.f64\.f64\.f64\.f64",
        "wmma.mma.sync.aligned.row.col.m16n16k8.rn.f64.f64.f64.f64",
        "ptxas has larger f64 shapes than the ISA documents",
    ),
    (
        r"wmma\.(load\.c|store\.d)\..*\.m8n8k(32|128)\.f32",
        "wmma.load.c.sync.aligned.row.m8n8k32.f32",
        "ptxas does not hold the accumulator's type against these shapes",
    ),
]


def alone(assembler, ptx, name):
    """Whether ptxas takes a module of this one instruction."""
    text = f".version 8.8\n.target {name}\n.address_size 64\n.visible .entry k() {{\n"
    text += ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b64 %p;\n"
    status, _ = assembler.run(f"{text}{line(ptx)}\nret;\n}}\n", name)
    return status == 0


def test_the_table_refuses_them(misses):
    assert len(misses) > 10000
    for ptx in misses[:: len(misses) // 20]:
        with pytest.raises(UnknownNameError, match="nearest legal"):
            form(ptx)


@pytest.mark.parametrize("name", [pytest.param("sm_100a", marks=pytest.mark.slow), "sm_120a"])
def test_ptxas_refuses_them(name, misses, assemblers):
    for assembler in assemblers:
        refused = assembler.refusals(
            [line(ptx) for ptx in misses], target(name), assembler.newest, features=True
        )
        # Not merely for their operands.
        mismatched = [what for what in refused.values() if re.search("mismatch|vector size", what)]
        assert len(mismatched) < 0.1 * len(misses)
        left = [ptx for index, ptx in enumerate(misses) if index not in refused]
        mma = [ptx for ptx in left if not ptx.startswith("wmma")]
        refused = assembler.refusals([line(ptx) for ptx in mma], target(name), assembler.newest)
        accepted = [ptx for index, ptx in enumerate(mma) if index not in refused]
        # ptxas checks wmma in code of its own, so that its complaint may name no line of ours:
        # these go one by one, and not all of them.
        wmma = [ptx for ptx in left if ptx.startswith("wmma")][::50]
        accepted += [ptx for ptx in wmma if alone(assembler, ptx, name)]
        patterns = [pattern for pattern, _, _ in DISAGREEMENTS]
        assert not [
            p for p in accepted if not any(re.fullmatch(pattern, p) for pattern in patterns)
        ]


def test_the_disagreements_are_real(misses, assemblers):
    for pattern, example, _ in DISAGREEMENTS:
        assert re.fullmatch(pattern, example)
        assert example in misses
        assert alone(assemblers[0], example, "sm_120a")


def test_near_names_are_those_of_difflib():
    rng, legal = random.Random(0), sorted(forms())[::7]
    for count in (3, 8):
        for _ in range(10):
            name = list(rng.choice(legal))
            for _ in range(rng.choice((1, 5, 20))):
                name[rng.randrange(len(name))] = rng.choice("abcs.123")
            expected = difflib.get_close_matches("".join(name), legal, n=count, cutoff=0.3)
            assert list(nearest("".join(name), legal, count)) == (expected or legal[:count])
