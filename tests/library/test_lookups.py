"""Do the functions that look up or compute give what their commands print, as frames, with errors about arguments?"""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ssdlab
from program import Program, program_in
from small_drives import drive_file
from ssdlab.presentation.report.shown import Shown

EXAMPLES = Path(__file__).parents[2] / "examples"
JOB = "[uniform]\nrw=randwrite\nbs=4k\nnorandommap\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(drive_file("small", blocks=256, pages=16, user_bytes=13_631_488))
    Path("uniform.fio").write_text(JOB)
    return program_in(tmp_path)


def printed(program: Program, *words: str) -> Any:
    ended = program(*words, "--format", "json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def is_one_line(result: Any, rows: int) -> None:
    assert isinstance(result, Shown)
    assert result.frame().height == rows
    assert re.fullmatch(r"<\w+: .+>", repr(result)) and len(repr(result)) < 200
    html = result._repr_html_()
    assert type(html) is str and html.startswith("<figure>")


def test_model_is_the_command(program: Program) -> None:
    modelled = ssdlab.model(["7%", 0.28], victim="d-choices", d=4)
    assert modelled.to_dict() == printed(program, "model", "--op", "7%,28%", "--victim", "d-choices", "--d", "4")
    is_one_line(modelled, 2)
    # By hand: FIFO's WAF of A satisfies A = 1 / (1 - exp(-alpha / A)), here with alpha = 1.28.
    (waf,) = ssdlab.model(0.28, victim="fifo").frame()["write_amplification"]
    assert 1 / waf == pytest.approx(1 - 2.718281828 ** (-1.28 / waf), rel=1e-4)
    assert modelled.plot().to_dict()["layer"]
    with pytest.raises(ValueError, match="model"):
        modelled.plot("other")


def test_price_is_the_command(program: Program) -> None:
    priced = ssdlab.price(["agility2-100gb", "agility2-120gb"], writes_per_day="50GB")
    words = ["--drive", "agility2-100gb", "--drive", "agility2-120gb", "--writes-per-day", "50GB"]
    assert priced.to_dict() == printed(program, "price", *words)
    is_one_line(priced, 2)
    of_flash = ssdlab.price(flash="128GiB", op=[0.28], price=100)
    assert of_flash.frame()["spare_factor"][0] == pytest.approx(0.28 / 1.28)
    assert ssdlab.price(flash=128 * 2**30, op="28%", price=100).frame()["sold_gb"].equals(of_flash.frame()["sold_gb"])


def test_the_catalogue_and_the_policies(program: Program) -> None:
    drives, policies = ssdlab.drives(), ssdlab.policies()
    assert drives.to_dict() == printed(program, "drives")
    assert policies.to_dict() == printed(program, "policies")
    is_one_line(drives, len(drives))
    is_one_line(policies, len(policies))
    by_name = {drive.name: drive for drive in drives}
    at = drives.frame().filter(pl.col("name") == "textbook").row(0, named=True)
    assert at["user_bytes"] == by_name["textbook"].capacity.user_bytes == ssdlab.drive("textbook").capacity.user_bytes
    assert "greedy" in policies.frame().filter(pl.col("kind") == "victim")["name"]


def test_health_is_the_command(program: Program) -> None:
    places = [EXAMPLES / "monday.json", EXAMPLES / "friday.json"]
    health = ssdlab.health(places)
    assert health.to_dict() == printed(program, "health", *map(str, places))
    is_one_line(health, 1)
    assert health.frame()["serial"].to_list() == ["EXAMPLE-1"]
    assert ssdlab.health(places, anonymous=True).frame()["serial"].to_list() == [""]
    assert health.write("out")[-1] == "report.html"
    assert pl.read_parquet("out/drives.parquet")["serial"].to_list() == ["EXAMPLE-1"]
    with pytest.raises(ssdlab.InputError, match="missing"):
        ssdlab.health("missing.json")


def test_lifetime_is_the_command(program: Program) -> None:
    rated = ssdlab.lifetime(writes_per_day="325GB", rated_tbw=150)
    assert rated.frame()["years"][0] == pytest.approx(150e12 / 325e9 / 365)
    assert rated.to_dict() == printed(program, "lifetime", "--writes-per-day", "325GB", "--rated-tbw", "150TB")
    is_one_line(rated, 1)
    before, after = (str(EXAMPLES / name) for name in ("monday.json", "friday.json"))
    seen = ssdlab.lifetime(before=before, after=after, rated_tbw="1PB")
    assert seen.to_dict() == printed(program, "lifetime", "--before", before, "--after", after, "--rated-tbw", "1PB")
    assert seen.frame()["by"].to_list()[-1] == "the rated TBW"
    simulated = ssdlab.lifetime("uniform.fio", "small.toml", writes_per_day="1GB", op=["80%"])
    frame = simulated.frame()
    assert frame["waf"].is_sorted(descending=True) and frame["years"].is_sorted()
    assert (frame["years_low"] <= frame["years"]).all() and (frame["years"] <= frame["years_high"]).all()
    with pytest.raises(ssdlab.InputError, match=r"^writes_per_day: '325' has no unit"):
        ssdlab.lifetime(writes_per_day="325", rated_tbw=150)


def test_protocol_is_the_command(program: Program) -> None:
    carried = ssdlab.protocol("trim-effect", ssdlab.drive("generic-tlc-480", scale="1/256"), quick=True)
    words = ["measure", "--protocol", "trim-effect", "--drive", "generic-tlc-480", "--scale", "1/256", "--quick"]
    assert carried.to_dict() == printed(program, *words, "--output", "out")
    assert json.loads(Path("out/result.json").read_text()) == carried.to_dict()
    is_one_line(carried, len(carried.steps))
    shown = carried.frame().filter("shown")
    assert shown.filter(pl.col("point") == "deleted, not trimmed")["waf"].max() > 1.5  # type: ignore[operator]
    assert carried.conclusion and "not trimmed" in carried.conclusion
    with pytest.raises(ssdlab.InputError, match="give on PATH or drive NAME"):
        ssdlab.protocol("trim-effect")


def test_identify_is_the_command(program: Program) -> None:
    larger = {"nand.blocks_per_plane": "2048", "ftl.user_bytes": str(112 << 20)}
    drive = ssdlab.drive("small.toml", settings=larger)
    identified = ssdlab.identify(drive, minutes=0.001, budget="0.5x", output="kept")
    words = ["identify", "--drive", "small.toml", "--minutes", "0.001", "--budget", "0.5x"]
    words += [word for key, value in larger.items() for word in ("--set", f"{key}={value}")]
    assert identified.to_dict() == printed(program, *words, "--output", "out")
    is_one_line(identified, identified.frame().height)
    assert identified.frame()["reason"].null_count() == len(identified.found.inferred)
    assert {"drive.toml", "report.html"} <= set(identified.write("again"))
    assert ssdlab.drive("again/drive.toml").name == identified.drive.name
    with pytest.raises(ssdlab.InputError, match=r"^budget is '3x'"):
        ssdlab.identify("tiny", budget="3x")
    with pytest.raises(ssdlab.InputError, match="drive 'small': 64 MiB or more are needed"):
        ssdlab.identify("small.toml")


def test_a_comparison_has_a_tidy_frame(program: Program) -> None:
    compared = ssdlab.compare("uniform.fio", "small.toml", op=[0.1, 0.28], seed=5)
    frame = compared.frame()
    assert frame["op"].to_list() == pytest.approx([0.1, 0.28], abs=0.01)
    assert set(frame.select("drive", "policy", "seed").iter_rows()) == {("small", "greedy", 5)}
    for name in ("waf", "iops", "p50", "p99", "p99_9"):
        low, value, high = (frame[f"{name}{end}"] for end in ("_low", "", "_high"))
        assert (low < value).all() and (value < high).all(), name
    assert (frame["p50"] < frame["p99"]).all() and (frame["p99"] <= frame["p99_9"]).all()
    # Little's law at a queue depth of 1: the rate is one over the mean latency.
    assert frame["iops"][0] == pytest.approx(1e6 / frame["write_latency_us_mean"][0], rel=0.02)
    untimed = ssdlab.compare("uniform.fio", "small.toml", op=0.28, timed=False).frame()
    assert untimed["iops"].null_count() == untimed["p99_low"].null_count() == 1
    assert untimed.schema["iops"] == pl.Float64, "a column without values has a type"


def test_drives_runs_and_their_jobs_are_one_line(program: Program) -> None:
    del program
    drive = ssdlab.drive("small.toml", op="20%")
    specification = ssdlab.specify("uniform.fio", drive, seed=3)
    (job,) = ssdlab.run("uniform.fio", drive).jobs
    assert repr(drive) == "<ResolvedDrive: small, 14 MB, OP 20.01 %>"
    assert repr(specification) == "<Specification: small, 1 job, seed 3>"
    assert re.fullmatch(r"<JobResult: uniform, [\d,]+ writes>", repr(job))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ssdlab.model("7%", hot_writes="80%"), "hot_writes and hot_space go together"),
        (lambda: ssdlab.model("7%", trim="0.7"), "trim "),
        (lambda: ssdlab.model("7%", d=4), "d is 4, but the victim policy is 'greedy'"),
        (lambda: ssdlab.price(flash="128GiB"), "flash needs user, the capacity for the host, or op"),
        (lambda: ssdlab.price("tiny", writes_per_day="0"), "writes_per_day is 0"),
        (lambda: ssdlab.compare("uniform.fio", "small.toml", dwpd=-1), "dwpd is -1"),
    ],
)  # fmt: skip
def test_errors_name_the_arguments(program: Program, call: Any, said: str) -> None:
    del program
    with pytest.raises(ssdlab.InputError) as raised:
        call()
    assert str(raised.value).startswith(said)
    assert "--" not in str(raised.value)


@pytest.mark.parametrize(
    ("said", "meant"), [("Samsung PM983", "samsung-pm983-960gb"), ("P4500 2TB", "intel-p4500-2tb")]
)
def test_a_drive_by_the_name_on_its_box_is_suggested(program: Program, said: str, meant: str) -> None:
    assert f"did you mean '{meant}'" in program("drives", said).stderr
