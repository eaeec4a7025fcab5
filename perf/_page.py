"""Blocks of docs/scale.md that measurements write, and how a cost grows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """The power of the size that the cost grows with: the slope of a line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def write_block(page: Path, name: str, text: str) -> None:
    """Replaces what lies between ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->``."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, rest = page.read_text().split(begin)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")
