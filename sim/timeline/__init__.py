"""What the warps of one CTA did, step by step: recorded while it runs, and drawn."""

from .record import Flight, Run, Wait, WarpTimeline
from .recorder import Recorder
from .timeline import Timeline

__all__ = ["Flight", "Recorder", "Run", "Timeline", "Wait", "WarpTimeline"]
