"""Random layouts, a bank simulation, and the execution of accesses and plans on numpy arrays.

Nothing here is derived from the code under test: matrix moves follow the documentation's
formulas, banks are counted word by word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
import pytest
from hypothesis import strategies as st
from tilec.isa import Family
from tilec.layout import LinearLayout
from tilec.layout.plans import Nothing, Permutation, SharedTrip, Shuffles, Transposition

Dims = Mapping[str, int]


def _dims(bits: Dims) -> tuple[tuple[str, int], ...]:
    return tuple(bits.items())


@st.composite
def _bijections(draw, ins: Dims, outs: Dims):
    """Bijective layouts; `ins` and `outs` give the bits of each dimension."""
    total = sum(ins.values())
    assert total == sum(outs.values())
    columns = [1 << bit for bit in draw(st.permutations(range(total)))]
    if total > 1:
        pair = st.tuples(st.integers(0, total - 1), st.integers(0, total - 1))
        for i, j in draw(st.lists(pair, max_size=8)):
            if i != j:
                columns[i] ^= columns[j]
    return LinearLayout(_dims(ins), _dims(outs), tuple(columns))


@st.composite
def _surjections(draw, ins: Dims, outs: Dims):
    """Layouts that reach every place, with copies where there are more indices."""
    have, want = sum(ins.values()), sum(outs.values())
    core = draw(_bijections({"i": want}, {"o": want})).columns
    at = draw(st.permutations(range(have)))
    columns = [0] * have
    for position, column in zip(at, core, strict=False):
        columns[position] = column
    for position in at[want:]:
        columns[position] = draw(st.sampled_from((0, 0, *core)))
    return LinearLayout(_dims(ins), _dims(outs), tuple(columns))


@st.composite
def _layouts(draw, ins: Dims, outs: Dims):
    """Any layouts."""
    end = (1 << sum(outs.values())) - 1
    columns = [draw(st.integers(0, end)) for _ in range(sum(ins.values()))]
    return LinearLayout(_dims(ins), _dims(outs), tuple(columns))


@pytest.fixture(scope="session")
def bijections() -> Callable[..., st.SearchStrategy[LinearLayout]]:
    return _bijections


@pytest.fixture(scope="session")
def surjections() -> Callable[..., st.SearchStrategy[LinearLayout]]:
    return _surjections


@pytest.fixture(scope="session")
def layouts() -> Callable[..., st.SearchStrategy[LinearLayout]]:
    return _layouts


def _indices(dims: Dims) -> Iterator[dict[str, int]]:
    """Every index over dimensions given by size."""
    for index in product(*(range(size) for size in dims.values())):
        yield dict(zip(dims, index, strict=True))


@pytest.fixture(scope="session")
def indices() -> Callable[[Dims], Iterator[dict[str, int]]]:
    return _indices


def _phase(addresses: list[int], width: int) -> int:
    """Different words of the busiest bank."""
    words = defaultdict(set)
    for address in addresses:
        for byte in range(address, address + width):
            words[byte // 4 % 32].add(byte // 4)
    return max(map(len, words.values()), default=0)


def _bank_simulation(
    addresses: list[int | None], width: int, *, store: bool, rows: bool = False
) -> tuple[int, int]:
    """(wavefronts, conflicts) of one warp's access, lane by lane; None where inactive."""
    size = 8 if rows else min(32, 128 // width)
    wide = 2 * size if not store and not rows and width >= 8 else size
    degrees = []
    for start in range(0, len(addresses), wide):
        group = addresses[start : start + wide]
        paired = any(
            all(a is None or group[i ^ d] is None or a == group[i ^ d] for i, a in enumerate(group))
            for d in (1, 2)
        )
        step = wide if wide > size and paired else size
        for at in range(0, len(group), step):
            active = [a for a in group[at : at + step] if a is not None]
            if active:
                degrees.append(_phase(active, width))
    return sum(degrees), sum(d - 1 for d in degrees)


@pytest.fixture(scope="session")
def bank_simulation() -> Callable[..., tuple[int, int]]:
    return _bank_simulation


def _matrix_place(form, lane: int, register: int, unit: int) -> tuple[int, int, int]:
    """(matrix, memory row, element) of `unit` of a 32-bit register of a matrix move."""
    g, t = lane >> 2, lane & 3
    words = form.ptx.split(".")
    shape, trans = words[3], "trans" in words
    load = form.family is Family.LDMATRIX
    match shape, load:
        case "m8n8", _:
            row, element = (2 * t + unit, g) if trans else (g, 2 * t + unit)
            return register, row, element
        case "m16n16", True:
            return register >> 1, 4 * t + unit, g + 8 * (register & 1)
        case "m8n16", True:
            return register, g, 4 * t + unit
        case "m16n8", False:
            return register, 2 * t + (unit & 1), g + 8 * (unit >> 1)
    raise AssertionError(form.ptx)


@pytest.fixture(scope="session")
def matrix_place() -> Callable[..., tuple[int, int, int]]:
    return _matrix_place


def _access_pairs(access, warps: int):
    """(warp, lane, register, offset) of everything an access moves."""
    for warp, number in product(range(warps), range(access.instructions)):
        where = {"instruction": number} | ({"warp": warp} if warps > 1 else {})
        count = access.registers.in_sizes["element"]
        for lane, element in product(range(32), range(count)):
            (register,) = access.registers(element=element, instruction=number)
            if access.form is None:
                (offset,) = access.offsets(lane=lane, **where)
                yield warp, lane, register, offset + element
                continue
            container = (*access.form.results, *access.form.operands)[0].container
            word, bit = divmod(element * access.bits, 32)
            unit, low = divmod(bit, container)
            matrix, row, at = _matrix_place(access.form, lane, word, unit)
            (start,) = access.offsets(lane=access.form.rows * matrix + row, **where)
            yield warp, lane, register, start + (at * container + low) // access.bits


def _access_addresses(access, warp: int, warps: int) -> Iterator[list[int]]:
    """The byte addresses of each instruction of a warp, of the lanes that supply one."""
    lanes = access.form.rows * access.form.matrices if access.form else 32
    for number in range(access.instructions):
        where = {"instruction": number} | ({"warp": warp} if warps > 1 else {})
        yield [access.offsets(lane=n, **where)[0] * access.bits // 8 for n in range(lanes)]


@pytest.fixture(scope="session")
def access_pairs():
    return _access_pairs


@pytest.fixture(scope="session")
def access_addresses():
    return _access_addresses


def _hold(layout: LinearLayout, warps: int) -> np.ndarray:
    """The packed place of every register: shape (warp, lane, register)."""
    sizes = layout.in_sizes
    held = np.zeros((warps, sizes["lane"], sizes.get("register", 1)), int)
    for index in _indices({"warp": warps, "lane": sizes["lane"], "register": held.shape[2]}):
        wanted = {n: v for n, v in index.items() if n in sizes}
        packed = layout.flatten_outs("place")(**wanted)[0]
        held[index["warp"], index["lane"], index["register"]] = packed
    return held


@pytest.fixture(scope="session")
def hold():
    return _hold


def _execute(plan, values: np.ndarray, result: LinearLayout) -> np.ndarray:
    """Carry out a plan on values of shape (warp, lane, register)."""
    warps, lanes, _ = values.shape
    out = np.full((warps, lanes, result.in_sizes.get("register", 1)), -1)

    def at(**where: int) -> dict[str, int]:
        return {n: v for n, v in where.items() if n != "warp" or warps > 1}

    match plan:
        case Nothing():
            out[:] = values
        case Permutation():
            for register in range(out.shape[2]):
                out[:, :, register] = values[:, :, plan.registers(register=register)[0]]
        case Transposition():
            packed = 32 // plan.bits
            half = packed // 2
            for word, lane, j, low in product(
                range(out.shape[2] // packed), range(lanes), range(2), range(half)
            ):
                (source,) = plan.words(word=word)
                row, col = 2 * (lane & 3) + j, lane >> 2
                taken = values[:, 4 * row + (col >> 1), source * packed + (col & 1) * half + low]
                out[:, lane, word * packed + j * half + low] = taken
        case Shuffles():
            sizes = plan.send.in_sizes
            for number, warp in product(range(sizes["round"]), range(warps)):
                words = np.full((lanes, sizes["element"]), -1)
                for lane, e in product(range(lanes), range(sizes["element"])):
                    where = at(element=e, round=number, lane=lane, warp=warp)
                    words[lane, e] = values[warp, lane, plan.send(**where)[0]]
                for lane, e in product(range(lanes), range(sizes["element"])):
                    where = at(round=number, lane=lane, warp=warp)
                    (other,) = plan.read(**where)
                    out[warp, lane, plan.receive(element=e, **where)[0]] = words[other, e]
            out = out[:, :, [plan.copies(register=r)[0] for r in range(out.shape[2])]]
        case SharedTrip():
            memory = np.full(plan.shared.in_sizes["offset"], -1)
            for warp, lane, register, offset in _access_pairs(plan.store, warps):
                value = values[warp, lane, register]
                assert memory[offset] in (-1, value)
                memory[offset] = value
            for warp, lane, register, offset in _access_pairs(plan.load, warps):
                out[warp, lane, register] = memory[offset]
            out = out[:, :, [plan.copies(register=r)[0] for r in range(out.shape[2])]]
    return out


@pytest.fixture(scope="session")
def execute():
    return _execute
