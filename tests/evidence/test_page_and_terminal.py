"""A run's page and its text in the terminal show the same figures of the same stage."""

import re
from pathlib import Path

import ssdlab
from ssdlab.simulator.results import page
from ssdlab.simulator.results.text import normal


def test_a_run_of_two_stages_has_the_same_write_amplification_on_the_page_and_in_the_terminal(tmp_path: Path) -> None:
    """A regression: 4.97 on the page, of the last stage, and 2.86 in the terminal, of the whole run; neither said
    of what."""
    job = tmp_path / "two.fio"
    job.write_text("[global]\nrw=randwrite\nbs=4k\nnorandommap\n[fresh]\nloops=1\n[later]\nstonewall\nloops=2\n")
    result = ssdlab.run(job, ssdlab.drive("generic-tlc-480", scale="1/384"), timed=False)

    text = normal(result)
    whole = found(r"waf of the whole run: ([\d.]+) =", text)
    last = found(r"waf: ([\d.]+) =", text[text.index("\nlater: (") :])
    assert last / whole > 1.2, "the job must tell the stage from the run"

    page.write(result, tmp_path, job="two", start="none", notes=[], command_line="")
    shown = re.sub(r"<[^>]*>", " ", (tmp_path / "report.html").read_text(encoding="utf-8").partition("<script")[0])
    assert f"{last:.2f}" in shown
    assert found(r"figures of the last stage, the whole run has a WAF of ([\d.]+)", shown) == round(whole, 2)
    assert f"{whole:.2f}" not in shown.replace(f"the whole run has a WAF of {whole:.2f}", "")


def found(pattern: str, text: str) -> float:
    (number,) = re.findall(pattern, text)
    return float(number.rstrip("."))
