"""How a worm finds its way: the two strategies of real worms as descriptors, and where it spends its time.

*Klinokinesis* is to turn sharply more often when things get worse, *weathervaning* to bend the way towards the side on
which they are better. Both are told from the true closeness C to what is wanted, without the noise of the senses.
Descriptors are reported and never scored.

| descriptor | value |
|---|---|
| klinokinesis | P(turn > 90 degrees in 5 ticks after dC/dt < 0) - P(the same after dC/dt > 0); 0 without both |
| weathervane | slope of the turn of a tick (rad, + = left) on the lateral gradient of C before it (per mm, + = left) |
| speed | millimetres a tick, also against a wall |
| end_index | 1 if the episode ends in the wanted zone, -1 in its mirror image, else 0: a plate's chemotaxis index |
"""

from nematodebench.kernels.abi import Outcome
from nematodebench.kernels.angles import PI, TWO_PI, wrap
from nematodebench.kernels.jit import kernel
from nematodebench.kernels.memory import Block, number
from nematodebench.worlds.plate.body import LAG, SWEEP, PlateParams, PlateState

__all__ = ["PlateMetrics", "begin_gait", "finish", "note_gait"]

_SHARP = PI / 2.0


class PlateMetrics(Block):
    """The score and the descriptors of a gait."""

    index = number()
    klinokinesis = number()
    weathervane = number()
    speed = number()
    end_index = number()


@kernel()
def _lateral(right: float, left: float) -> float:
    """The gradient across the heading, + to the left."""
    return (left - right) / (2.0 * SWEEP)


@kernel()
def begin_gait(state: PlateState, here: float, right: float, left: float) -> None:
    """Notes how close things are before the first movement."""
    state.closeness, state.lateral = here, _lateral(right, left)


@kernel()
def _note_turn(state: PlateState, trend: float) -> None:
    """Judges the turn since ``LAG`` ticks by what was going on then."""
    moved = int(state.moved)
    place = moved % LAG
    if moved > LAG:
        sharp = 1.0 if abs(wrap(state.heading - state.headings[place], TWO_PI)) > _SHARP else 0.0
        if state.trends[place] < 0.0:
            state.falls += 1.0
            state.turns_in_falls += sharp
        elif state.trends[place] > 0.0:
            state.rises += 1.0
            state.turns_in_rises += sharp
    state.headings[place], state.trends[place] = state.heading, trend


@kernel()
def note_gait(state: PlateState, here: float, right: float, left: float) -> None:
    """Adds a movement, from the closeness at the head and to both sides of it."""
    x, y = state.lateral, state.turn
    state.curves += 1.0
    state.sum_lateral += x
    state.sum_turn += y
    state.sum_squares += x * x
    state.sum_products += x * y
    _note_turn(state, here - state.closeness)
    begin_gait(state, here, right, left)


@kernel()
def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0


@kernel()
def _slope(state: PlateState) -> float:
    """Of the least squares line."""
    spread = state.curves * state.sum_squares - state.sum_lateral * state.sum_lateral
    return _share(state.curves * state.sum_products - state.sum_lateral * state.sum_turn, spread)


@kernel()
def finish(params: PlateParams, state: PlateState, zone: float, outcome: Outcome, metrics: PlateMetrics) -> None:
    """Counts the tick if it lies in the window; at the end of the episode writes its metrics."""
    state.zone = zone
    if state.tick > params.ticks - params.window:
        state.wanted += max(zone, 0.0)
        state.mirrored += max(-zone, 0.0)
    if state.tick >= params.ticks:
        outcome.truncated = 1.0
        metrics.index = (state.wanted - state.mirrored) / params.window
        both = state.falls > 0.0 and state.rises > 0.0
        biased = _share(state.turns_in_falls, state.falls) - _share(state.turns_in_rises, state.rises)
        metrics.klinokinesis = biased if both else 0.0
        metrics.weathervane = _slope(state)
        metrics.speed = _share(state.way, state.moved)
        metrics.end_index = zone
