"""`ssdlab run`: a fio job on a simulated drive, reported as fio would."""

from pathlib import Path
from typing import Annotated

import typer

from ssdlab.cli import options

FORMATS = ("normal", "json", "json+")


def run(
    job: options.Job,
    drive: Annotated[
        str,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
    ],
    op: options.Op = None,
    settings: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--output-format", metavar="FORMAT", help="normal, json or json+, as fio's.  [default: normal, or by FILE]"
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="FILE|DIR",
            help="A FILE (its name has a suffix) gets what would be printed; a DIR result.json and the time series.",
        ),
    ] = None,
) -> None:
    """Run a fio job file on a simulated drive and report what fio would, and what the flash had to do for it."""
    from ssdlab import jobs
    from ssdlab.cli.progress import shown
    from ssdlab.drives import load, resolve
    from ssdlab.errors import RunFailed
    from ssdlab.results.files import check_writable, write_text
    from ssdlab.results.text import FORMATS as writers
    from ssdlab.targets import simulated

    directory, file = _destination(output)
    chosen = _format(output_format, file)
    for place in filter(None, (directory, file.parent if file else None)):
        check_writable(place)
    job_file = jobs.load(Path(job))
    resolved = resolve(
        load(drive),
        over_provisioning=options.op_of(op),
        settings=options.settings_of(settings),
        scale=options.scale_of(scale),
    )
    specification = simulated.specify(job_file, resolved, seed=seed, timed=not untimed)
    options.print_notes(job_file.notes)

    with shown([Path(job).stem]) as tell:
        result = simulated.run(specification, (lambda share, written: tell(0, share, written)) if tell else None)
    text = writers[chosen](result)
    if file:
        write_text(file, text)
    else:
        typer.echo(text, nl=False)
    if directory:
        result.write(directory)
        series = "timeseries.parquet" + ("" if untimed else " and timeseries-time.parquet")
        typer.echo(f"wrote {directory}/result.json, {series}", err=True)
    if result.failure:
        raise RunFailed(f"{job}: {result.failure}")


def _destination(output: str | None) -> tuple[Path | None, Path | None]:
    """`--output` as (folder, file): a folder if it is one, or ends with a slash, or has no suffix."""
    if output is None:
        return None, None
    path = Path(output)
    is_directory = path.is_dir() or output.endswith("/") or (not path.suffix and not path.exists())
    return (path, None) if is_directory else (None, path)


def _format(output_format: str | None, file: Path | None) -> str:
    from ssdlab.errors import InputError, near

    if output_format is None:
        return "json" if file and file.suffix == ".json" else "normal"
    if output_format not in FORMATS:
        raise InputError(
            f"--output-format is {output_format!r}{near(output_format, FORMATS)}; allowed: {', '.join(FORMATS)}"
        )
    return output_format
