"""A user's drive file: based on another drive, sizes with units, sources optional, all errors reported at once."""

import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ssdlab.cli.drives import drives
from ssdlab.cli.groups import flat
from ssdlab.errors import InputError, Note
from ssdlab.experiments.comparison.axes import plan
from ssdlab.experiments.comparison.output import compared
from ssdlab.experiments.comparison.variant import Variant
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import load, names
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads.specifying import specify

app = typer.Typer()
app.command("drives")(flat(drives))


def new(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["new", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def written(folder: Path, text: str, name: str = "mine.toml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def refused(path: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(path)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("like", names())
def test_a_new_file_is_the_drive_that_it_is_like(tmp_path: Path, like: str) -> None:
    """Also with all comments removed, which shows that the commented values are those of the drive."""
    path = tmp_path / "mine.toml"
    new("--like", like, str(path))
    base, drive = load(like), load(str(path))
    assert (drive.name, drive.specification | {"name": like}) == ("mine", base.specification)
    assert drive.source_of("nand.cell") == base.source_of("nand.cell")
    head, *tables = path.read_text().split("\n\n")
    path.write_text("\n\n".join([head, *(table.replace("# ", "", 1).replace("\n# ", "\n") for table in tables)]))
    changed = tomllib.loads(path.read_text())
    assert set(base.content["nand"]) == set(changed["nand"])
    with pytest.warns(Note, match="values have no source"):
        assert load(str(path)).specification | {"name": like} == base.specification


def test_a_file_gives_only_what_differs(tmp_path: Path) -> None:
    text = 'based_on = "generic-tlc-480"\n[ftl]\nuser_bytes = "440 GB"\nvictim = "fifo"\n[nand]\nread_us = 50.0\n'
    sources = '[sources]\n"nand.*" = { kind = "measured", source = "with a probe" }\n'
    path, base = written(tmp_path, text + sources), load("generic-tlc-480")
    with pytest.warns(Note, match=r"mine\.toml: 2 values have no source \(ftl\.user_bytes, ftl\.victim\)"):
        drive = load(path)
    assert (drive.ftl.user_bytes, drive.ftl.victim.name, drive.nand.read_us) == (440 * 10**9, "fifo", 50.0)
    assert (drive.nand.program_us, drive.source_of("nand.read_us").source) == (base.nand.program_us, "with a probe")
    assert drive.source_of("nand.program_us") == base.source_of("nand.program_us")


def test_a_capacity_with_a_unit_is_cut_to_whole_mapping_units(tmp_path: Path) -> None:
    path = written(tmp_path, 'based_on = "generic-nvme-tlc-1000"\n[ftl]\nuser_bytes = "500.000001 GB"\n')
    with pytest.warns(Note):
        assert load(path).ftl.user_bytes == 500_000_001_000 // 4096 * 4096


def test_a_file_may_be_based_on_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    written(tmp_path, 'based_on = "tiny"\n[nand]\nread_us = 30.0\n', "first.toml")
    path = written(tmp_path / "below", 'based_on = "../first.toml"\n', "second.toml")
    with pytest.warns(Note):
        assert (load(path).nand.read_us, load(path).name) == (30.0, "second")


def test_files_based_on_each_other_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, 'based_on = "other.toml"\n')
    written(tmp_path, 'based_on = "mine.toml"\n', "other.toml")
    assert "'mine.toml' leads back to" in refused(path)[0]
    assert (
        "no drive 'tinny' in the catalogue; did you mean 'tiny'"
        in refused(written(tmp_path, 'based_on = "tinny"\n'))[0]
    )
    assert "based_on = 3 should be a drive" in refused(written(tmp_path, "based_on = 3\n"))[0]


def test_all_that_is_wrong_is_said_at_once_with_where_to_read(tmp_path: Path) -> None:
    text = 'based_on = "tiny"\n[ftl]\nuser_bytes = "160 KiBi"\nvictm = "greedy"\n[nand]\nchannels = "1"\n'
    path = written(tmp_path, text + '[sources]\n"parity.*" = { kind = "assumed", source = "s" }\n')
    *lines, last = refused(path)
    assert [line.removeprefix(f"{path}: ").split(" ")[:2] for line in lines] == [
        ["ftl.user_bytes:", "unit"],
        ["sources.'parity.*'", "names"],
        ["nand.channels", "="],
        ["unknown", "key"],
    ]
    assert "docs/simulate/drive-file.md" in last


def test_a_value_that_is_wrong_alone_hides_no_other(tmp_path: Path) -> None:
    text = 'based_on = "tiny"\n[ftl]\nvictim = "gredy"\nplacement = "here"\n[nand]\nread_us = -3\n'
    *lines, _ = refused(written(tmp_path, text))
    assert [line.split(": ")[1].split(" = ")[0] for line in lines] == ["nand.read_us", "ftl.victim", "ftl.placement"]


SOURCE = '{ kind = "assumed", source = "s" }'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nand = 3", "nand = 3 should be a table"),
        (f'nand = 3\n[sources]\n"nand.*" = {SOURCE}', "nand = 3 should be a table"),
        ("sources = 3", "sources = 3 should be a table"),
        ("[stripe]\ndevices = 0", "stripe.devices = 0 should be"),
        (f'[map_cache]\nbytes = 3\n[sources]\n"map_cache.*" = {SOURCE}', "map_cache.bytes = 3 should be"),
        (f'[nand]\nchanels = 3\n[sources]\n"nand.chanels" = {SOURCE}', "unknown key 'nand.chanels'"),
        ('[nand]\npage_bytes = "16 XB"', "nand.page_bytes: unit 'XB'"),
        ('[write_buffer]\nbytes = "8 QB"', "write_buffer.bytes: unit 'QB'"),
        ('[ftl]\nuser_bytes = "lots"', "ftl.user_bytes: 'lots' is not a size"),
    ],
)
def test_one_mistake_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    """A wrong value was taken out before the second check, which then reported its source, or those of the base, as
    "names no value of this file"; a wrong size was reported again as the number that had taken its place."""
    path = written(tmp_path, f'based_on = "generic-tlc-480"\n{text}\n')
    line, _ = refused(path)
    assert line.startswith(f"{path}: {said}")


def test_a_new_file_replaces_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "kept")
    with pytest.raises(InputError, match="exists"):
        new("--like", "tiny", path)
    assert Path(path).read_text() == "kept"
    with pytest.raises(InputError, match=r"ends in \.toml"):
        new("--like", "tiny", str(tmp_path / "mine"))
    with pytest.raises(InputError, match="needs --like"):
        new(str(tmp_path / "other.toml"))


def test_the_values_without_a_source_are_noted_in_the_report(tmp_path: Path) -> None:
    own = written(tmp_path, 'based_on = "tiny"\n[nand]\nread_us = 30.0\n')
    job = written(tmp_path, "[w]\nrw=randwrite\nbs=4k\nsize=100%\n", "w.fio")
    with pytest.warns(Note):
        planned = plan([own], None, [])
    result = simulated.run(specify(workloads.load(job), planned[0].drive, seed=1, timed=False))
    variants = [Variant(planned[0], result, 1.0)]
    assert compared(variants, ["said"])[0].notes == [
        "said",
        "drive file: 1 value has no source (nand.read_us)",
    ]
