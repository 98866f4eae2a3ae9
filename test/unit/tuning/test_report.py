"""The page of a store: numbers that can be computed by hand, and no request to anywhere."""

from __future__ import annotations

import base64
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tilec.tools import tile_tune
from tilec.tuning.report import page, spearman
from tilec.tuning.store import Outcome, State, Store, StudyKey


def filled(store: Store, *, measured: bool) -> None:
    """A study of six candidates, of which one is refused, and times of three."""

    def key(device: str) -> StudyKey:
        return StudyKey("gemm", "d", {"m": 64}, {}, "sm_90a", device, {"tilec": "0.1.0"})

    found = [
        Outcome(
            {"BM": bm, "warps": warps}, State.RANKED, cost=bm * warps * 1e-6,
            counts={"estimate": {"limit": "tensor" if bm == 1 else "<l2>"}, "resident": 2},
        )
        for bm in (1, 2, 4) for warps in (1, 4)
    ]  # fmt: skip
    refused = Outcome({"BM": 8, "warps": 1}, State.REFUSED, "it spills", "24 & more bytes")
    for one in (*found, refused):
        store.put(store.study(key("model")), one)
    for one, median in zip(found[:3] if measured else (), (4e-6, 3e-6, 1e-6), strict=False):
        times = {"median": median, "least": median / 2, "most": median * 2}
        timed = Outcome(one.candidate, one.state, counts=one.counts, cost=one.cost, measured=times)
        store.put(store.study(key("NVIDIA H200")), timed)


class Tables(HTMLParser):
    """The tables of a page, by caption; elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, _: object) -> None:
        if tag not in ("meta", "img", "p"):
            self._open.append(tag)
        if tag == "caption":
            self.caption = ""
        if tag == "tr":
            self._rows.append([])
        if tag in ("td", "th"):
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "p":
            return
        assert self._open.pop() == tag
        if tag == "table":
            self.found[self.caption], self._rows = self._rows, []

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "caption":
            self.caption += data
        elif self._open and self._open[-1] in ("td", "th"):
            self._rows[-1][-1] += data


def test_the_page_has_what_a_store_knows() -> None:
    with Store(":memory:") as store:
        filled(store, measured=True)
        text = page(store)
    tables = Tables(text).found
    (row,) = tables["The best of each size"][1:]
    assert row[:6] == [
        "gemm, m = 64, sm_90a", "1.0", "1.0 on NVIDIA H200", "BM=2 warps=1", "7", "1",
    ]  # fmt: skip
    assert tables["The best by the model"][1] == ["1.0", "4.0", "tensor", "2", "1", "1"]
    rows = {
        tuple(row[:2]): row[2:] for row in tables["What each parameter changes, times the best"]
    }
    # Of BM = 2 the costs are 2 and 8, of warps = 4 they are 4, 8 and 16.
    assert rows["BM", "2"] == ["2.00", "4.00", "2"]
    assert rows["warps", "4"] == ["4.00", "8.00", "3"]
    against = tables["Model and measurement on NVIDIA H200"][1:]
    assert against[0] == ["1.0", "0.5 to 2.0", "2.0", "2.00", "BM=2 warps=1"]
    # The model has 1, 4, 2 where 4, 3, 1 were measured: 1 - 6·(4 + 1 + 1) / (3·8).
    assert "correlation over 3 candidates: -0.50." in text
    limits = tables["What limits those that are slower, times the best"][1:]
    assert limits == [["<l2>", "4", "2.00", "6.00", "16.00"], ["tensor", "1", *["4.00"] * 3]]
    assert tables["Why candidates were refused"][1:] == [
        ["it spills", "1", "BM=8 warps=1", "24 & more bytes"]
    ]


def test_ranks_of_equal_numbers() -> None:
    """Against the textbook's formula on ranks written by hand, and where it says nothing."""
    assert spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1.0)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)
    # Ranks 1.5, 1.5, 3 and 1, 2, 3: covariance 1.5 of variances 1.5 and 2.
    assert spearman([5, 5, 9], [1, 2, 3]) == pytest.approx(1.5 / (1.5 * 2) ** 0.5)
    assert spearman([1, 1], [1, 2]) == 0


def test_the_page_asks_nobody_for_anything() -> None:
    pytest.importorskip("matplotlib")
    with Store(":memory:") as store:
        filled(store, measured=True)
        text = page(store)
        assert page(store) == text
    images = re.findall(r'<img alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)">', text)
    assert len(images) == 2
    assert re.findall(r"(?:src|href)=(?!\"data:)", text) == []
    for _, data in images:
        svg = base64.b64decode(data).decode()
        assert re.findall(r'(?:href|src)="(?!#)', svg) == []
        assert "@import" not in svg
        assert "url(http" not in svg


def test_the_page_says_what_it_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    file = tmp_path / "s.sqlite"
    with Store(file) as store:
        assert "Nothing was tried yet." in page(store)
        filled(store, measured=False)
    assert tile_tune.main(["report", str(file)]) == 0
    text = capsys.readouterr().out
    assert "Nothing was measured" in text
    assert "No plots: matplotlib is not installed" in text
    assert "<img" not in text
    Tables(text)
