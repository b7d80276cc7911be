"""The latency of a single read of many pages on an idle drive: an analytical model of dies, planes and channels.

Consecutive pages lie on one die as far as it programs them together, then on the next die; neighbouring dies are on
different channels. A die reads one page at a time and holds it until the transfer over the channel ends. The link
transfers the whole read after its last page.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Striping:
    """The components that take part in a read; times in microseconds."""

    channels: int
    dies: int
    pages_on_die: int
    """Pages that a die programs together."""
    page_bytes: int
    read_us: float
    transfer_us_per_byte: float
    link_us_per_byte: float

    def latency_us(self, size_bytes: int) -> float:
        """The latency of a read that begins on the first page of a die."""
        transfer_us = self.page_bytes * self.transfer_us_per_byte
        pages = -(-size_bytes // self.page_bytes)
        waiting = [0] * self.dies
        for page in range(pages):
            waiting[page // self.pages_on_die % self.dies] += 1
        # The times when each die has a page ready, and when each channel is free.
        ready = {die: self.read_us for die in range(self.dies) if waiting[die]}
        free = [0.0] * self.channels
        end = 0.0
        while ready:
            die = min(ready, key=lambda each: (ready[each], each))
            channel = die % self.channels
            end = max(end, finished := max(ready[die], free[channel]) + transfer_us)
            free[channel] = finished
            waiting[die] -= 1
            if waiting[die]:
                ready[die] = finished + self.read_us
            else:
                del ready[die]
        return end + size_bytes * self.link_us_per_byte
