"""What was probably meant by a call that the parser of the command line refuses: words that beginners type, and for
each refusal what is allowed. Not for values of options: each option's own function refuses those.
"""

from collections.abc import Sequence
from typing import Any

from ssdlab.cli.commands import COMMANDS, FAMILIES, called, loaded
from ssdlab.cli.older_forms import replaced

_OTHER_WORDS = {
    "simulate": "run", "sim": "run", "fio": "run", "job": "run", "test": "run", "start": "run",
    "bench": "measure", "benchmark": "measure", "real": "measure", "precondition": "measure",
    "diff": "compare", "vs": "compare", "op": "compare", "overprovisioning": "compare", "over-provisioning": "compare",
    "smart": "health", "smartctl": "health", "wear": "health", "status": "health", "info": "health", "report": "health",
    "endurance": "lifetime", "life": "lifetime", "lifespan": "lifetime", "tbw": "lifetime", "dwpd": "lifetime",
    "trace": "replay", "blktrace": "replay", "blkparse": "replay", "iostat": "replay",
    "waf": "model", "formula": "model", "theory": "model",
    "list": "drives", "ls": "drives", "models": "drives", "catalogue": "drives", "catalog": "drives", "show": "drives",
    "studies": "study", "paper": "study", "recommend": "advise space", "size": "advise space", "plan": "advise space",
    "cost": "price", "gui": "live", "web": "live", "nbd": "serve", "fuse": "mount", "prometheus": "export",
    "metrics": "export", "fragmentation": "check", "defrag": "refresh", "trim": "questions", "fdp": "questions",
    "tutorial": "demo", "example": "demo", "examples": "demo", "quickstart": "demo", "how": "questions",
    "what": "questions", "why": "questions", "which": "questions", "will": "questions", "does": "questions",
}  # fmt: skip
"""Words for what a command does, which are no commands."""
_OTHER_OPTIONS = {
    "policy": "--set ftl.victim=NAME (ssdlab policies lists the names)",
    "victim": "--set ftl.victim=NAME (ssdlab policies lists the names)",
    "gc": "--set ftl.victim=NAME (ssdlab policies lists the names)",
    "placement": "--set ftl.placement=NAME (ssdlab policies lists the names)",
    "capacity": "--set ftl.user_bytes=BYTES or --op 7%",
    "spare": "--op 7%, the spare area, or --left-empty 20%, the space that the host leaves empty",
    "op-ratio": "--op 7%",
    "free": "--left-empty 20%, the space that the host leaves empty",
    "json": "--format json, or --output-format json of ssdlab run",
    "verbose": "nothing: what is noted is printed",
    "quiet": "2>/dev/null: notes go to the standard error",
    "job": "the job file without an option in front of it",
    "file": "the file without an option in front of it",
}
"""Options that other programs have."""
_WITH_JOB = ("run", "compare", "compare targets", "measure", "advise space", "lifetime")


def in_place_of_words(given: list[str]) -> list[str]:
    """The arguments, with the options that `help`, `version` and `-h` stand for."""
    at = given.index("--") if "--" in given else len(given)
    words = ["--help" if word == "-h" else word for word in given[:at]]
    if words[:1] == ["help"]:
        known = [
            word for word in words[1:3] if word in COMMANDS or word in FAMILIES or " ".join(words[1:3]) in COMMANDS
        ]
        return [*known, "--help"]
    if words == ["version"]:
        return ["--version"]
    return [*words, *given[at:]]


def hint(error: Any, given: Sequence[str]) -> str | None:
    """A sentence on what is allowed where the parser refused the arguments, or None if it has said so."""
    command, _ = called(replaced(given, COMMANDS)) if given else ("", [])
    if command not in COMMANDS:
        return None if not command or command.startswith("-") or command in FAMILIES else _of_command(command)
    if (option := getattr(error, "option_name", None)) is not None and hasattr(error, "possibilities"):
        return _of_option(error, option.lstrip("-"), command)
    if option is not None:
        return _described(loaded(command), option)
    if (parameter := getattr(error, "param", None)) is not None:
        return f"{parameter.metavar or parameter.opts[0]}: {_in_one_line(parameter.help)}"
    return _of_extra(given) if "unexpected extra argument" in error.format_message() else None


def _of_command(word: str) -> str:
    meant = _OTHER_WORDS.get(word.lower())
    first = f"`ssdlab {meant}`: {COMMANDS[meant].summary} " if meant else ""
    return (
        f"{first}Allowed: {', '.join(COMMANDS)}. `ssdlab questions` lists questions with the command that answers each."
    )


def _of_option(error: Any, name: str, command: str) -> str | None:
    # The table of fio's options takes longer to import than `--help` may take.
    from ssdlab.simulator.workloads.jobs.table import BY_NAME

    if command in _WITH_JOB and (name in BY_NAME or name == "name"):
        return (
            f"--{name} is an option of fio, and belongs to a job: a file, or a call of fio behind two hyphens, such as "
            f"ssdlab {command} --drive generic-tlc-480 -- fio --name=job --rw=randwrite --bs=4k"
        )
    if name in _OTHER_OPTIONS:
        return f"In place of --{name}: {_OTHER_OPTIONS[name]}."
    if error.possibilities:
        return None
    options = [each for parameter in error.ctx.command.params for each in parameter.opts if each.startswith("--")]
    return f"Allowed: {', '.join(options)}."


def _described(command: Any, option: str) -> str | None:
    found = next((each for each in command.params if option in each.opts), None)
    return None if found is None else f"{option} {found.metavar or 'VALUE'}: {_in_one_line(found.help)}"


def _of_extra(given: Sequence[str]) -> str | None:
    """What two words behind an option that takes one may have meant."""
    # The parser may have taken the second value as the argument: `--op 7% 28% x.fio`.
    for option, value, second in zip(given, given[1:], given[2:], strict=False):
        if option == "--set" and "=" not in value and not second.startswith("-"):
            return f"A key and its value are one word: --set {value}={second}."
        if option in ("--op", "--left-empty") and value.endswith("%") and second.endswith("%"):
            return f"Several values of an option have commas between them: {option} {value},{second}."
    return None


def _in_one_line(text: str | None) -> str:
    return " ".join((text or "a value").split())
