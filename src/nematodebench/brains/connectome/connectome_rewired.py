"""Brain `connectome_rewired`: the same as `connectome_ppo` on random wiring, to see what the worm's wiring is worth."""

from typing import ClassVar

from nematodebench.brains.connectome.connectome_ppo import ConnectomePpo

__all__ = ["ConnectomeRewired"]


class ConnectomeRewired(ConnectomePpo):
    """The neurons of C. elegans with as many edges each as in the worm, to random partners that every run draws anew.

    Edges exchange their ends at random, ten times as often as there are edges, chemical edges and gap junctions apart.
    Every neuron keeps how many edges lead to it, from it, and how many junctions it has. Everything else, all defaults
    included, is `connectome_ppo`.
    """

    name: ClassVar[str] = "connectome_rewired"
    rewired: ClassVar[bool] = True
