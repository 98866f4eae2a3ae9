"""What `benchmarks/kernel_stats.py` takes for a loop, of PTX as NVIDIA's compiler writes it."""

from pathlib import Path

import pytest

PTX = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry waits(.param .u64 p) {
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .shared .align 8 .b64 bar;
  mov.b32 %r1, 0;
$L__BB0_1:
  {
  .reg .pred P1;
  LAB_WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 P1, [bar], %r1;
  @P1 bra.uni DONE;
  bra.uni LAB_WAIT;
  DONE:
  }
  wgmma.commit_group.sync.aligned;
  mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r2, %r3}, {%r4}, {%r5}, {%r2, %r3};
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, 9;
  @%p1 bra $L__BB0_1;
  {
  .reg .pred P1;
  LAB_WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 P1, [bar], %r1;
  @P1 bra.uni DONE;
  bra.uni LAB_WAIT;
  DONE:
  }
  ret;
}
"""


def test_labels_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that stands in several blocks is that of the block where it is jumped to."""
    benchmarks = Path(__file__).resolve().parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(benchmarks)
    from kernel_stats import ptx_counts

    found = ptx_counts(PTX, "waits")
    assert found["ptx"]["all"] == 13
    assert {k: found["ptx_loop"][k] for k in ("all", "mma", "mbarrier")} == {
        "all": 8,
        "mma": 1,
        "mbarrier": 1,
    }
