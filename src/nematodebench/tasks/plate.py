"""Plates: the continuous worm with noisy senses; effectors in [0, 1], anchored scores.

The floor of two of them is exact: whoever ignores the input is as often in the mirror image of a zone as in the zone.
"""

from nematodebench.tasks.budgeted import budgeted
from nematodebench.worlds.plate.aerotaxis import PlateAerotaxis
from nematodebench.worlds.plate.chemotaxis import PlateChemotaxis
from nematodebench.worlds.plate.thermotaxis import PlateThermotaxis

__all__ = ["TASKS"]

_REFERENCE = "plate_follower"
"""It has the same sensors as every other brain. A controller that knows the world's state gets 1.0 everywhere."""

TASKS = (
    budgeted("plate_chemotaxis", "crawl to where a smell comes from", PlateChemotaxis(), 300_000, "index", floor=0.0,
             reference_brain=_REFERENCE),
    budgeted("plate_aerotaxis", "crawl to the oxygen that is neither too much nor too little", PlateAerotaxis(),
             300_000, "index", reference_brain=_REFERENCE),
    budgeted("plate_thermotaxis", "remember a temperature and crawl back to it", PlateThermotaxis(), 500_000, "index",
             floor=0.0, reference_brain=_REFERENCE),
)  # fmt: skip
