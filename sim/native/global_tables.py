"""Tables of the checks of global memory in machine code (`global_forms`)."""

from __future__ import annotations

PLAN = (
    "log", "row", "offsets", "firsts", "who", "times", "scratch", "fresh", "wholes", "accessed",
    "size", "stores", "apart", "what", "ctas", "warps", "number", "values",
)  # fmt: skip
"""Fields, 8 bytes each: pointers to the log and to the allocation's row; to the offsets of the
warps, and the first of each; to the warps of epochs and the times of CTAs; to room for epochs, and
for segments that are split; to room for which groups of lanes touch segments as a whole, and which
lanes touch parts; to the plan of the access; bytes of a lane; whether it stores; whether epochs are
left to numpy; what the instruction adds to these; the CTAs, and warps of each; the number of the
access in the log; and, of what was found, where the values that are stored are to be kept, or
null."""
POINTERS = PLAN.index("size")
MOST_GRANULES = 8
"""Granules of a lane at most that are stored to."""

LOG = ("period", "base", "at", "end", "threads", "most", "dropped", "step")
"""Fields of a log: the period of marks (`checks.whole_warps`); where the first record is, where the
next goes, and where there is no more room; the accesses of threads that are in it, and how many may
be; whether what lies elsewhere has been dropped; and the bytes from a CTA's time, as epochs have
it, to the next one's."""

ROW = (
    "suspect", "touched", "readers", "epochs", "granule", "start", "shift", "written", "read",
    "writer", "reader", "second", "split", "fine_writer", "fine_reader", "fine_second",
    "fine_readers", "splits", "splitting", "parted",
)  # fmt: skip
"""Fields of an allocation: whether two threads may have touched a byte since the last barrier of
all threads, whether any has written then, and whether there are epochs of readers; whether there
are epochs (else NONE, or numpy has to look at them: BY_NUMPY), and the bytes that they tell apart;
where it begins; the log2 of the bytes of a segment; pointers to marks of segments, to their epochs,
and to which are split; and to the epochs of granules of these, whether any has been read, how many
segments machine code has split, whether it may, and whether any is."""
EPOCHS_OF_ROW = frozenset(
    ("written", "read", "writer", "reader", "second", "split", "fine_writer", "fine_reader",
     "fine_second")
)  # fmt: skip
"""Those that are pointers."""
NONE, BY_NUMPY, EPOCHS = range(3)

RECORD = ("bytes", "number", "rows", "whole")
"""Fields of a record: its bytes, the access, how many CTAs have offsets of their own, and whether
the first offset of each warp follows, or all; then come the values of a store."""

FULL = 3
"""The answer where the log has no room."""
