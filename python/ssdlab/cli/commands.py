"""The list of commands, and the group that loads the module of a command when it is called.

`--help` loads none of them, so their modules import what they need at the top.
"""

import functools
import inspect
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, cast, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from ssdlab.cli import older_forms
from ssdlab.cli.command_line import command_line
from ssdlab.cli.groups import flat
from ssdlab.errors import InputError, NoRoom, RunFailed, check_word, notify
from ssdlab.presentation.report import chosen
from ssdlab.presentation.report.chosen import Pictures


@dataclass(frozen=True)
class Listed:
    """A command's entry in the overview: a summary and an example."""

    summary: str
    example: str


# Each command with its line in the overview and the example in its help. The function and the module of a command have
# its name, with `_` between two words.
COMMANDS = {
    "questions": Listed("List questions with the command that answers each.", "ssdlab questions"),
    "demo": Listed("Compare two spare areas in under half a minute, without any file.", "ssdlab demo"),
    "compare": Listed(
        "Compare spare areas, drives or policies under one workload.",
        "ssdlab compare jobs/randwrite.fio --drive generic-tlc-480 --scale 1/64 --set ftl.victim=greedy,fifo",
    ),
    "compare targets": Listed(
        "Run a job on simulated and real drives, beside fio's results.",
        "ssdlab compare targets jobs/mixed.fio --target simulated:generic-tlc-480 --target device:/mnt/ssd --size 1GiB",
    ),
    "run": Listed(
        "Run a fio job on a simulated drive.",
        "ssdlab run jobs/randwrite.fio --drive generic-tlc-480 --scale 1/16 --output out/first/",
    ),
    "replay": Listed(
        "Replay a recorded block trace on simulated drives.",
        "ssdlab replay examples/traces/database.csv.gz --drive generic-tlc-480 --scale 1/64 --op 7%,28%",
    ),
    "measure": Listed(
        "Run a fio job on a real drive or file, with SMART.",
        "ssdlab measure jobs/mixed.fio --on . --size 1GiB --output out/measured/",
    ),
    "study": Listed("Repeat published experiments.", "ssdlab study pny-over-provisioning"),
    "fleet simulate": Listed(
        "Simulate wear and life of many volumes.",
        "ssdlab fleet simulate examples/traces/ --drive generic-nvme-tlc-1000 --op 7%,28%",
    ),
    "fleet tenants": Listed(
        "Count drives for tenants that share them, or do not.",
        "ssdlab fleet tenants examples/tenants.fio --drive examples/tenants.toml --writes-per-day 2TB --drives 100",
    ),
    "fleet smart": Listed(
        "Infer what free space is worth to many real drives.",
        "ssdlab fleet smart examples/monday.json examples/friday.json",
    ),
    "sweep": Listed(
        "Run a grid or sample of a parameter space, resumably.", "ssdlab sweep sweeps/spare-area.toml --workers 2"
    ),
    "live": Listed("Show a running drive in the browser.", "ssdlab live --drive generic-tlc-480 --scale 1/64"),
    "mount": Listed(
        "Mount a simulated drive as a file for real programs.",
        "ssdlab mount drive/ --drive generic-tlc-480 --op 7% --scale 1/256 --what-if 14%,28%",
    ),
    "serve": Listed(
        "Serve a simulated drive over NBD or NVMe.",
        "ssdlab serve --drive generic-tlc-480 --op 7% --scale 1/256 --socket drive.sock",
    ),
    "health": Listed(
        "Report the health of drives from their SMART reports.",
        "ssdlab health examples/monday.json examples/friday.json --fail-on attention",
    ),
    "blame": Listed(
        "Say which program wears the drive, by which writes.",
        "ssdlab blame examples/commits.strace --drive generic-sata-tlc-500",
    ),
    "export": Listed("Serve metrics of drives to Prometheus.", "ssdlab export --listen 127.0.0.1:9779"),
    "atlas": Listed("Show statistics of drives in the field, by model.", "ssdlab atlas --output out/atlas"),
    "check": Listed(
        "Check a file or drive for internal fragmentation and working TRIM.",
        "ssdlab check examples/traces/database.csv.gz",
    ),
    "refresh": Listed(
        "Rewrite a file or device in order to restore its read speed.",
        "ssdlab refresh examples/traces/database.csv.gz --dry-run",
    ),
    "identify": Listed(
        "Infer a drive file from outside, by experiments.",
        "ssdlab identify --drive generic-tlc-480 --scale 1/8 --output out/identified",
    ),
    "fit": Listed(
        "Fit values of a drive file to measured points.",
        "ssdlab fit examples/points.csv --drive textbook --free nand.program_us=100..2000 --scale 1/16",
    ),
    "advise space": Listed(
        "Find the least spare area that meets given limits.",
        "ssdlab advise space jobs/randwrite.fio --drive generic-tlc-480 --life 5y --writes-per-day 500GB",
    ),
    "advise smart": Listed(
        "Infer what free space is worth to a real drive.", "ssdlab advise smart examples/friday.json"
    ),
    "advise tenants": Listed(
        "Compare one drive for all tenants with one for each.",
        "ssdlab advise tenants examples/tenants.fio --drive examples/tenants.toml --writes-per-day 2TB",
    ),
    "advise refresh": Listed(
        "Say how often to refresh a drive that is only read.",
        "ssdlab advise refresh --drive generic-tlc-480 --reads-per-day 20TB --life 5y",
    ),
    "lifetime": Listed(
        "Estimate the life of a drive.",
        "ssdlab lifetime jobs/randwrite.fio --drive generic-tlc-480 --writes-per-day 500GB",
    ),
    "drives": Listed("List the drive models, with sources.", "ssdlab drives generic-tlc-480 --op 28%"),
    "price": Listed(
        "Compute the cost per usable gigabyte.",
        "ssdlab price --drive agility2-100gb --drive agility2-120gb",
    ),
    "policies": Listed("List the policies.", "ssdlab policies d-choices"),
    "model": Listed(
        "Compute write amplification in closed form.",
        "ssdlab model --op 7% --victim greedy --units-per-erase-unit 256",
    ),
}


