"""Metrics for Prometheus: the textfile, the exporter as a process, and the commands that read a drive."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from reports import nvme
from ssdlab.field.health import metrics
from ssdlab.field.health.drive import row_of
from ssdlab.hardware.smart import reading
from waiting import SECONDS_MAX, wait_for

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "tests/hardware/smart/field_sample/reports"
PROMTOOL = shutil.which("promtool")


@pytest.fixture
def exporter(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A running exporter of one report file, and its address."""
    report = tmp_path / "drive.json"
    report.write_text(json.dumps(nvme(1000, used=40)))
    command = [sys.executable, "-m", "ssdlab", "export", str(report), "--listen", "127.0.0.1:0", "--interval", "1s"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        address = re.search(r"http://\S+", process.stderr.readline())
        assert address
        yield process, address[0], report
        process.kill()


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=SECONDS_MAX) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return str(answer.read().decode())


def test_it_reads_anew_and_ends_when_told(exporter) -> None:  # type: ignore[no-untyped-def]
    process, address, report = exporter
    assert "smartctl_device_percentage_used{" in get(address) and "} 40\n" in get(address)
    report.write_text(json.dumps(nvme(2000, used=41)))
    wait_for("the report is read anew", lambda: "} 41\n" in get(address))
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(address.replace("/metrics", "/etc/passwd"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=SECONDS_MAX) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere: is neither"),
        ([".", "--listen", "here"], "--listen is 'here'"),
        ([".", "--interval", "often"], "--interval is 'often'"),
        ([".", "--interval", "0s"], "--interval is '0s'"),
        ([".", "--served"], "--served excludes other paths"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, words: list[str], said: str) -> None:
    command = [sys.executable, "-m", "ssdlab", "export", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 2 and said in done.stderr


def sample_rows() -> list[dict[str, object]]:
    from ssdlab.hardware.smart import formats

    return [
        row_of(reading.parse(report, path.name), path.name)
        for path in sorted(SAMPLE.iterdir())
        for report in formats.recognised(path.read_bytes(), path.name)
    ]


def test_names_and_values() -> None:
    lines = metrics.text_of(sample_rows()).splitlines()
    said = {line.split(" ")[0]: line.split(" ")[1] for line in lines if not line.startswith("#") and "} " in line}
    assert said['ssd_nand_written_bytes_total{device="11.txt"}'] == str(12182430 * 2**25)
    assert float(said['ssd_life_left_ratio{device="14.txt"}']) == pytest.approx(0.68)
    for name in ("ratio", "implausible"):
        assert f'ssd_write_amplification_{name}{{device="01.txt"}}' not in said, "what is not known is not told"
    typed = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE")}
    assert all((kind == "counter") == name.endswith("_total") for name, kind in typed.items())


def test_a_life_without_an_upper_bound_is_no_metric() -> None:
    """A regression: the alert for less than a year left went off for a drive that said 1 % used in its first hour."""
    new = nvme(12_000, used=1) | {"power_on_time": {"hours": 1}}
    said = metrics.text_of([row_of(reading.parse(new, "new"), "new")])
    assert "ssd_life_left_ratio" in said and "ssd_life_left_seconds" not in said and "ssd_writes_left" not in said


@pytest.mark.skipif(PROMTOOL is None, reason="promtool (package prometheus) is not installed")
def test_promtool_finds_nothing_to_say() -> None:
    assert PROMTOOL
    text = metrics.text_of(sample_rows())
    checked = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
    rules = subprocess.run([PROMTOOL, "check", "rules", ROOT / "docs/monitoring/alerts.yml"], capture_output=True)
    assert rules.returncode == 0, rules.stdout


def test_the_dashboard_and_the_alerts_ask_for_metrics_that_there_are() -> None:
    named = {metric.name for metric in metrics.METRICS} | {"smartctl_device"}
    own = {"ssd_exporter_unread", "ssd_exporter_last_read_timestamp_seconds"}
    dashboard = json.loads((ROOT / "docs/monitoring/dashboard.json").read_text())
    asked = [panel["targets"][0]["expr"] for panel in dashboard["panels"]]
    asked.append((ROOT / "docs/monitoring/alerts.yml").read_text())
    found = {name for text in asked for name in re.findall(r"\b(?:ssd|smartctl)_\w+", text)}
    assert found and found <= named | own


def test_a_scrape_of_a_hundred_drives_is_quick() -> None:
    """The text is created when drives are read, not at the scrape; creating it must be fast too."""
    rows = [row | {"source": f"{number}"} for number, row in enumerate((sample_rows() * 3)[:100])]
    started = time.process_time()
    assert metrics.text_of(rows).count("smartctl_device{") == 100
    assert time.process_time() - started < 0.5


def test_smartctl_gets_its_arguments_as_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text of a drive or user reaches a shell: a name with shell metacharacters is a single argument."""
    from ssdlab.hardware.smart import source

    program = tmp_path / "smartctl"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\necho "{{}}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    source.read("sda; touch pwned #")
    assert (tmp_path / "arguments").read_text().splitlines()[-1] == "/dev/sda; touch pwned #"
