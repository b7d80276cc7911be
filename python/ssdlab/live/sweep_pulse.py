"""What makes the page of a sweep live: once a second what is new in its data set is sent to all pages."""

import asyncio
import json

from ssdlab.live.connection import Connection
from ssdlab.live.sweep_state import SweepState

_LOOK_SECONDS = 1.0


class SweepPulse:
    """Serves the connections in `connections` from a sweep's data set."""

    def __init__(self, state: SweepState) -> None:
        self.connections: set[Connection] = set()
        self._state = state
        self._state_sent = ""

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            state = await asyncio.to_thread(self._look)
            if state != self._state_sent:
                self._state_sent = state
                for connection in self.connections:
                    connection.offer_status(state)
            await asyncio.sleep(_LOOK_SECONDS)

    def welcome(self, connection: Connection) -> None:
        """A new page receives the present state at once."""
        self.connections.add(connection)
        if self._state_sent:
            connection.offer_status(self._state_sent)

    def tell_status(self) -> None:
        """Nothing that a page asks changes a sweep."""

    def _look(self) -> str:
        unreachable = None
        try:
            self._state.look()
        except OSError as error:
            # A network folder that is away for a while; what was read stays.
            unreachable = str(error)
        return json.dumps({"type": "sweep", "unreachable": unreachable, **self._state.plain()})
