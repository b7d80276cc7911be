"""`--set table.key=value`: changes single values of a drive file, typed by the file's own schema."""

import tomllib
from collections.abc import Mapping
from typing import Any, get_args

from ssdlab.drives.loader import is_policy, validate
from ssdlab.drives.schema import TABLES, DriveFile, Source, keys
from ssdlab.errors import InputError, near
from ssdlab.quantities import parse_bytes

COMMAND_LINE = Source(kind="assumed", source="set on the command line")


def split(setting: str) -> tuple[str, str]:
    """`ftl.victim=fifo` as key and value text."""
    key, equals, value = setting.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise InputError(f"--set {setting}: write table.key=value, such as --set ftl.victim=fifo")
    return key.strip(), value.strip()


def apply(drive: DriveFile, settings: Mapping[str, str]) -> DriveFile:
    """The drive with the settings, in their order; keys are `table.key`, values are texts as TOML has them.

    A text needs no quotes; a size may have a unit (`ftl.user_bytes=100GB`); a policy is a name, a table
    (`ftl.victim={ name = "d-choices", d = 10 }`) or one parameter of the policy chosen before (`ftl.victim.d=10`).
    Raises InputError for an unknown key or a value of the wrong type; whether the values fit together is not checked.
    """
    content = drive.model_dump(exclude_unset=True)
    sources = content.setdefault("sources", {})
    for key, text in settings.items():
        where = f"--set {key}={text}"
        table, _, name = key.partition(".")
        policy_key, _, parameter = key.rpartition(".")
        if key in ("name", "description"):
            content[key] = _unquoted(text)
        elif is_policy(policy_key):
            policy = policy_key.removeprefix("ftl.")
            content["ftl"][policy] = content["ftl"][policy] | {parameter: _parse(text)}
            sources[policy_key] = COMMAND_LINE.model_dump()
        elif table in TABLES and name in TABLES[table].model_fields:
            value = _typed(key, name, text, TABLES[table].model_fields[name].annotation)
            content.setdefault(table, {})[name] = (
                {"name": value} if is_policy(key) and isinstance(value, str) else value
            )
            sources[key] = COMMAND_LINE.model_dump()
        else:
            known = keys()
            of_table = [candidate for candidate in known if candidate.startswith(f"{table}.")]
            raise InputError(f"{where}: unknown key {key!r}{near(key, known)} (known: {', '.join(of_table or TABLES)})")
        # One by one, so that the message names the setting that is wrong.
        validate(content, where=where)
    return validate(content, where="--set")


def _typed(key: str, name: str, text: str, annotation: Any) -> Any:
    wanted = {annotation, *get_args(annotation)}
    value = _parse(text)
    if int in _flat(wanted) and "bytes" in name.split("_") and isinstance(value, str):
        try:
            return parse_bytes(value)
        except InputError as error:
            raise InputError(f"--set {key}={text}: {error}") from None
    is_text = not is_policy(key) and not {int, float, bool} & _flat(wanted)
    return text if is_text and not isinstance(value, str) else value


def _flat(types: set[Any]) -> set[Any]:
    """Opens `Annotated[int, ...] | None`, so that `int` is found."""
    return types | {inner for outer in types for inner in get_args(outer)}


def _parse(text: str) -> Any:
    """A TOML value, or the text itself where it is none (a word without quotes)."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _unquoted(text: str) -> str:
    value = _parse(text)
    return value if isinstance(value, str) else text
