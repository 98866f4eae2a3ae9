"""What faults the simulator finds, and how fast it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from generated import table

from .items import Sentence, Table, benchmark, results


def simulator() -> Iterator[Table | Sentence]:
    """Faults found, and speed."""
    shown = benchmark("mutation.table")
    file, mutants = results("sim_mutants")
    yield Sentence("`benchmarks/results/{file}`:\n\n<!-- figures: mutants", file=file)
    yield Table("mutants", "".join(f"{line}\n" for line in shown.markdown(mutants)))
    verdicts = Counter(one["verdict"] for one in mutants)
    assert verdicts.keys() <= set(shown.VERDICTS)
    right = verdicts["found"] / (len(mutants) - verdicts["equivalent"])
    yield Sentence(
        "Findings alone reach {right} %: every access of the other mutants is legal. {advised} of "
        "them load the next row",
        right=f"{100 * right:.1f}",
        advised=verdicts["advised"],
    )
    yield Sentence("The {wrong} that only results show", wrong=verdicts["wrong"])
    yield from _speed()


def _speed() -> Iterator[Table | Sentence]:
    file, speed = results("sim_speed-against")
    modes = ("fast", "fast_checked", "exact")
    for tiles, sentence in (
        (
            "",
            "it takes {fast} times as long as our fast mode without checks, {fast_checked} times "
            "as long as fast mode with checks, and {exact} times as long as exact mode",
        ),
        (
            "_same_tile",
            "With our tile of 128×128×64, it takes {fast}, {fast_checked} and {exact} "
            "times as long (`benchmarks/results/{file}`)",
        ),
    ):
        ratios = {mode: f"{speed[f'{mode}_vs_triton{tiles}']:.2g}" for mode in modes}
        yield Sentence(sentence, **ratios, file=file)
    rows = speed["against"]["rows"]

    def ratio(row: str, clock: str = "seconds") -> float:
        return float(rows[row][clock]["ratio"])

    yield Sentence("(`benchmarks/results/{file}`):\n\n<!-- figures: speed", file=file)
    titles = {
        "arithmetic": "arithmetic",
        "divergent": "arithmetic in 8 divergent paths",
        "mma": "exact matrix products (`mma`)",
        "memory": "loads and stores, shared and global",
        "staged": "tiles staged through shared memory, 16 bytes of them read by four lanes each",
    }
    columns = ("8 warps", "512 warps")
    lines = [
        (title, *(f"{ratio(f'{row}, {column}'):.2g}" for column in columns))
        for row, title in titles.items()
    ]
    yield Table("speed", table(("loop of", *columns), lines))
    yield Sentence(
        "but for the products of 512 warps, {cpu}, which two threads",
        cpu=f"{ratio('mma, 512 warps', 'cpu'):.2g}",
    )
    yield Sentence(
        "which is one CTA, takes 1/{one} of their time after the first launches, one of "
        "512×512×512 1/{exact}, and Triton's interpreter with the same tile and one thread of BLAS "
        "{triton} times as long as ours",
        one=f"{ratio('128x128x128 exact'):.1f}",
        exact=f"{ratio('512x512x512 exact'):.1f}",
        triton=f"{speed['exact_vs_triton_same_tile']:.2f}",
    )
    yield Sentence(
        "4096×4096×4096 takes {seconds} s",
        seconds=round(rows["4096x4096x4096 exact"]["seconds"]["ours"]),
    )
    yield Sentence(
        "An import takes {imported} of their time, a first launch in a process {first} of it, and "
        "{empty} with an empty",
        imported=f"{1 / ratio('import'):.2f}",
        first=f"{1 / ratio('first launch'):.2f}",
        empty=f"{1 / ratio('first launch, empty cache'):.2f}",
    )
    file, processes = results("sim_processes")
    yield Sentence(
        "one process {wgmma} times as long as two, and a GEMM by `mma.sync` of 2048×2048×2048, "
        "whose products several threads compute in one process, too, {mma} times, by the clock "
        "(`benchmarks/results/{file}`)",
        wgmma=f"{processes['wgmma']['seconds_ratio']:.2f}",
        mma=f"{processes['mma.sync']['seconds_ratio']:.2f}",
        file=file,
    )
