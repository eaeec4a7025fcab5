"""The older name of a trial, for tests that still use it."""

from brain_trial import Trial, discrete, effectors, forage

__all__ = ["Life", "discrete", "effectors", "forage"]


class Life(Trial):
    """A trial whose memory is called ``memory``."""

    @property
    def memory(self):
        return self.brain

    def live(self, *arguments, **named):
        self.play(*arguments, **named)
