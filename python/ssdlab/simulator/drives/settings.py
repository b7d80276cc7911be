"""`--set table.key=value`: changes single values of a drive file. The key determines the type of the value."""

import tomllib
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_type_hints

from ssdlab.errors import InputError, near
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import parse_bytes
from ssdlab.simulator.drives.older_names import current_key
from ssdlab.simulator.drives.schema import (
    POLICY_KINDS,
    TABLES,
    DriveFile,
    Source,
    changed,
    described,
    keys,
    problems,
    refuse,
)

COMMAND_LINE = Source(kind="assumed", source="set on the command line")


def split(setting: str) -> tuple[str, str]:
    """Splits a setting such as `ftl.victim=fifo` into key and value text. Raises InputError for another form."""
    key, equals, value = setting.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise InputError(f"--set {setting}: write table.key=value, such as --set ftl.victim=fifo")
    return current_key(key.strip(), f"--set {setting}"), value.strip()


def apply(drive: DriveFile, settings: Mapping[str, str]) -> DriveFile:
    """Applies settings to a drive in order. Keys are `table.key`, values are TOML texts.

    Strings need no quotes, and sizes can have a unit (`ftl.user_bytes=100GB`). A policy is a name, a table
    (`ftl.victim={ name = "d-choices", d = 10 }`) or one parameter of the policy chosen before (`ftl.victim.d=10`).
    Raises InputError for an unknown key, a value of the wrong type or an impossible geometry. The capacity for the host
    is not checked.
    """
    content = drive.content
    for given, text in settings.items():
        where = f"--set {given}={text}"
        key = current_key(given, where)
        content = _with(content, drive, key, text, where)
        # Checked after each setting, so that the message names the wrong one.
        refuse(problems(content, "keys"), content, where)
    # The capacity for the host is checked when it is known; that of zones is not changed by other options.
    part: Literal["geometry", "all"] = "all" if content.get("zones", {}).get("zone_bytes") else "geometry"
    refuse(problems(content, part), content, f"drive {drive.name!r}")
    return described(content)


def _with(content: Mapping[str, Any], drive: DriveFile, key: str, text: str, where: str) -> JsonObject:
    table, _, name = key.partition(".")
    policy_key, _, parameter = key.rpartition(".")
    if key in ("name", "description"):
        return dict(content) | {key: _unquoted(text)}
    if _is_policy(policy_key):
        kind = policy_key.removeprefix("ftl.")
        choice = content["ftl"].get(kind, getattr(drive.ftl, kind).name)
        choice = {"name": choice} if isinstance(choice, str) else choice
        return changed(content, {policy_key: choice | {parameter: _parse(text)}}, {policy_key: COMMAND_LINE})
    if table in TABLES and name in TABLES[table].__struct_fields__:
        value = _typed(key, name, text, get_type_hints(TABLES[table])[name])
        return changed(content, {key: value}, {key: COMMAND_LINE})
    known = keys()
    of_table = [candidate for candidate in known if candidate.startswith(f"{table}.")]
    raise InputError(f"{where}: unknown key {key!r}{near(key, known)} (known: {', '.join(of_table or TABLES)})")


def _is_policy(key: str) -> bool:
    return key.startswith("ftl.") and key.removeprefix("ftl.") in POLICY_KINDS


def _typed(key: str, name: str, text: str, annotation: Any) -> Any:
    wanted = {annotation, *get_args(annotation)}
    value = _parse(text)
    if int in wanted and "bytes" in name.split("_") and isinstance(value, str):
        try:
            return parse_bytes(value)
        except InputError as error:
            raise InputError(f"--set {key}={text}: {error}") from None
    is_text = not _is_policy(key) and not {int, float, bool} & wanted
    return text if is_text and not isinstance(value, str) else value


def _parse(text: str) -> Any:
    """The TOML value, or the text itself if it is none (a word without quotes)."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _unquoted(text: str) -> str:
    value = _parse(text)
    return value if isinstance(value, str) else text
