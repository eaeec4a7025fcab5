"""An independent version of the plates: plain NumPy, whole courses at once where the package goes tick by tick."""

import numpy as np

from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, set_stream, uniform


class Dice:
    """The world's stream of an episode."""

    def __init__(self, seed, episode=0):
        self.words = np.zeros(RNG_WORDS, np.uint64)
        set_stream(self.words, np.uint64(seed), STREAM_WORLD, episode, 0)

    def share(self):
        return uniform(self.words)

    def normal(self):
        radius = np.sqrt(-2 * np.log(1 - self.share()))
        return radius * np.cos(2 * np.pi * self.share())


def round_plate(radius):
    def inside(place):
        distance = np.linalg.norm(place)
        return place * min(1, radius / distance) if distance else place

    return inside


class Smell:
    ticks, window, noise, gain, held = 600, 300, 0.07, 20, 0
    inside = staticmethod(round_plate(25))

    def __init__(self, dice):
        distance, bearing = 12 + 8 * dice.share(), 2 * np.pi * dice.share()
        self.start, self.source = np.zeros(2), distance * np.array([np.cos(bearing), np.sin(bearing)])

    def level(self, place):
        return -np.sum((place - self.source) ** 2) / 144

    def shown(self, level):
        return 1 + level / 6

    def closeness(self, level):
        return level

    def reward(self, level):
        return np.exp(level)

    def zone(self, place, level):
        near, far = np.linalg.norm(place - self.source) <= 5, np.linalg.norm(place + self.source) <= 5
        return int(near) - int(far)


class Oxygen:
    ticks, window, noise, gain, held = 600, 300, 0.15, 4, 0

    def __init__(self, dice):
        self.sign = 1 if dice.share() < 0.5 else -1
        place = 12.375 + 4.125 * dice.share()
        self.start = np.array([place if dice.share() < 0.5 else -place, 15 * dice.share() - 7.5])

    def inside(self, place):
        return np.clip(place, [-16.5, -7.5], [16.5, 7.5])

    def level(self, place):
        return 10.5 + self.sign * 10.5 * place[0] / 16.5

    def shown(self, level):
        return level / 21

    def closeness(self, level):
        return -abs(level - 8.5)

    def reward(self, level):
        return float(5 <= level <= 12)

    def zone(self, place, level):
        return int(5 <= level <= 12)


class Warmth:
    ticks, window, noise, gain, held = 900, 400, 0.03, 30, 40
    inside = staticmethod(round_plate(45))

    def __init__(self, dice):
        direction = 2 * np.pi * dice.share()
        self.warmer = np.array([np.cos(direction), np.sin(direction)])
        away = 1.5 + 1.5 * dice.share()
        self.kept, self.start = 20 + (away if dice.share() < 0.5 else -away), np.zeros(2)

    def level(self, place):
        return 20 + 0.1 * place @ self.warmer

    def shown(self, level):
        return (level - 14) / 12

    def closeness(self, level):
        return -abs(level - self.kept)

    def reward(self, level):
        return np.exp(-((level - self.kept) ** 2) / 2)

    def zone(self, place, level):
        return int(abs(level - self.kept) <= 0.6) - int(abs(level - (40 - self.kept)) <= 0.6)


def sides(place, heading):
    """To the right and to the left of the head."""
    across = 0.1 * np.array([np.sin(heading), -np.cos(heading)])
    return place + across, place - across


def sensed(field, dice, levels, before, touch):
    """Observation, and the level as it was sensed."""
    here, right, left = (level + field.noise * dice.normal() for level in levels)
    change = np.tanh(field.gain * (here - before)) if before is not None else 0.0
    sweep = np.tanh(field.gain * (right - left))
    shown = np.clip(field.shown(here), 0, 1)
    return [shown, max(change, 0), max(-change, 0), max(sweep, 0), max(-sweep, 0), touch], here


def course(kind, seed, effectors):
    """Observations (the first one before the first action), places, headings, rewards and metrics of an episode."""
    dice = Dice(seed)
    heading = 2 * np.pi * dice.share()
    field = kind(dice)
    place = field.start

    def levels():
        return [field.level(where) for where in (place, *sides(place, heading))]

    first = [field.kept] * 3 if field.held else levels()
    seen, felt = sensed(field, dice, first, None, 0.0)
    observations, rewards, zones = [seen], [], []
    free = [] if field.held else [(place, heading, levels(), 0.0)]
    for tick, (forward, left, right) in enumerate(effectors.astype(np.float32), start=1):
        touch, reward, zone, now = 0.0, 0.0, 0, [field.kept] * 3 if tick < field.held else None
        if tick > field.held:
            turn = np.pi / 6 * float(left - right) + 0.1 * dice.normal()
            heading = heading + turn
            wanted = place + 0.2 * float(forward) * np.array([np.cos(heading), np.sin(heading)])
            place = field.inside(wanted)
            touch = float(np.linalg.norm(place - wanted) > 1e-12)
            reward, zone = field.reward(field.level(place)), field.zone(place, field.level(place))
            free.append((place, heading, levels(), 0.2 * float(forward)))
        elif tick == field.held:
            free.append((place, heading, levels(), 0.0))
        seen, felt = sensed(field, dice, now or levels(), felt, touch)
        observations.append(seen)
        rewards.append(reward)
        zones.append(zone)
    return np.array(observations), np.array(rewards), place, heading, metrics(field, free, zones)


def metrics(field, free, zones):
    """The score and the descriptors, from the whole course."""
    headings = np.array([heading for _, heading, _, _ in free])
    close = np.array([[field.closeness(level) for level in levels] for _, _, levels, _ in free])
    turns, lateral = np.diff(headings), (close[:-1, 2] - close[:-1, 1]) / 0.2
    trend = np.diff(close[:, 0])[:-5]
    whole = headings[6:] - headings[1:-5]
    sharp = np.abs((whole + np.pi) % (2 * np.pi) - np.pi) > np.pi / 2
    falls, rises = sharp[trend < 0], sharp[trend > 0]
    counted = np.array(zones[-field.window :])
    return {
        "index": ((counted > 0).sum() - (counted < 0).sum()) / field.window,
        "klinokinesis": falls.mean() - rises.mean() if len(falls) and len(rises) else 0.0,
        "weathervane": np.polyfit(lateral, turns, 1)[0],
        "speed": np.mean([way for *_, way in free[1:]]),
        "end_index": zones[-1],
    }
