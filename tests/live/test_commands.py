"""The effect of every command on the drives, by the engine's counters; an invalid command has no effect."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.live.catalogue import shipped_jobs
from ssdlab.live.choices import VIEWS
from ssdlab.live.server import LiveServer
from talk import Page
from waiting import SECONDS_MAX, wait_for

Serve = Callable[..., LiveServer]


def test_step_issues_just_that_many(serve: Serve) -> None:
    with Page(serve(timed=False)) as page:
        page.do("step", requests=1)
        assert page.figures()["requests"] == 1
        page.do("step", requests=999)
        assert page.figures()["requests"] == 1000
        assert not page.status()["running"]


def test_run_goes_at_the_speed_that_is_set_until_pause(serve: Serve) -> None:
    with Page(serve(timed=False)) as page:
        page.do("speed", requests_per_second=2000)
        began = time.monotonic()
        page.do("run")
        wait_for("the drive is at work", lambda: page.figures()["requests"] >= 2000)
        page.do("pause")
        seconds = time.monotonic() - began
        still = page.figures()["requests"]
        # A slow machine does less. The tests of sessions check the lower bound, with a simulated clock.
        assert still <= 2000 * seconds + 1
        time.sleep(0.3)
        assert page.figures()["requests"] == still


def test_reset_begins_anew(serve: Serve) -> None:
    with Page(serve()) as page:
        page.do("step", requests=5000)
        page.do("partition", percent=70)
        page.do("reset")
        figures = page.figures()
        assert figures["requests"] == 0
        assert figures["free_erase_units"] >= 254
        assert page.status()["partition_percent"] == 100
        assert page.status()["generation"] == 1


def test_a_smaller_partition_trims_what_is_behind(serve: Serve) -> None:
    with Page(serve(timed=False)) as page:
        page.do("fill")
        page.do("step", requests=20_000)
        before = page.figures()["effective_over_provisioning"]
        page.do("partition", percent=75)
        page.do("step", requests=5_000)
        after = page.figures()
        assert after["host_trimmed_bytes"] == 58720256 // 4
        assert after["effective_over_provisioning"] > before + 0.3
        assert page.status()["drives"][0]["used_over_provisioning"] == pytest.approx(
            256 * 64 * 4096 / (58720256 * 0.75) - 1
        )


@pytest.mark.parametrize(
    ("workload", "holds"),
    [
        (
            {"read_percent": 70},
            lambda f: 0.6 < f["host_read_bytes"] / (f["host_read_bytes"] + f["host_written_bytes"]) < 0.8,
        ),
        ({"trim_percent": 25}, lambda f: f["host_trimmed_bytes"] > 0.15 * f["host_written_bytes"]),
        ({"trim_percent": 0}, lambda f: f["host_trimmed_bytes"] == 0),
        ({"block_bytes": 16384}, lambda f: f["host_written_bytes"] == 4000 * 16384),
        ({"kind": "sequential"}, lambda f: f["waf"] == 1.0),
        ({"skew": 1.2}, lambda f: f["waf"] is not None),
    ],
    ids=["reads", "trims", "no-trims", "blocks", "sequential", "skew"],
)
def test_a_workload_is_what_it_says(serve: Serve, workload: dict[str, Any], holds: Callable[[Any], bool]) -> None:
    with Page(serve(timed=False)) as page:
        page.do("workload", workload=workload)
        page.do("step", requests=4000)
        assert holds(page.figures())
        assert page.status()["workload"] | workload == page.status()["workload"]


def test_drives_and_policies_are_changed(serve: Serve, small_drive: str) -> None:
    with Page(serve()) as page:
        choice = {"name": small_drive, "op": 0.5, "victim": "fifo", "placement": "host-gc-split"}
        page.do("drives", drives=[choice, {"name": "tiny"}])
        first, second = page.status()["drives"]
        assert (first["victim"], first["placement"]) == ("fifo", "host-gc-split")
        assert first["over_provisioning"] == pytest.approx(0.5, abs=0.001)
        assert second["name"] == "tiny"


def test_every_view_has_a_byte_for_each_erase_unit(serve: Serve) -> None:
    with Page(serve()) as page:
        page.do("step", requests=20_000)
        for number, view in enumerate(VIEWS):
            page.do("view", by=view)
            page.pictures.clear()
            # Two pictures from before the pause can be in transit.
            while len(page.pictures) < 4:
                page.hear()
            assert page.pictures[-1][1] == number
            _, _, marks, cells, states = page.pictures[-1]
            assert (len(cells), len(states)) == (256, 256)
            assert {index for index, _ in marks["open"]} == {index for index in range(256) if states[index] == 1}


def test_pictures_wait_until_the_last_one_was_drawn(serve: Serve) -> None:
    """A page in a hidden tab draws nothing; pictures must not accumulate for it."""
    with Page(serve()) as page:
        page.do("run")
        while not page.pictures:
            page.hear()
        page.pictures.clear()
        kinds: list[type] = []
        # Figures come with every third picture, so ten of them leave time for thirty pictures.
        while kinds.count(str) < 10:
            kinds.append(type(page.socket.recv(SECONDS_MAX)))
        assert kinds.count(bytes) <= 2


def test_an_erase_unit_is_told_down_to_its_units(serve: Serve) -> None:
    with Page(serve()) as page:
        page.do("step", requests=3000)
        unit = page.do("erase-unit", drive=0, index=3)
        assert len(unit["units"]) == 64
        assert unit["units"].count("v") == unit["valid"]
        assert "has no erase unit 256" in page.ask("erase-unit", drive=0, index=256)["message"]
        assert "has no erase unit 0" in page.ask("erase-unit", drive=1, index=0)["message"]


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("dropped-job", {"name": "bad.fio", "text": "[a]\nrw=randwrite\nbs=4z\n"}, "bad.fio, line 3: bs=4z"),
        ("dropped-job", {"name": "bad.fio", "text": "[a]\nrw=randwrite\nsize=1t\n"}, "bad.fio, line 3: size=1t"),
        ("dropped-job", {"name": "empty.fio", "text": ""}, "empty.fio"),
        ("dropped-job", {"name": "x", "text": "[a]\nread_iolog=/etc/passwd\n"}, "x, line 2: read_iolog"),
        ("drives", {"drives": [{"name": "generic-tlc-48"}]}, "generic-tlc-480"),
        ("drives", {"drives": [{"name": "/etc/hosts.toml"}]}, "no drive '/etc/hosts.toml'"),
        ("drives", {"drives": [{"name": "tiny", "victim": "gredy"}]}, "greedy"),
        ("drives", {"drives": []}, "drives"),
        ("partition", {"percent": 101}, "percent = 101"),
        ("workload", {"workload": {"read_percent": "many"}}, "read_percent"),
        ("workload", {"workload": {"colour": "red"}}, "colour"),
        ("step", {"requests": 0}, "requests = 0"),
        ("shipped-job", {"name": "randwrit"}, "randwrite"),
        ("tour", {"name": "nowhere"}, "write-amplification"),
        ("tour", {"name": "write-amplification", "step": 99}, "step 100"),
        ("explode", {}, "'explode' is not a command"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(
    serve: Serve, command: str, arguments: dict[str, Any], message: str
) -> None:
    with Page(serve()) as page:
        page.do("step", requests=2000)
        before, status = page.figures(), page.status()
        reply = page.ask(command, **arguments)
        assert not reply["ok"]
        assert message in reply["message"]
        after = page.figures()
        assert {**after, "since": None} == {**before, "since": None}
        # Theory's line appears once its formulas are loaded, independent of the page.
        assert {**page.status(), "expectations": None} == {**status, "expectations": None}


def test_what_is_no_command_at_all_is_answered(serve: Serve) -> None:
    with Page(serve()) as page:
        for text in ("", "null", "[]", "{", '{"do": 5}', '{"do": "run", "with": 7}', '{"drawn": "x"}'):
            page.socket.send(text)
        assert page.do("step", requests=1) is None


def test_shipped_job_files_can_be_started(serve: Serve) -> None:
    with Page(serve(timed=False)) as page:
        names = [job["name"] for job in page.until("hello")["jobs"]] if "hello" not in page.newest else []
        names = names or [job["name"] for job in page.newest["hello"]["jobs"]]
        assert {"randwrite", "zipf", "mixed"} <= set(names)
        page.do("shipped-job", name="mixed")
        page.do("step", requests=3000)
        assert page.status()["job"] == "mixed.fio"
        assert page.figures()["requests"] == 3000


def test_the_package_has_the_repositorys_job_files() -> None:
    """As copies: some ways of distributing sources do not preserve links, and replace them by files with a path."""
    files = sorted((Path(__file__).parents[2] / "jobs").glob("*.fio"))
    assert {file.stem: file.read_text() for file in files} == {job.name: job.text for job in shipped_jobs().values()}


def test_the_drive_stands_still_while_its_recovery_is_shown(serve: Serve) -> None:
    with Page(serve()) as page:
        page.do("step", requests=30_000)
        page.do("run")
        page.do("cut-power")
        status, before = page.status(), page.figures()
        assert not status["running"] and status["moments"][-1]["name"] == "power cut 1"
        (loss,) = status["recovery"]["drives"]
        assert not status["recovery"]["is_real"] and status["recovery"]["goes_on"]
        assert loss["checkpoint_ns"] + loss["scan_ns"] == loss["duration_ns"] > 0
        # One page of each erase unit, and all 64 pages of those scanned in full; the last of these can be partly
        # filled.
        least, most = (256 + 63 * (len(loss["scanned_in_full"]) + more) for more in (-1, 1))
        assert least <= loss["scanned_pages"] <= most
        assert loss["checkpoint_units"] > 0
        assert page.figures()["requests"] == before["requests"]
        page.do("power-on")
        assert page.status()["recovery"] is None and page.status()["running"]
        page.do("pause")
        page.do("cut-power")
        page.do("power-on")
        assert not page.status()["running"]
        # The demonstration is not part of the session: its command line is the same as without it.
        (session,) = page.do("share")
        assert "power" not in session["job_file"]


def test_what_one_does_meanwhile_ends_the_recovery(serve: Serve) -> None:
    with Page(serve()) as page:
        page.do("run")
        for command, is_running in (("step", False), ("run", True), ("reset", True)):
            page.do("cut-power")
            assert page.status()["recovery"]
            page.do(command)
            assert page.status()["recovery"] is None
            assert page.status()["running"] == is_running


def test_a_job_file_that_is_done_ends_the_run(serve: Serve) -> None:
    with Page(serve(timed=False)) as page:
        page.do("dropped-job", name="short.fio", text="[short]\nrw=write\nbs=64k\nsize=10m\n")
        page.do("run")
        while not page.status()["finished"]:
            page.hear()
        assert page.figures()["host_written_bytes"] == 10 << 20
        assert "select a workload" in page.ask("run")["message"]
        page.do("workload", workload={})
        page.do("step", requests=5)
        assert page.figures()["requests"] == 165


def test_theory_stands_beside_uniform_writes(serve: Serve) -> None:
    with Page(serve(timed=False)) as page:
        page.do("step", requests=100_000)
        while not (theory := page.status()["expectations"]) or theory[0]["value"] is None:
            page.hear()
        assert theory[0]["formula"].startswith("greedy")
        page.do("workload", workload={"skew": 1.2})
        page.figures()
        (theory,) = page.status()["expectations"]
        assert theory["value"] is None and theory["reason"]
