"""`ssdlab demo`: a small comparison of two spare areas for a first look, with its result as bars."""

import json
import shlex
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import options
from ssdlab.cli.commands import loaded
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form
from ssdlab.cli.groups import Parsed
from ssdlab.errors import naming
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import parse_scale

_JOB = "randwrite"
_DRIVE = "generic-tlc-480"
_OP = "7%,28%"
_SCALE = Fraction(1, 128)
_BAR_CELLS = 48


def demo(
    output: Annotated[str, typer.Option("--output", metavar="DIR", help="Output folder.")] = "out/demo",
    scale: Annotated[
        Fraction,
        typer.Option("--scale", metavar="1/N", help="Scale of the drive, with the same ratios."),
        Parsed(parse_scale, default="1/128"),
    ] = _SCALE,
    seed: options.Seed = 1,
    workers: options.Workers = None,
    *,
    form: Form,
) -> None:
    """Compare two spare areas of a small drive under random writes, in under half a minute.

    Needs no file: the job, the drive and the report's parts come with ssdlab. Writes the report and the
    job file, so that the printed command can be repeated and changed.
    """
    directory = Path(output)
    check_folder(directory, "compare")
    job = directory / f"{_JOB}.fio"
    with naming(job):
        directory.mkdir(parents=True, exist_ok=True)
        job.write_bytes(files("ssdlab.live").joinpath("jobs", job.name).read_bytes())
    words = [str(job), "--drive", _DRIVE, "--op", _OP, "--scale", str(scale)]
    words += [*(["--seed", str(seed)] if seed != 1 else []), "--output", str(directory)]
    form.say(f"{shlex.join(['ssdlab', 'compare', *words])}\n")
    compare = loaded("compare")
    words += ["--format", form.kind, *([] if workers is None else ["--workers", str(workers)])]
    with compare.make_context("compare", words) as context:
        compare.invoke(context)
    if form.is_data:
        return
    typer.echo(f"\n{_bars(directory)}\n")
    typer.echo(f"All of it, in a browser: {(directory / 'report.html').resolve()}")


def _bars(directory: Path) -> str:
    """Steady-state write amplification of the variants as a bar chart in text."""
    result: JsonObject = json.loads((directory / "result.json").read_text(encoding="utf-8"))
    steady = [variant["steady_state"]["waf"] for variant in result["ssdlab"]["variants"]]
    wafs = dict(zip(_OP.replace("%", " %").split(","), steady, strict=True))
    cells = _BAR_CELLS / max(wafs.values())
    lines = [f"{label:>6} spare  {'█' * round(waf * cells)} {waf:.2f}" for label, waf in wafs.items()]
    return "\n".join(["Bytes written to flash for each byte that the host writes:", *lines])
