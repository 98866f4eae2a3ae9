"""`tile.atomic` and its kin, one update after the other."""

from __future__ import annotations

import numpy as np
from tilec.dialects.tile.ops.atomic_rmw import EXCHANGE
from tilec.interpret.call import Call
from tilec.interpret.meanings.arith import apply
from tilec.interpret.meanings.memory import indexed_access, touches_of
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array
from tilec.interpret.places import Tile, find_places, held, is_fragment, touched
from tilec.interpret.registry import meaning


@meaning("tile.atomic")
def _atomic(call: Call, values: Array, view: View, *indices: Array) -> None:
    tile = call.tile(call.operand_type(0))
    assert tile is not None
    transposed, each = call.has("transposed"), is_fragment(tile)
    places, inside = find_places(call, view, indices, tile.shape, each=each, transposed=transposed)
    _update(call, values, view, tile, places, touched(call, tile, inside, held(tile)))


@meaning("tile.atomic_scatter")
def _atomic_scatter(call: Call, values: Array, view: View, *rest: Array) -> None:
    tile = call.tile(call.operand_type(0))
    assert tile is not None
    _update(call, values, view, tile, *indexed_access(call, view, rest, tile))


def _rounds(at: Array) -> list[Array]:
    """The numbers of elements, parted so that no place occurs twice in a part."""
    order = np.argsort(at, kind="stable")
    ranked = at[order]
    first = np.searchsorted(ranked, ranked)
    turn = np.arange(len(at)) - first
    return [order[turn == n] for n in range(int(turn.max()) + 1)] if len(at) else []


def _note(call: Call, view: View, tile: Tile, places: Array, inside: Array) -> None:
    """Tell shared memory who updates which elements."""
    for part, warps in touches_of(call, view, tile, inside):
        at = places[part][inside[part]]
        call.cta.shared.update(view.buffer, at, warps, call.report)


def _update(
    call: Call, values: Array, view: View, tile: Tile, places: Array, inside: Array
) -> None:
    _note(call, view, tile, places, inside)
    at, new = places[inside], np.broadcast_to(values, places.shape)[inside]
    data, number = view.buffer.data, view.buffer.number
    for part in _rounds(at):
        data[at[part]] = apply(call, call.word("fn"), number, data[at[part]], new[part])


@meaning("tile.atomic_rmw")
def _atomic_rmw(call: Call, values: Array, view: View, *rest: Array) -> Array:
    places, inside = _fetched(call, view, rest)
    at, new = places[inside], np.broadcast_to(values, places.shape)[inside]
    data, number = view.buffer.data, view.buffer.number
    old, fn = data[at], call.word("fn")
    for part in _rounds(at):
        here = at[part]
        old[part] = data[here]
        exchanges = fn == EXCHANGE
        data[here] = new[part] if exchanges else apply(call, fn, number, old[part], new[part])
    return _spread(old, inside)


@meaning("tile.atomic_cas")
def _atomic_cas(call: Call, compare: Array, view: View, values: Array, *rest: Array) -> Array:
    places, inside = _fetched(call, view, rest)
    at = places[inside]
    data = view.buffer.data
    old = data[at]
    wanted, new = (np.broadcast_to(v, places.shape)[inside] for v in (compare, values))
    for part in _rounds(at):
        here = at[part]
        old[part] = data[here]
        data[here] = np.where(old[part] == wanted[part], new[part], old[part])
    return _spread(old, inside)


def _fetched(call: Call, view: View, rest: tuple[Array, ...]) -> tuple[Array, Array]:
    tile = call.tile(call.result_type())
    assert tile is not None
    if call.has("first_warps"):
        call.unknown("warps that share the value that one of them received")
    places, inside = indexed_access(call, view, rest, tile)
    _note(call, view, tile, places, inside)
    at = places[inside]
    if len(np.unique(at)) < len(at):
        call.report("unspecified", "updates one position several times, in unspecified order")
    return places, inside


def _spread(old: Array, inside: Array) -> Array:
    found = np.zeros(inside.shape, old.dtype)
    found[inside] = old
    return found
