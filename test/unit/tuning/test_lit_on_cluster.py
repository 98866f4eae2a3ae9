"""A suite of lit on a cluster: all its tests run once, and what fails is printed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tilec.isa import TilecError
from tilec.tools import lit_on_cluster
from tilec.tuning.store.keys import versions

CONFIG = """\
import lit.formats
config.name = "few"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "lit.cfg.py").write_text(CONFIG)
    for number in range(5):
        (tmp_path / f"{number}.test").write_text(f"# RUN: test {number} -lt 4 && echo ran\n")
    return tmp_path


def test_shards_are_all_tests_once(suite: Path) -> None:
    """Against lit's own list of the suite."""
    pytest.importorskip("lit")
    tree = lit_on_cluster.digest(["."], suite)
    codes: dict[str, str] = {}
    for shard in (1, 2):
        found = lit_on_cluster.run_shard(str(suite), ["."], shard, 2, versions(), tree)
        assert not codes.keys() & {one["name"] for one in found}
        codes |= {one["name"]: one["code"] for one in found}
    assert codes == {f"few :: {n}.test": "PASS" if n < 4 else "FAIL" for n in range(5)}
    (suite / "4.test").write_text("# RUN: true\n")
    with pytest.raises(TilecError, match="are not the client's"):
        lit_on_cluster.run_shard(str(suite), ["."], 1, 2, versions(), tree)
    with pytest.raises(TilecError, match=r"it has code .* where the client has other"):
        lit_on_cluster.run_shard(str(suite), ["."], 1, 2, {**versions(), "code": "other"}, tree)


@pytest.mark.slow
def test_a_suite_on_a_cluster_of_this_machine(suite: Path) -> None:
    pytest.importorskip("distributed")
    command = [sys.executable, "-m", "tilec.tools.lit_on_cluster", ".", "--shards", "2"]
    ran = [
        subprocess.run(command, cwd=suite, capture_output=True, text=True, check=False),
        subprocess.run(
            [*command[:3], "none"], cwd=suite, capture_output=True, text=True, check=False
        ),
    ]
    assert ran[0].stdout.endswith("1 FAIL, 4 PASS\n"), ran[0].stderr
    assert "FAIL: few :: 4.test\n" in ran[0].stdout
    assert [one.returncode for one in ran] == [1, 1]
    assert ran[1].stderr == f"error: {os.path.join(suite, 'none')}: there is no such file\n"
