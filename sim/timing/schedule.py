"""What a timing model says of a launch: cycles, what is busy, a timeline. All are estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilec.isa import Target
from tilec.isa import target as find_target
from tilec.isa.gpus import Gpu, gpu_of
from tilec.isa.wording import counted

from ..errors import LaunchError
from .chrome import Place, trace
from .events import Event
from .pipes import TITLES
from .replay import Replay
from .warps import WarpState


@dataclass(frozen=True)
class Schedule:
    """A first-order estimate of a launch, in cycles: nothing of it is measured.

    Attributes:
        kernel: its name.
        gpu: where it would run.
        cycles: of the launch.
        waves: rounds of CTAs, the last one whole.
        resident: CTAs of an SM at once, in whole waves.
        ctas: of the launch.
        busy: the share of the replayed wave that each part of an SM is busy, longest first.
        warps: the warps of the replayed wave, and what they did.
        pipes: of the SM of the first CTA, the cycles in which each unit of a kind is busy.
        place: where instructions stand.
        stuck: whether warps waited for what never came, since the model completed things in
            another order than the run; then the rest is of what they did before.
        cut: whether the CTA went on, and was not recorded any further.
    """

    kernel: str
    gpu: Gpu
    cycles: float
    waves: int
    resident: int
    ctas: int
    busy: dict[str, float]
    warps: Sequence[WarpState]
    pipes: dict[str, list[list[list[float]]]]
    place: Place
    stuck: bool = False
    cut: bool = False

    @property
    def seconds(self) -> float:
        """Of the launch."""
        return self.cycles / self.gpu.hertz

    @property
    def limit(self) -> str:
        """What is busy longest: a key of `busy`."""
        return next(iter(self.busy))

    def to_text(self) -> str:
        """Two lines, the first of which says that it is an estimate."""
        parts = ", ".join(
            f"{TITLES[name]} {share:.0%}" for name, share in self.busy.items() if share >= 0.005
        )
        stuck = "; warps wait for what never comes" if self.stuck and not self.cut else ""
        stuck += "; of the beginning only, for the CTA does more than is recorded" * self.cut
        return (
            f"timing model of one {self.gpu.name} (first order, an estimate, not measured): "
            f"{self.cycles:,.0f} cycles, {self.seconds * 1e6:,.1f} us{stuck}\n"
            f"  {parts}; {counted(self.waves, 'wave')} of {counted(self.ctas, 'CTA')}, "
            f"{self.resident} on an SM at once"
        )

    def json(self) -> dict[str, object]:
        """The same as JSON has it, labelled as an estimate."""
        return {
            "kind": "estimate", "gpu": self.gpu.name, "cycles": self.cycles,
            "seconds": self.seconds, "waves": self.waves, "resident": self.resident,
            "ctas": self.ctas, "limit": self.limit, "busy": self.busy, "stuck": self.stuck,
            "cut": self.cut,
        }  # fmt: skip

    def to_chrome(self) -> str:
        """The timeline as JSON that Perfetto and chrome://tracing open."""
        about = {"kernel": self.kernel, **self.json()}
        return trace(about, self.warps, self.pipes, self.place, self.gpu)


@dataclass(frozen=True)
class Recording:
    """What the CTAs of one cluster of a launch did, to be replayed by a timing model.

    Attributes:
        kernel: its name.
        arch: the target that it was simulated for.
        events: of each warp, CTA by CTA.
        ctas: that started, of the launch: others may have been taken over.
        cluster: CTAs of a cluster.
        most: CTAs that an SM holds by their warps and shared memory; registers are not known.
        missed: the share of the bytes that come from L2 which come from DRAM.
        place: where instructions stand.
        cut: whether the cluster went on, and was not recorded any further.
    """

    kernel: str
    arch: str
    events: Sequence[Sequence[Event]]
    ctas: int
    cluster: int
    most: int
    missed: float
    place: Place
    cut: bool = False

    def replay(
        self, *, resident: int | None = None, target: Target | None = None, gpu: Gpu | None = None
    ) -> Schedule:
        """Replay it, as whole waves and a last one with what is left.

        Args:
            resident: CTAs that an SM holds at once; by default `most`.
            target: whose rates and latencies are taken; by default the one simulated for.
            gpu: where it runs; by default the one that stands for the target.

        Raises:
            LaunchError: if no CTA is to be resident, or nothing has been recorded.
        """
        target = find_target(self.arch) if target is None else target
        gpu = gpu_of(target) if gpu is None else gpu
        held = self.most if resident is None else resident
        if held < 1:
            raise LaunchError(f"resident is {held}; an SM holds one CTA at least")
        if not any(self.events):
            raise LaunchError("the CTA that was to be recorded has not run")
        whole, rest = divmod(self.ctas, held * gpu.sms)
        left = -(-rest // gpu.sms)
        cycles = 0.0
        shown: Replay | None = None
        for times, at_once in ((whole, held), (1 if left else 0, left)):
            if times:
                made = Replay(
                    self.events, self.cluster, at_once, target, gpu, self.missed, self.ctas
                )
                made.run()
                cycles += times * made.end
                shown = made if shown is None else shown
        assert shown is not None
        busy, pipes = _busy(shown)
        return Schedule(
            self.kernel, gpu, cycles, whole + (left > 0), held if whole else left, self.ctas,
            busy, shown.warps, pipes, self.place, shown.stuck, self.cut,
        )  # fmt: skip


def _busy(made: Replay) -> tuple[dict[str, float], dict[str, list[list[list[float]]]]]:
    """The shares of time that pipes are busy, a mean of the SMs, and when, on the first."""
    shares: dict[str, float] = {}
    for sm in made.sms:
        for name, cycles, _ in sm.busy():
            shares[name] = shares.get(name, 0.0) + cycles / max(made.end, 1.0) / len(made.sms)
    ordered = dict(sorted(shares.items(), key=lambda item: -item[1]))
    return ordered, {name: spans for name, _, spans in made.sms[0].busy()}
