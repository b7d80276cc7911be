"""Writes docs/policies.md from what the engine says of its policies. usage: policies_page.py FILE, or - for the screen.

Not the place for explanations: those stand in the policies' own files, which the page points to.
"""

import json
from typing import Any

from generated_page import table, write
from ssdlab import _engine

# Each kind as the engine names it: the heading, what is decided, the folder of its files.
KINDS = {
    "victim": ("Victim", "Which erase unit is cleaned next.", "victim"),
    "placement": (
        "Placement",
        "Which open erase unit data is written to, and whose spare area is cleaned.",
        "placement",
    ),
    "pacing": ("Pacing", "How fast a victim is emptied while the host goes on writing; only with a clock.", "pacing"),
    "die_choice": (
        "Die choice",
        "Which die a program group goes to, where erase units are single blocks (`docs/time.md`).",
        "die_choice",
    ),
    "wear_leveling": ("Wear levelling", "How erases are spread over the flash.", "wear"),
}

HEAD = """# Policies

Written by `make docs` from what the engine says of itself (`ssdlab policies`). Changes belong into the policies' files.
A policy is chosen in a drive file, `[ftl] victim = "greedy"` or `victim = { name = "d-choices", d = 10 }`, or on the
command line, `--set ftl.victim=d-choices --set ftl.victim.d=10`.
"""


def page() -> str:
    """The whole page, in Markdown."""
    policies = json.loads(_engine.policies())
    unforeseen = {policy["kind"] for policy in policies} - set(KINDS)
    if unforeseen:
        raise SystemExit(f"policies_page.py has no heading for policies of kind {', '.join(sorted(unforeseen))}")
    sections = [HEAD]
    for kind, (heading, decision, folder) in KINDS.items():
        rows = [_row(policy) for policy in policies if policy["kind"] == kind]
        listed = table(("name", "what it does", "parameters and defaults", "source"), rows)
        where = f"Key `ftl.{kind}`, files in `crates/engine/src/policies/{folder}/`."
        sections.append(f"## {heading}\n\n{decision} {where}\n\n{listed}")
    return "\n".join(sections)


def _row(policy: dict[str, Any]) -> tuple[str, ...]:
    parameters = ", ".join(f"`{name} = {json.dumps(value)}`" for name, value in policy["parameters"].items())
    return (f"`{policy['name']}`", policy["summary"], parameters or "none", policy["source"])


if __name__ == "__main__":
    write(page)
