"""How a kernel is compiled and where it runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from tilec.isa import TilecError, UnknownNameError


class Pins(NamedTuple):
    """What a kernel asks of the passes about its CTAs; None leaves a choice to them.

    Attributes:
        cluster: CTAs of a cluster along x, y and z, one of which may be 2, 4 or 8.
        persistent: whether a CTA takes several tiles.
        pingpong: whether two warpgroups take the tiles of a CTA in turn.
        rasterize: rows of the grid that tiles go down before a next column, or `hilbert`.
        schedule: how CTAs get further tiles, `static` or `dynamic`.
    """

    cluster: tuple[int, int, int] | None = None
    persistent: bool | None = None
    pingpong: bool | None = None
    rasterize: int | str | None = None
    schedule: str | None = None


NO_PINS = Pins()


class Settings(NamedTuple):
    """How a kernel is compiled and where it runs.

    Attributes:
        warps: of a CTA.
        target: such as `sm_90a`; None for tilec's default.
        device: `sim`, `cuda`, `interpret`, which runs the kernel's Python with numpy arrays for its
            tiles, or None: the GPU for arrays that are on one, else the simulator.
        opt_level: LLVM's optimisation level, 0 to 3.
        lineinfo: say in PTX and binary which line of Python each instruction comes from.
        cache: use the compile cache on disk; None for whatever the environment says.
        stream: on a GPU: a stream, of any library, or its handle; None for the one that the arrays'
            library works on, or the default stream.
        wait: on a GPU: whether a launch waits for the kernel's end; None where it must.
        pipeline: the passes to run instead of those for the target, as `tilec.compile` takes them.
        numerics: the arithmetic of `interpret`: `hardware`, every operation rounded to its type;
            `f64`, every float a float64; `algebraic`, floats as integers modulo 2^w.
        cluster: CTAs of a cluster along x, y and z, one of which may be 2, 4 or 8, for products
            that warps load for by TMA; `(1, 1, 1)` for none, and None, as for the others below,
            leaves it to tilec. A remark says why a choice is not followed.
        persistent: whether each CTA takes several tiles of the grid.
        pingpong: whether two warpgroups take the tiles of a CTA in turn; it has 4 warps.
        rasterize: rows of the grid that tiles go down before a next column, or `hilbert`.
        schedule: how CTAs get further tiles, `static` or `dynamic`.
    """

    warps: int = 4
    target: str | None = None
    device: str | None = None
    opt_level: int = 3
    lineinfo: bool = False
    cache: bool | None = None
    stream: Any = None
    wait: bool | None = None
    pipeline: Any = None
    numerics: str = "hardware"
    cluster: tuple[int, int, int] | None = None
    persistent: bool | None = None
    pingpong: bool | None = None
    rasterize: int | str | None = None
    schedule: str | None = None

    @property
    def pins(self) -> Pins:
        """What is asked of passes about CTAs."""
        return Pins(*(getattr(self, name) for name in Pins._fields))

    def of_compilation(self) -> Settings:
        """What a compilation depends on."""
        return self._replace(device=None, stream=None, wait=None, numerics="hardware")

    def changed(self, options: dict[str, Any]) -> Settings:
        """These settings with some others.

        Raises:
            TilecError: for a name that is none, or a value that is not legal.
        """
        for name in options:
            if name not in self._fields:
                raise UnknownNameError("setting", name, self._fields)
        if isinstance(options.get("cluster"), list):
            options = {**options, "cluster": tuple(options["cluster"])}
        found = self._replace(**options)
        if not isinstance(found.warps, int) or found.warps not in (1, 2, 4, 8, 16, 32):
            raise TilecError(f"a CTA has 1, 2, 4, 8, 16 or 32 warps, not {found.warps!r}")
        if found.device not in (None, "cuda", "sim", "interpret"):
            raise TilecError(
                f"unknown device {found.device!r}; legal: 'cuda', 'sim', 'interpret', None for one "
                "of the first two"
            )
        if found.numerics != self.numerics:
            from tilec.interpret import arithmetic_of  # noqa: PLC0415 (imports MLIR)

            arithmetic_of(str(found.numerics))
        if found.wait not in (None, True, False):
            raise TilecError(
                f"wait is True, False, or None where a launch must, not {found.wait!r}"
            )
        if found.stream is not None:
            from tilec.runtime.cuda.streams import handle  # noqa: PLC0415 (for GPUs only)

            handle(found.stream)
        if isinstance(found.pipeline, list):
            found = found._replace(pipeline=tuple(found.pipeline))
        _check_pins(found.pins)
        return found


def _check_pins(pins: Pins) -> None:
    """Check that pins are such as attributes can say; passes judge what they ask for.

    Raises:
        TilecError: if they are not.
    """
    cluster = pins.cluster
    if cluster is not None and not (
        isinstance(cluster, tuple) and len(cluster) == 3 and all(map(_is_count, cluster))
    ):
        raise TilecError(f"cluster is (X, Y, Z), CTAs along each axis, or None, not {cluster!r}")
    for name in ("persistent", "pingpong"):
        if getattr(pins, name) not in (None, True, False):
            raise TilecError(f"{name} is True, False or None, not {getattr(pins, name)!r}")
    order = pins.rasterize
    if not (order is None or order == "hilbert" or _is_count(order)):
        raise TilecError(f"rasterize is a number of rows, 'hilbert' or None, not {order!r}")
    if pins.schedule not in (None, "static", "dynamic"):
        raise TilecError(f"schedule is 'static', 'dynamic' or None, not {pins.schedule!r}")


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0
