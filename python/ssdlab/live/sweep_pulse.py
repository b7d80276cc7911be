"""Updates the page of a sweep: once per second, sends what is new in its data set to all pages."""

import asyncio
import json

from ssdlab.live.connection import Connection
from ssdlab.live.sweep_state import SweepState

_LOOK_SECONDS = 1.0


class SweepPulse:
    """Sends updates from a sweep's data set to the pages in `connections`."""

    def __init__(self, state: SweepState) -> None:
        self.connections: set[Connection] = set()
        self._state = state
        self._state_sent = ""

    async def run(self) -> None:
        """Runs until it is cancelled."""
        while True:
            state = await asyncio.to_thread(self._look)
            if state != self._state_sent:
                self._state_sent = state
                for connection in self.connections:
                    connection.offer_status(state)
            await asyncio.sleep(_LOOK_SECONDS)

    def welcome(self, connection: Connection) -> None:
        """Sends the current state to a new page immediately."""
        self.connections.add(connection)
        if self._state_sent:
            connection.offer_status(self._state_sent)

    def tell_status(self) -> None:
        """Does nothing: no command of a page changes a sweep."""

    def _look(self) -> str:
        unreachable = None
        try:
            self._state.look()
        except OSError as error:
            # For example, a network folder is not available for some time; results that were read are kept.
            unreachable = str(error)
        return json.dumps({"type": "sweep", "unreachable": unreachable, **self._state.plain()})