GROUPS = {
    "Begin": ("demo", "questions"),
    "Simulate": ("run", "compare", "replay", "study", "sweep", "lifetime", "live"),
    "Advice": ("advise space", "advise tenants", "advise refresh", "advise smart"),
    "Real drives": ("measure", "compare targets", "check", "refresh", "identify", "fit"),
    "Serve": ("mount", "serve", "export"),
    "The field": ("health", "blame", "atlas"),
    "Fleets": ("fleet simulate", "fleet tenants", "fleet smart"),
    "Look up": ("drives", "policies", "model", "price"),
}
"""The commands in the groups of the overview."""

WITH_PICTURES = frozenset(
    COMMANDS.keys()
    - {"advise refresh", "advise smart", "check", "drives", "export", "fit", "identify", "live"}
    - {"mount", "policies", "price", "questions", "refresh", "serve"}
)
"""The commands that write a report with pictures."""

FAMILIES = {
    head: [name for name in COMMANDS if name.startswith(f"{head} ")]
    for head in dict.fromkeys(name.split()[0] for name in COMMANDS)
    if head not in COMMANDS
}
"""The first words that are no commands themselves, with the commands that begin with them."""


# `None` keeps the choice of a command that calls this one, as `demo` does.
_PICTURES = Annotated[
    str | None,
    typer.Option(
        "--pictures",
        metavar="|".join(get_args(Pictures)),
        autocompletion=lambda incomplete: [word for word in get_args(Pictures) if word.startswith(incomplete)],
        help="Files of the report's pictures beside it: SVG and PNG, SVG, PDF and SVG for a paper, or none.  "
        "[default: none]",
    ),
]


class Interrupted(Exception):
    """Ctrl-C, SIGTERM or SIGHUP as an exception that typer does not handle. The message says what was written."""


