"""The chemotaxis index: on which side of the plate the worms end."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from nematodebench import scoring
from nematodebench.measures.base import Chemotaxis, Episodes, Measure, Measurement, rows_of
from nematodebench.stats import FEW_RUNS, StatValue

__all__ = ["CHEMOTAXIS", "ChemotaxisIndex", "counted", "plate_assay", "zones"]


def zones(assay: Episodes) -> NDArray[np.float64]:
    """Where each worm ended: 1 for the attractant, -1 for the control, 0 for neither."""
    return assay.column("zone").ravel()


def plate_assay(assay: Episodes) -> Chemotaxis:
    """Counts the worms on either side. Every run is one worm."""
    ended = zones(assay)
    return counted(int((ended > 0).sum()), int((ended < 0).sum()), ended.size)


def counted(attractant: int, control: int, total: int) -> Chemotaxis:
    """The assay of so many worms, of which some ended on either side."""
    index = scoring.chemotaxis_index(attractant, control, total)
    return Chemotaxis(
        index=index,
        ci95=scoring.chemotaxis_interval(attractant, control, total),
        level=cast("Any", scoring.biological_level(index)),
        attractant=attractant,
        control=control,
        total=total,
    )


@dataclass(frozen=True)
class ChemotaxisIndex(Measure):
    """The plate assay alone (EVALUATION.md, chemotaxis)."""

    name: ClassVar[str] = "chemotaxis"

    def measure(self, scored: Episodes, assay: Episodes | None) -> Measurement:
        """Computes the index, and how far from the attractant the worms end."""
        table = {"chemotaxis_index": zones(scored), "end_distance": scored.column("distance").ravel()}
        session = {name: StatValue.from_values(values) for name, values in table.items()}
        session["chemotaxis_index"] = _index_value(session["chemotaxis_index"], plate_assay(scored))
        return Measurement(rows_of(table), session, None if assay is None else plate_assay(assay))


def _index_value(index: StatValue, assay: Chemotaxis) -> StatValue:
    """The index with the interval of counts, which has a width also where all worms agree."""
    if index.n == 1:
        return index
    return replace(index, ci95=assay.ci95, kind="wilson", doubt="few runs" if index.n < FEW_RUNS else "")


CHEMOTAXIS = ChemotaxisIndex()
