"""The roles of warps, by what they did."""

from __future__ import annotations

from .record import Record


def roles(timeline: Record) -> list[str]:
    """Of each warp `producer`, `consumer`, or nothing where no warps share the work so.

    A producer copies to shared memory and issues no product; a consumer issues products and copies
    nothing to shared memory. There are such roles only where there are both.
    """
    copying = {
        warp for flight in timeline.flights if flight.kind == "load" for warp in flight.warps
    }
    products = {one.warp for one in timeline.warps if any(run.kind == "tensor" for run in one.runs)}
    producers, consumers = copying - products, products - copying
    if not producers or not consumers:
        return [""] * len(timeline.warps)
    names = {**dict.fromkeys(producers, "producer"), **dict.fromkeys(consumers, "consumer")}
    return [names.get(one.warp, "") for one in timeline.warps]