class Commands(TyperGroup):
    """The group of commands. Listing a command does not import its module."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, listed in COMMANDS.items():
            if " " not in name:
                self.add_command(TyperCommand(name, short_help=listed.summary))
        for head, names in FAMILIES.items():
            self.add_command(_family(head, names))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands into the overview, group by group."""
        widest = max(len(name) for name in COMMANDS)
        for group, names in GROUPS.items():
            rows = [(name.ljust(widest), COMMANDS[name].summary) for name in names]
            with formatter.section(group):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command's name, the command with its module imported, and the remaining arguments."""
        words = older_forms.replaced(args, COMMANDS)
        if words != args and not ctx.resilient_parsing:
            notify([f"this is now {shlex.join(['ssdlab', *words])}; the older form is accepted for one more release"])
        name, rest = called(words)
        return (name, loaded(name), rest) if name in COMMANDS else super().resolve_command(ctx, words)


def called(words: Sequence[str]) -> tuple[str, list[str]]:
    """The name of the command that the words call, of two words if there is one, and the words behind it."""
    name = " ".join(words[:2])
    return (name, list(words[2:])) if name in COMMANDS else (words[0], list(words[1:]))


def _family(head: str, names: Sequence[str]) -> TyperGroup:
    """The commands that begin with a word: for the help and for completion."""
    commands = [TyperCommand(name.split()[1], short_help=COMMANDS[name].summary) for name in names]
    first, *others = (COMMANDS[name].summary.rstrip(".") for name in names)
    summary = "; ".join([first, *(other[0].lower() + other[1:] for other in others)])
    examples = "\n".join(f"  {COMMANDS[name].example}" for name in names)
    return TyperGroup(
        name=head,
        commands=commands,
        help=f"{summary}.\n\n\b\nExamples:\n{examples}",
        short_help=summary,
        no_args_is_help=True,
        rich_markup_mode=None,
    )


def module_of(name: str) -> str:
    """The module of a command."""
    return f"ssdlab.cli.{name.replace(' ', '_')}"


def loaded(name: str) -> Any:
    """Imports the module of the command and returns the command."""
    function = getattr(import_module(module_of(name)), name.replace(" ", "_"))
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name=name, help=f"{inspect.getdoc(function)}\n\n\b\nExample:\n  {COMMANDS[name].example}")(
        _interruptible(_with_pictures(flat(function)) if name in WITH_PICTURES else flat(function))
    )
    command = typer.main.get_command(alone)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            # The name of an argument says what it is; typer would add "<list[str]>".
            setattr(parameter, "display_type_rich", lambda ctx: None)  # noqa: B010
            setattr(parameter, "process_value", _not_empty(parameter))  # noqa: B010
    return command


def _not_empty(argument: Any) -> Callable[[Any, Any], Any]:
    """How the argument is processed, which raises InputError for an empty text: as a path it is the working folder, and
    in a script it is an unset variable."""
    process = argument.process_value

    def processed(context: Any, value: Any) -> Any:
        if value == "" or (isinstance(value, list | tuple) and "" in value):
            name = argument.metavar.strip("[]").removesuffix("...")
            raise InputError(f"{name} is empty; allowed: {' '.join(argument.help.split())}")
        return process(context, value)

    return processed


def _with_pictures(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the option `--pictures`, whose choice applies to all that it writes."""

    def call(*, pictures: str | None, **options: Any) -> None:
        if pictures is not None:
            check_word("--pictures", pictures, get_args(Pictures))
        context = next((each for each in options.values() if isinstance(each, typer.Context)), None)
        repeated = command_line(context) if context and pictures == "paper" else None
        with chosen.choosing(cast(Pictures | None, pictures), repeated):
            command(**options)

    signature = inspect.signature(command)
    option = inspect.Parameter("pictures", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_PICTURES)
    call.__signature__ = signature.replace(parameters=[*signature.parameters.values(), option])  # type: ignore[attr-defined]
    call.__annotations__ = {**command.__annotations__, "pictures": _PICTURES}
    return call


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def call(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(str(interrupt) or _completed_sentence()) from None
        except NoRoom as error:
            raise RunFailed(f"{error}; {_completed_sentence()}") from None

    return call


def _completed_sentence() -> str:
    # The package of results takes longer to import than `--help` may take.
    from ssdlab.simulator.results.files import completed_sentence

    return completed_sentence()
