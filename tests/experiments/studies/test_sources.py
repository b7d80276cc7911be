"""The lines of the five documents: each has a command that exists and something that shows it, and no verdict is
typed."""

import shlex
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from ssdlab.cli.commands import COMMANDS, called, loaded
from ssdlab.errors import InputError
from ssdlab.experiments.studies import Row, StudyResult, registry, sources
from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.page import all_page
from ssdlab.experiments.studies.sources import claims, judged, lines
from ssdlab.simulator.drives import names

CLAIMS = [(source.study, claim) for source in claims.sources() for claim in source.claims]


@pytest.mark.parametrize(("study", "claim"), CLAIMS, ids=lambda value: None if isinstance(value, str) else value.says)
def test_each_line_has_a_command_that_exists(study: str, claim: claims.Claim) -> None:
    program, *given = shlex.split(claim.command)
    name, words = called(given)
    assert program == "ssdlab" and name in COMMANDS, claim.command
    context = loaded(name).make_context(name, list(words))
    if name == "study":
        assert registry.study(context.params["name"]).name == study
    if name == "drives":
        assert set(words) <= set(names())


def test_a_command_that_does_not_exist_is_found() -> None:
    with pytest.raises(InputError):
        registry.study("no-such-study")
    with pytest.raises(Exception, match="No such option"):
        loaded("study").make_context("study", ["--no-such-option"])


def test_each_line_is_shown_or_says_why_not() -> None:
    documents = sources.documents(sources.kept())
    assert [document.study for document in documents] == [source.study for source in claims.sources()]
    every = [line for document in documents for line in document.lines]
    assert len(every) == len(CLAIMS) >= 60
    assert all(line.verdict in lines.VERDICTS for line in every)
    assert all(line.shown_by for line in every if line.verdict in ("met", "missed", "saturated", "input"))
    assert all(line.shown_by or "ssdlab study" not in line.claim.command for line in every if line.verdict == "shown")
    assert sources.counted(every).startswith(f"{len(every)} lines: ")


def test_a_line_in_part_says_what_is_shown_and_what_is_not() -> None:
    for _, claim in CLAIMS:
        assert bool(claim.part) == bool(claim.in_part), claim.says
        if claim.in_part:
            assert lines.Line(claim, []).why == f"Shown: {claim.part} Not shown: {claim.in_part}"


def test_each_published_figure_of_the_studies_belongs_to_a_line() -> None:
    shown = {
        each for document in sources.documents(sources.kept()) for line in document.lines for each in line.shown_by
    }
    assert [each for each in sources.kept() if each.published and each not in shown] == []


def test_a_line_without_anything_that_shows_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = sources.kept()
    document = claims.sources()[0]
    for claim, words in (
        (claims.Claim("claim", "nothing", "ssdlab study"), "nothing shows this"),
        (claims.Claim("claim", "said", "ssdlab study", note="it is so"), "nothing shows this"),
        (claims.Claim("claim", "gone", "ssdlab study", rows=("no such row",)), "no row 'no such row'"),
    ):
        monkeypatch.setattr(lines, "sources", lambda claim=claim: [claims.Source(document.study, "", (claim,))])
        with pytest.raises(ValueError, match=words):
            lines.documents(found)


def test_the_verdict_is_that_of_the_worst_row_and_a_reason_only_lowers_it() -> None:
    rows = [sources.Judged("s", "row", name, "1", "1", "", 0.01, verdict=Verdict.MET) for name in ("a", "b")]
    claim = claims.Claim("number", "both", "ssdlab study", rows=("*",))
    half = msgspec.structs.replace(claim, in_part="the rest")
    assert (lines.Line(claim, rows).verdict, lines.Line(half, rows).verdict) == ("met", "in part")
    noted = lines.Line(msgspec.structs.replace(claim, note="by the way"), rows)
    assert (noted.verdict, noted.why) == ("met", "by the way")
    rows[1] = replace(rows[1], deviation=-0.2, verdict=Verdict.MISSED)
    line = lines.Line(claim, rows)
    assert (line.verdict, line.deviation) == ("missed", "-20.0 to +1.0 %")
    assert lines.Line(half, rows).verdict == "missed", "what is missing does not hide what is missed"
    picture = sources.Judged("s", "picture", "curve")
    assert lines.Line(claims.Claim("claim", "so", "ssdlab study", pictures=("curve",)), [picture]).verdict == "shown"


def test_rows_of_a_run_are_kept_as_they_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = registry.studies()[0]
    rows = [Row("WAF", 1.5, 1.6, "", 0.1, group="Writes"), Row("speed", None, 3.0, "MB/s")]
    found = sources.judge(study, StudyResult("It halves.", rows))
    assert found[0].name == "Writes: WAF" and found[0].verdict is Verdict.MET
    judged.keep(found, tmp_path / "judged.csv")
    monkeypatch.setattr(judged, "KEPT", tmp_path / "judged.csv")
    assert sources.kept() == found


def test_the_page_of_all_studies_begins_with_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    study = registry.study("pny-over-provisioning")
    claim = claims.Claim("number", "It halves <b>", "ssdlab study pny-over-provisioning", rows=("WAF",))
    monkeypatch.setattr(lines, "sources", lambda: [claims.Source(study.name, "A paper", (claim,))])
    html = all_page([(study, StudyResult("It halves.", [Row("WAF", 1.5, 1.6, "", 0.1)]))], [], "ssdlab").html()
    first, second = html.index("The documents, line by line"), html.index(f'<section id="{study.name}">')
    assert first < second and f'<a href="#{study.name}">' in html and "It halves &lt;b&gt;" in html
    assert "1 lines: 1 met." in html
