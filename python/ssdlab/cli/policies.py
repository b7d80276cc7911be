"""`ssdlab policies`: the policies of the engine, with the engine's own descriptions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ssdlab.cli.console import Console
from ssdlab.cli.form import FormOrJson
from ssdlab.errors import InputError, near
from ssdlab.foundation.foreign import JsonObject
from ssdlab.presentation.terminal import show
from ssdlab.simulator.drives import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.simulator.drives.policies import Policy


def policies(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A policy; without: list all.")] = None,
    *,
    form: FormOrJson,
) -> None:
    """List the policies of the simulated drive, or show one and how to select it."""
    everything = listing.policies()
    chosen = [policy for policy in everything if policy.name == name]
    if name is not None and not chosen:
        names = list(dict.fromkeys(policy.name for policy in everything))
        raise InputError(f"no policy {name!r}{near(name, names)} (known: {', '.join(names)})")
    if name is None:
        form.give(everything, lambda: _print_list(everything.policies))
    else:
        form.give(listing.Policies(chosen), lambda: _print_each(chosen))


def _print_list(everything: Sequence[Policy]) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("kind", "name"):
        table.add_column(column, no_wrap=True)
    for column in ("description", "parameters"):
        table.add_column(column, overflow="fold")
    kind_before = None
    for policy in everything:
        if kind_before not in (None, policy.kind):
            table.add_section()
        parameters = "\n".join(listing.parameters(policy)) or "-"
        table.add_row(policy.kind, policy.name, policy.summary, parameters)
        kind_before = policy.kind
    console = Console()
    show(table, console, ["parameters"])
    console.print("select one with --set ftl.KIND=NAME; ssdlab policies NAME shows a policy with its source")


def _print_each(chosen: Sequence[Policy]) -> None:
    for policy in chosen:
        _print_one(policy)


def _print_one(policy: Policy) -> None:
    console = Console()
    console.print(f"{policy.name} ({policy.kind}): {policy.summary}", style="bold")
    console.print(f"\nsource:     {policy.source or '-'}")
    console.print(f"parameters: {', '.join(listing.parameters(policy)) or 'none'}")
    console.print("\nto select it")
    console.print(f"  on the command line:  --set ftl.{policy.kind}={policy.name}")
    for key, value in list(policy.parameters.items())[:1]:
        console.print(f"  and its parameters:   --set ftl.{policy.kind}.{key}={json.dumps(value)}")
    console.print(f"  in a drive file:      {policy.kind} = {_toml_choice(policy)}")
    console.print()


def _toml_choice(policy: Policy) -> str:
    choice: JsonObject = {"name": policy.name} | policy.parameters
    if len(choice) == 1:
        return json.dumps(policy.name)
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in choice.items()) + " }"
