"""How costs grow: the board with its entries, a search with its trials, a session with its runs. Prints the exponents.

An exponent of 1 means that twice as many cost twice as much. Entries and sessions are synthetic: they live in temporary
folders, and ``perf/_synthetic.py`` says what is not genuine about them. ``python -m perf.growth --large`` measures the
index, the ranking, the tables and the site of 100,000 synthetic entries and a session of 1,000,000 runs besides, and
``--write`` puts what was measured into docs/scale.md.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.search.space import Dimension
from nematodebench.search.study import SearchPlan, run_search
from perf import _synthetic
from perf._page import PAGE, exponent, write_block

ENTRIES, TRIALS, RUNS = (250, 500, 1000, 2000), (125, 250, 500, 1000), (2_500, 5_000, 20_000, 80_000)
UNCHANGED, ONE_NEW, SEARCH = 5.0, 2.0, 60.0
"""Seconds that are wanted: 2,000 entries unchanged, one more among them, 1,000 trials that cost nothing."""


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock and seconds of all processors, those of children that have ended included."""

    def spent() -> float:
        both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(one.ru_utime + one.ru_stime for one in both)

    before, started = spent(), time.perf_counter()
    work()
    return time.perf_counter() - started, spent() - before


def _table(title: str, sizes: Sequence[int], rows: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    print(f"{title}\n{'':>24}" + "".join(f"{size:>16,}" for size in sizes) + "    exponent (processor)")
    for name, costs in rows.items():
        cells = "".join(f"{f'{wall:.2f} ({cpu:.2f})':>16}" for wall, cpu in costs)
        print(f"{name:>24}{cells}{exponent(sizes, [cpu for _, cpu in costs]):>12.2f}")
    print("seconds on the clock (seconds of processors)\n", flush=True)


def _regenerate(root: Path) -> None:
    words = [sys.executable, "-m", "nematodebench", "board", "regenerate", "--root", str(root)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)


def board(top: Path) -> bool:
    """The board unchanged, and with one entry more; returns whether both are fast enough."""
    root, unchanged = top / "board", []
    more: list[tuple[float, float]] = []
    _synthetic.empty_board(root)
    for before, count in zip((0, *ENTRIES), ENTRIES, strict=False):
        _synthetic.add_entries(root, before, count)
        _synthetic.remember(root)
        _regenerate(root)  # writes the tables, so that the next one finds nothing to do
        unchanged.append(measured(lambda: _regenerate(root)))
        _synthetic.add_new(root, len(more))
        again = measured(lambda: _regenerate(root))
        more.append((again[0] - unchanged[-1][0], again[1] - unchanged[-1][1]))
    _table("board regenerate, by entries", ENTRIES, {"unchanged": unchanged})
    if "--write" in sys.argv:
        write_block(PAGE, "board", _board_rows(unchanged, more))
    print("one new entry more: " + ", ".join(f"{wall:.2f} ({cpu:.2f})" for wall, cpu in more) + " s\n", flush=True)
    return _verdict("2,000 entries unchanged", unchanged[-1], UNCHANGED) & _verdict("one new", more[-1], ONE_NEW)


def _board_rows(unchanged: Sequence[tuple[float, float]], more: Sequence[tuple[float, float]]) -> str:
    """The table for docs/scale.md."""
    head = ["synthetic entries", *(f"{size:,}" for size in ENTRIES), "exponent"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for what, costs in (("`board regenerate`, nothing new", unchanged), ("one new entry more", more)):
        cells = " | ".join(f"{wall:.2f} s ({cpu:.2f} s)" for wall, cpu in costs)
        power = f"{exponent(ENTRIES, [cpu for _, cpu in costs]):.2f}" if costs is unchanged else "constant"
        lines.append(f"| {what} | {cells} | {power} |")
    return "\n".join(lines)


def _verdict(what: str, cost: tuple[float, float], wanted: float) -> bool:
    good = cost[0] <= wanted
    print(f"{what}: {cost[0]:.2f} s on the clock, {cost[1]:.2f} s of processors (wanted <= {wanted:g})"
          f"{'' if good else '  MISSED'}\n", flush=True)  # fmt: skip
    return good


class Free:
    """A target whose runs cost nothing."""

    def run(self, config: Mapping[str, Any], seeds: Sequence[int]) -> list[float]:
        """One number for each seed."""
        return [float(config.get("a", 0.5)) + seed % 97 * 1e-4 for seed in seeds]

    def values(self, results: Sequence[float]) -> NDArray[np.float64]:
        """Best at 0.3."""
        return -np.square(np.asarray(results) - 0.3)


def search(top: Path) -> bool:
    """Searches by the number of trials; returns whether the longest is fast enough."""
    space = tuple(Dimension(name, "float", 1e-3, 1.0, False, "high", 0.5) for name in "abcd")
    rows: dict[str, list[tuple[float, float]]] = {"tpe": [], "random": []}
    for sampler, costs in rows.items():
        for trials in TRIALS:
            place = str(top / f"{sampler}{trials}.log")
            plan = SearchPlan("growth", space, sampler=sampler, trials=trials, storage=place)
            costs.append(measured(lambda plan=plan: run_search(Free(), plan)))  # type: ignore[misc]
    _table("search of four parameters, by trials", TRIALS, rows)
    return _verdict("1,000 trials with tpe", rows["tpe"][-1], SEARCH)


def session(top: Path, counts: Sequence[int] = RUNS) -> None:
    """The record of a session, by runs: written, read again, and its size."""
    from nematodebench.records.store import load_experiment

    rows: dict[str, list[tuple[float, float]]] = {"written": [], "read": []}
    for count in counts:
        made = _synthetic.long_session(count)
        store = _synthetic.store_of(top / "sessions", made)
        rows["written"].append(measured(lambda made=made, store=store: store.finish(made, b"synthetic")))  # type: ignore[misc]
        rows["read"].append(measured(lambda store=store: load_experiment(store.folder)))  # type: ignore[misc]
        sizes = {path.name.replace(store.id, "record"): path.stat().st_size for path in sorted(store.folder.iterdir())}
        print(f"{count:>10,} runs: " + ", ".join(f"{name} {size:,}" for name, size in sizes.items() if size > 100))
    _table("record of a session, by runs", counts, rows)


def main() -> int:
    """Measures everything; returns 1 where something takes longer than is wanted."""
    with tempfile.TemporaryDirectory(prefix="nematodebench-growth-") as name:
        top = Path(name)
        _synthetic.own_cache(top / "cache")
        print(f"load of the machine at the start: {os.getloadavg()[0]:.1f}\n", flush=True)
        good = search(top)
        session(top)
        good &= board(top)
        if "--large" in sys.argv:
            session(top, (100_000, 1_000_000))
            from perf import _large

            _large.main(write="--write" in sys.argv)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
