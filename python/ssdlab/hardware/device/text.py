"""A measurement as text in fio's layout, with the change of the drive's SMART counters after each stage."""

from collections.abc import Callable, Mapping

from ssdlab.foundation.quantities import format_bytes, format_bytes_binary
from ssdlab.hardware.device.health import Phase
from ssdlab.hardware.device.measured import Measured, MeasuredJob
from ssdlab.simulator.results.fio_schema import DIRECTIONS
from ssdlab.simulator.results.text import fio_size
from ssdlab.simulator.results.text_rates import direction_lines, distribution_lines, flush_lines


def normal(measured: Measured) -> str:
    """The text of `ssdlab measure`, with a final newline."""
    lines = [f"ssdlab-{measured.version}"]
    for number, stage in enumerate(measured.stages):
        for job in measured.jobs:
            if job.stage == number:
                lines += ["", *_job(job)]
        lines += [f"  {line}" for line in phase_lines(stage.phase)]
        if stage.error:
            lines.append(f"  ENDED: {stage.error}")
    lines += ["", *_place(measured)]
    return "\n".join(lines) + "\n"


def _job(job: MeasuredJob) -> list[str]:
    lines = [f"{job.name}: (groupid={job.group}, stage={job.stage}): err={job.error:2}"]
    for name in DIRECTIONS:
        direction = getattr(job, name)
        if direction.total_ios:
            lines += direction_lines(name, direction)
    if job.latency.count and job.latency.bins:
        lines += distribution_lines(job.latency)
    if job.flush.total_ios and job.flush.latency is not None:
        lines += flush_lines(job.flush.latency)
    return lines


def phase_lines(phase: Phase) -> list[str]:
    """Lines with a drive's host and NAND writes, and write amplification or the reason why it is not known."""
    found = phase.change
    lines = []
    if found and found.host_bytes is not None:
        nand = "not available" if found.nand_bytes is None else format_bytes_binary(found.nand_bytes)
        lines.append(f"smart: host={format_bytes_binary(found.host_bytes)}, NAND={nand}")
    if found and found.waf:
        waf = found.waf
        lines.append(f"  waf: {waf.value:.4f} ({waf.low:.4f} to {waf.high:.4f}; steps: {found.resolution})")
    else:
        lines.append(f"  waf: not available: {phase.reason}")
    return lines


def _place(measured: Measured) -> list[str]:
    target, host = measured.target, measured.host
    lines = [
        f"{str(target['what']).capitalize()} {target['path']}, {format_bytes(int(target['size_bytes']))}:",
        f"  host: written={fio_size(host['written_bytes'])}, read={fio_size(host['read_bytes'])}, "
        f"trimmed={fio_size(host['trimmed_bytes'])}",
        *(f"  {line}" for line in phase_lines(measured.whole)),
        f"  measured in {measured.wall_seconds:,.1f} s",
    ]
    if measured.failure:
        lines.append(f"  INCOMPLETE: {measured.failure}")
    return lines


FORMATS: Mapping[str, Callable[[Measured], str]] = {
    "normal": normal,
    "json": lambda measured: measured.to_json(),
    "json+": lambda measured: measured.to_json(bins=True),
}
