"""An interrupted sweep resumes; a changed one runs only new points; partial files are never read."""

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from program import Program
from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.simulator.results import PARTS
from waiting import SECONDS_MAX, wait_for

Contents = Callable[[Path], dict[str, bytes]]
KILLS = 20


def test_a_changed_sweep_runs_only_what_is_new(folder: Path, ssdlab: Program, contents: Contents) -> None:
    first = ssdlab("sweep", "small-sweep.toml", "--jobs", "1")
    assert first.returncode == 0, first.stderr
    assert "8 runs, 0 stored" in first.stdout
    before = contents(folder / "out/sweep-small")
    file = folder / "small-sweep.toml"
    file.write_text(file.read_text().replace("seed = [1, 2]", "seed = [1, 2, 3]"))
    second = ssdlab("sweep", "small-sweep.toml", "--jobs", "1")
    assert "12 runs, 8 stored" in second.stdout
    assert "4 to run" in second.stdout
    after = contents(folder / "out/sweep-small")
    assert len(after) == 12
    assert before.items() <= after.items()
    answer = ssdlab("sweep", "small-sweep.toml", "--query", "select count(*) as n, min(waf) >= 1 as sane from runs")
    assert answer.stdout.split()[-2:] == ["12", "True"]


def test_the_parts_of_a_row_add_up_to_its_write_amplification(folder: Path, ssdlab: Program) -> None:
    """A regression: parity, padding and the journal had no column."""
    sweep = folder / "small-sweep.toml"
    spare = '["40%"]\n"parity.units_per_stripe" = [8]'
    sweep.write_text(sweep.read_text().replace('["10%", "20%"]', spare))
    assert ssdlab("sweep", "small-sweep.toml", "--jobs", "1").returncode == 0
    rows = Dataset(str(folder / "out/sweep-small")).frame()
    assert min(rows["waf_parity"]) > 0.1
    for row in rows.iter_rows(named=True):
        assert sum(row[f"waf_{part}"] for part in PARTS) == pytest.approx(row["waf"])


def test_killed_at_any_moment_it_ends_with_the_same_data_set(folder: Path, ssdlab: Program, contents: Contents) -> None:
    """The program is killed without any cleanup, twenty times, at moments spread over its runtime."""
    assert ssdlab("sweep", "small-sweep.toml", "--jobs", "1", "--output", "whole").returncode == 0
    expected = contents(folder / "whole")
    moments = random.Random(1)
    # Forked from one process that has imported everything, because starting the program each time would take too long.
    child = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from ssdlab.experiments.sweeps import dataset, execution, file, plan\n"
        "import ssdlab.simulator.results.speed, ssdlab.simulator.targets.simulated\n"
        "import polars, fsspec.implementations.local\n"
        "path = Path('small-sweep.toml')\n"
        "planned = plan.plan(file.load(path), path)\n"
        "store = dataset.Dataset('killed'); store.make()\n"
        "for line in sys.stdin:\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        store.tidy()\n"
        "        execution.carry_out(execution.Sweep(planned, store), execution.on_this_machine(1))\n"
        "        os._exit(0)\n"
        "    time.sleep(float(line)); os.kill(pid, 9); os.waitpid(pid, 0); print(len(store.keys()), flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", child],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdin
        assert parent.stdout
        counts = []
        for _ in range(KILLS):
            parent.stdin.write(f"{moments.uniform(0, 0.03)}\n")
            parent.stdin.flush()
            counts.append(int(parent.stdout.readline()))
            assert contents(folder / "killed").items() <= expected.items()
        parent.stdin.close()
        assert parent.wait(SECONDS_MAX) == 0
    assert counts == sorted(counts), "what was kept stays"
    last = ssdlab("sweep", "small-sweep.toml", "--jobs", "1", "--output", "killed")
    assert last.returncode == 0, last.stderr
    assert contents(folder / "killed") == expected
    assert not list((folder / "killed/runs").glob(".writing-*"))


@pytest.mark.surroundings
def test_ctrl_c_keeps_what_was_done_and_says_so(folder: Path) -> None:
    file = folder / "small-sweep.toml"
    file.write_text(file.read_text().replace("seed = [1, 2]", f"seed = {list(range(100))}"))
    with subprocess.Popen(
        [sys.executable, "-m", "ssdlab", "sweep", "small-sweep.toml", "--jobs", "1"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        runs = folder / "out/sweep-small/runs"
        wait_for("some runs are done", lambda: len(list(runs.glob("*.parquet"))) >= 3)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=SECONDS_MAX)
    assert program.returncode == 130
    assert "stored; the same command resumes" in said
    assert "Traceback" not in said
    assert len(Dataset(str(folder / "out/sweep-small")).keys()) >= 3


def test_a_damaged_result_is_named(folder: Path, ssdlab: Program) -> None:
    assert ssdlab("sweep", "small-sweep.toml", "--jobs", "1").returncode == 0
    victim = sorted((folder / "out/sweep-small/runs").glob("*.parquet"))[0]
    victim.write_bytes(victim.read_bytes()[:100])
    answer = ssdlab("sweep", "small-sweep.toml", "--query", "select 1")
    assert answer.returncode == 2
    assert victim.name in answer.stderr
    assert "is damaged" in answer.stderr
