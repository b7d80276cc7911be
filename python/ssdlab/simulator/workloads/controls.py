"""Translates the controls of the live page into sections of a fio job file.

The page has no language of its own: every choice becomes text that `ssdlab run` can read.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# An amount that no run reaches; the page ends the run.
ENDLESS = "io_size=1p"
_COMMON = ("ioengine=libaio", "direct=1")


class Controls(BaseModel):
    """The controls of a workload. A host that trims discards blocks at random between its reads and writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["random", "sequential"] = "random"
    block_bytes: Literal[4096, 8192, 16384, 65536, 131072] = 4096
    read_percent: Annotated[int, Field(ge=0, le=95)] = 0
    skew: Annotated[float, Field(ge=0, le=1.5)] = 0.0
    """Theta of the Zipf distribution; 0 is uniform."""
    trim_percent: Annotated[int, Field(ge=0, le=50)] = 0
    """The percentage of trims among all requests."""
    iodepth: Annotated[int, Field(ge=1, le=256)] = 32

    def sections(self, name: str, partition_percent: int) -> list[str]:
        """The text of the workload's section, or of two parallel sections if it trims, without `stonewall`.

        The host uses the first `partition_percent` of the drive.
        """
        size = [] if partition_percent == 100 else [f"size={partition_percent}%"]
        trim_depth = self._trim_depth()
        depth = max(1, self.iodepth - trim_depth) if trim_depth else self.iodepth
        common = [*_COMMON, *size, ENDLESS]
        transfers = [f"rw={self._rw()}", f"bs={self.block_bytes}", *self._mix(), *self._addresses(), f"iodepth={depth}"]
        sections = [_section(name, [*common, *transfers])]
        if trim_depth:
            # Most systems discard larger pieces than they write; here both have the same length.
            trims = ["rw=randtrim", f"bs={self.block_bytes}", "norandommap", "randrepeat=0", f"iodepth={trim_depth}"]
            sections.append(_section(f"{name}-trims", [*common, *trims]))
        return sections

    def _trim_depth(self) -> int:
        """The queue depth of the trims: parallel jobs share the drive in proportion to their queue depths."""
        if not self.trim_percent:
            return 0
        return max(1, round(self.iodepth * self.trim_percent / 100))

    def _rw(self) -> str:
        random = "rand" if self.kind == "random" else ""
        return f"{random}rw" if self.read_percent else f"{random}write"

    def _mix(self) -> list[str]:
        return [f"rwmixread={self.read_percent}"] if self.read_percent else []

    def _addresses(self) -> list[str]:
        if self.kind == "sequential":
            return []
        # fio does not accept a theta of exactly 1.
        theta = 1.01 if self.skew == 1 else self.skew
        skewed = [f"random_distribution=zipf:{theta:g}"] if self.skew else []
        return [*skewed, "norandommap", "randrepeat=0"]


def fill(name: str, partition_percent: int) -> str:
    """The section that writes the partition once sequentially."""
    size = [] if partition_percent == 100 else [f"size={partition_percent}%"]
    return _section(name, [*_COMMON, *size, "rw=write", "bs=128k", "iodepth=32"])


def trim_behind(name: str, partition_percent: int) -> str:
    """The section that trims the drive behind the partition, as is usual after shrinking a partition."""
    behind = [f"offset={partition_percent}%", f"size={100 - partition_percent}%"]
    return _section(name, [*_COMMON, *behind, "rw=trim", "bs=128k", "iodepth=32"])


def _section(name: str, options: list[str]) -> str:
    return "\n".join([f"[{name}]", *options]) + "\n"
