"""References of worms: controllers that know where food and predators are, and look one move ahead."""

from nematodebench.kernels.jit import F64, kernel
from nematodebench.worlds.worm.body import FORWARD, STAY, Body, BodyState, X, Y, index

__all__ = ["after", "way_to_nearest"]

_FAR = 1e9


@kernel()
def after(params: Body, state: BodyState, action: int) -> tuple[float, float, int]:
    """Where the worm is and where it looks after an action, as :func:`move_worm` would have it."""
    heading = index(state.heading)
    x, y = state.x + params.step_x[heading, action], state.y + params.step_y[heading, action]
    last = params.side - 1.0
    if action == STAY or x < 0.0 or y < 0.0 or x > last or y > last:
        return state.x, state.y, heading
    return x, y, index(params.turned[heading, action])


@kernel()
def way_to_nearest(params: Body, places: F64, x: float, y: float, heading: int) -> float:
    """Moves to the nearest place: its Manhattan distance, and two more if it lies straight behind the worm."""
    ahead_x, ahead_y = params.step_x[heading, FORWARD], params.step_y[heading, FORWARD]
    nearest = _FAR
    for n in range(places.shape[0]):
        dx, dy = places[n, X] - x, places[n, Y] - y
        ahead, right = dx * ahead_x + dy * ahead_y, dx * ahead_y - dy * ahead_x
        detour = 2.0 if ahead < 0.0 and right == 0.0 else 0.0
        nearest = min(nearest, abs(ahead) + abs(right) + detour)
    return nearest
