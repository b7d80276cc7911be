"""`ssdlab drives` and `ssdlab policies` as a user calls them: complete, within 80 columns, and JSON for scripts."""

import json
import sys

import pytest
import typer
from typer.testing import CliRunner

from ssdlab.cli.drives import drives
from ssdlab.cli.groups import flat
from ssdlab.cli.policies import policies
from ssdlab.errors import InputError, RunFailed
from ssdlab.simulator.drives import load, names
from ssdlab.simulator.drives import policies as drive_policies
from ssdlab.simulator.drives.drawing import draw
from ssdlab.simulator.drives.schema import TABLES, changed, described

app = typer.Typer()
app.command("drives")(flat(drives))
app.command("policies")(flat(policies))


def output(*arguments: str) -> str:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80 or "--json" in arguments
    return result.output


def test_the_list_has_every_drive() -> None:
    text = output("drives")
    assert all(name in text for name in names())
    assert "480 GiB" in text
    assert "480.1 GB" in text


@pytest.mark.parametrize("name", names())
def test_one_drive_with_every_value(name: str) -> None:
    text = output("drives", name)
    drive = load(name)
    for table in TABLES:
        for key in drive.content.get(table, {}):
            assert f"{table}.{key}" in text
    for word in ("over-provisioning", "spare factor", "hidden OP", "erase units", "[1]", "assumed"):
        assert word in text


def test_one_drive_with_changes() -> None:
    text = output("drives", "generic-tlc-480", "--op", "7%", "--set", "ftl.victim=fifo", "--scale", "1/16")
    assert "1/16 of the full drive" in text
    assert "fifo" in text
    assert "--op 7%" in text


def test_json_of_drives() -> None:
    assert [entry["name"] for entry in json.loads(output("drives", "--json"))] == names()
    one = json.loads(output("drives", "tiny", "--json"))
    assert one["capacity"]["over_provisioning"] == 0.6
    assert {"key": "nand.channels", "value": 1, "unit": "channels"}.items() <= one["values"][1].items()
    assert sum(one["sources"].values()) == 21


def test_changes_without_a_drive_are_refused() -> None:
    with pytest.raises(InputError, match="name it"):
        output("drives", "--op", "7%")


def test_a_description_is_never_taken_for_markup(tmp_path_factory: pytest.TempPathFactory) -> None:
    from ssdlab.simulator.drives.writer import to_toml

    path = tmp_path_factory.mktemp("drives") / "mine.toml"
    path.write_text(to_toml(load("tiny")).replace("for tests", "[red]for tests[/blue]"))
    assert "[red]for tests[/blue]" in output("drives", str(path))


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(("channels", "dies", "planes"), [(1, 1, 1), (8, 4, 2), (16, 8, 4), (32, 64, 16), (2, 7, 8)])
def test_any_geometry_is_drawn_within_the_width(width: int, channels: int, dies: int, planes: int) -> None:
    drive = load("generic-tlc-480")
    geometry = {"channels": channels, "dies_per_channel": dies, "planes_per_die": planes, "pages_per_block": 16}
    drive = described(changed(drive.content, {f"nand.{key}": value for key, value in geometry.items()}, {}))
    lines = draw(drive, drive.capacity, width=width).splitlines()
    picture = lines[1 : lines.index("") - 1]
    assert max(map(len, lines)) <= max(width, 80)
    assert max(map(len, picture)) <= width
    assert sum("controller" in line for line in picture) == 1
    assert len(picture) == min(channels, 16)
    # Every die that is drawn shows its planes; omitted dies are counted.
    shown = picture[0].count("[")
    assert shown == dies or f"{dies} dies" in picture[0]


def test_the_list_of_policies() -> None:
    text = output("policies")
    for name in ("greedy", "d-choices", "host-gc-split", "wear_leveling", "left out for width: parameters"):
        assert name in text


def test_one_policy_and_how_to_choose_it() -> None:
    text = output("policies", "d-choices")
    assert "--set ftl.victim=d-choices" in text
    assert "--set ftl.victim.d=10" in text
    assert 'victim = { name = "d-choices", d = 10 }' in text


def test_json_of_policies() -> None:
    (policy,) = json.loads(output("policies", "d-choices", "--json"))
    assert {"kind": "victim", "name": "d-choices", "parameters": {"d": 10}}.items() <= policy.items()
    assert policy["summary"] and policy["source"]


def test_a_policy_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"no policy 'greedi'; did you mean 'greedy'"):
        output("policies", "greedi")


def test_without_the_native_module_the_list_fails_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    drive_policies.known.cache_clear()
    monkeypatch.delattr("ssdlab._engine", raising=False)
    monkeypatch.setitem(sys.modules, "ssdlab._engine", None)
    with pytest.raises(RunFailed, match="cannot be loaded"):
        output("policies")
