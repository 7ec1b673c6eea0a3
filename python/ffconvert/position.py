"""Where a run stands: an epoch, and a step in it.

A DataLoader, its sampler and its batch sampler are views of one Position: whichever of them is asked to go to an epoch, all go.
"""

from __future__ import annotations

from typing import Tuple

__all__ = ["Position"]


class Position:
    """An epoch, the steps of it that were delivered, and where the next iteration begins.

    An iteration calls begin with its first step, and move after each. What a later iteration, or set_epoch, set_step or load
    has set since, it does not change.
    """

    def __init__(self) -> None:
        #: The number of the epoch.
        self.epoch = 0
        #: The steps of the epoch that were delivered or left out.
        self.done = 0
        #: The first steps of epochs that are left out.
        self.skip = 0
        self._start = 0        # the step that the next iteration begins with, unless this epoch has ended
        self._ended = False    # the next iteration is one of the next epoch
        self._turn = 0         # the iteration that moves the position
        self._running = False  # it has begun, and nothing was set since

    def next(self) -> Tuple[int, int]:
        """The epoch and the step that an iteration begins with."""
        return (self.epoch + 1, self.skip) if self._ended else (self.epoch, self._start)

    def begin(self) -> int:
        """Begins an iteration at next(), and returns its number."""
        self.epoch, self.done = self.next()
        self._start, self._ended, self._running = self.done, False, True
        self._turn += 1
        return self._turn

    def move(self, turn: int, done: int, ended: bool) -> None:
        """So many steps of its epoch has this iteration delivered; ended: there are no more. If it is left, the next one begins the epoch again."""
        if turn == self._turn:
            self.done, self._start, self._ended = done, self.skip, ended

    def set_epoch(self, epoch: int) -> None:
        """Goes to the start of an epoch. That of an iteration which goes on, or of load, stays where it is."""
        if epoch == self.epoch and self._running and not self._ended:
            return
        if epoch != self.epoch:
            self._start = self.skip
        self._set(epoch, self._start)

    def set_step(self, step: int) -> None:
        """Makes all iterations leave out the first steps; the next one is of the next epoch if this one has ended."""
        self.skip = step
        self._set(self.next()[0], step)

    def load(self, epoch: int, step: int, steps: int) -> None:
        """Goes to a step of an epoch of so many steps, for one iteration; at its end, to the next epoch."""
        self.skip = 0
        self._set(epoch, step)
        self._ended = step == steps

    def _set(self, epoch: int, start: int) -> None:
        self.epoch, self.done, self._start = epoch, start, start
        self._ended = self._running = False
        self._turn += 1
