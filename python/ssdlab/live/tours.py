"""Guided tours: text next to the picture, and the commands of each step. Each is a TOML file in `tours/`.

A step's actions are commands of the page (`choices.COMMANDS`), so a tour can do nothing that a user could not do.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ssdlab.errors import InputError, near
from ssdlab.foundation.foreign import JsonObject
from ssdlab.live import choices
from ssdlab.live.messages import TourShown, TourStep


@dataclass(frozen=True)
class Step:
    """One step: its text, what to look at, and the commands that are executed when it is reached."""

    title: str
    text: str
    look: str
    view: str
    actions: tuple[tuple[str, JsonObject], ...]

    def plain(self) -> TourStep:
        """The step for the page."""
        return {"title": self.title, "text": self.text, "look": self.look, "view": self.view}


@dataclass(frozen=True)
class Tour:
    """A tour of about three minutes."""

    name: str
    title: str
    source: str
    """The subject: a published study, or theory."""
    steps: tuple[Step, ...]

    def step(self, index: int) -> Step:
        """The step at `index`. Raises InputError if the tour has fewer steps."""
        if index >= len(self.steps):
            raise InputError(f"tour {self.name!r} has {len(self.steps)} steps; requested: step {index + 1}")
        return self.steps[index]

    def plain(self) -> TourShown:
        """The tour for the page."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "steps": [step.plain() for step in self.steps],
        }


@cache
def tours() -> dict[str, Tour]:
    """The tours by name, in the order of display. Raises ValueError for an invalid file, an error of the package."""
    folder = files("ssdlab.live").joinpath("tours")
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".toml")}
    read = [_read(name, tomllib.loads(text)) for name, text in texts.items()]
    return {tour.name: tour for _, tour in sorted(read, key=lambda entry: entry[0])}


def tour_named(known: Mapping[str, Tour], name: str) -> Tour:
    """The tour of that name. Raises InputError if there is none."""
    if name not in known:
        raise InputError(f"{name!r} is not a tour{near(name, known)}; known: {', '.join(known)}")
    return known[name]


def _read(file: str, content: JsonObject) -> tuple[int, Tour]:
    try:
        steps = tuple(_step(step) for step in content["steps"])
        return content["order"], Tour(file.removesuffix(".toml"), content["title"], content["source"], steps)
    except (KeyError, InputError) as error:
        raise ValueError(f"tours/{file}: {error}") from error


def _step(content: JsonObject) -> Step:
    actions = tuple((name, arguments) for action in content["do"] for name, arguments in action.items())
    for name, arguments in actions:
        choices.command(name, arguments)
    if content["view"] not in choices.VIEWS:
        raise KeyError(f"view {content['view']!r}")
    text, look = (" ".join(content[key].split()) for key in ("text", "look"))
    return Step(content["title"], text, look, content["view"], actions)
