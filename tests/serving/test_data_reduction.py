"""A mounted drive that compresses and deduplicates programs' data: fio's checksums hold, and the programmed bytes agree
with a simulated run of the same job.

In a run the job states how far its data can be reduced; the mounted drive determines it from fio's bytes with lz4 and
hashes.
"""

import subprocess
from pathlib import Path

import pytest

import ssdlab
from own_devices import needs
from running_drives import DRIVE, MountMaker
from ssdlab.simulator.results.result import ResultJson

pytestmark = [pytest.mark.fuse, pytest.mark.loop]

WRITTEN_BYTES = 256 << 20

REDUCTION = """
[data_reduction]
compression = true
deduplication = {deduplication}
packing_bytes = 128
"""


def drive_file(folder: Path, deduplication: bool) -> Path:
    table = REDUCTION.format(deduplication=str(deduplication).lower())
    tables, sources = DRIVE.split("[sources]\n")
    source = '"data_reduction.*" = { kind = "assumed", source = "made up for tests" }\n'
    path = folder / "reducing.toml"
    path.write_text(f"{tables}{table}[sources]\n{sources}{source}")
    return path


def written_by_fio(folder: Path, target: str, *options: str) -> None:
    """Fills the device in sequence, then overwrites all of it at random, with other data."""
    common = ["--direct=1", "--ioengine=libaio", "--iodepth=32", f"--filename={target}", *options]
    fill = ("--rw=write", "--bs=256k", "--randseed=1")
    for kind in (fill, ("--rw=randwrite", "--bs=4k", "--randseed=2")):
        command = ["fio", "--output-format=json", "--name=written", *kind, *common]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def simulated(folder: Path, drive: Path, *keys: str) -> ResultJson:
    job = folder / "same.fio"
    lines = ["[fill]", "rw=write", "bs=256k", *keys, "[random]", "stonewall", "rw=randwrite", "bs=4k", *keys]
    job.write_text("\n".join(lines) + "\n")
    return ssdlab.run(job, ssdlab.drive(drive), seed=1).to_dict()


@needs("fio", "losetup")
@pytest.mark.parametrize("percent", [0, 50])
def test_real_data_is_compressed_as_a_run_says(mount: MountMaker, tmp_path: Path, percent: int) -> None:
    drive = drive_file(tmp_path, deduplication=False)
    mounted = mount("--loop", drive=drive)
    assert mounted.loop is not None
    compressed = f"buffer_compress_percentage={percent}"
    written_by_fio(tmp_path, mounted.loop, f"--{compressed}", "--verify=crc32c", "--verify_fatal=1", "--do_verify=1")
    real = mounted.statistics()["ssdlab"]
    run = simulated(tmp_path, drive, compressed)["ssdlab"]
    assert real["host"]["written_bytes"] == run["host"]["written_bytes"] == 2 * WRITTEN_BYTES
    stored, expected = (side["nand"]["programmed_bytes"]["host"] for side in (real, run))
    # lz4 adds some overhead: one piece of 128 in 16, or two.
    assert expected <= stored <= 1.08 * expected
    assert expected == pytest.approx((100 - percent) / 100 * 2 * WRITTEN_BYTES)
    assert real["waf"] == pytest.approx(run["waf"], rel=0.08)
    assert real["waf"] < 0.6 if percent else real["waf"] > 1.5


@needs("fio", "losetup")
def test_real_repetitions_are_found_as_a_run_says(mount: MountMaker, tmp_path: Path) -> None:
    drive = drive_file(tmp_path, deduplication=True)
    mounted = mount("--loop", drive=drive)
    assert mounted.loop is not None
    written_by_fio(tmp_path, mounted.loop, "--dedupe_percentage=40")
    real = mounted.statistics()["ssdlab"]
    run = simulated(tmp_path, drive, "dedupe_percentage=40")["ssdlab"]
    assert real["host"]["deduplicated_bytes"] == pytest.approx(run["host"]["deduplicated_bytes"], rel=0.08)
    assert real["waf"] == pytest.approx(run["waf"], rel=0.08)
    # A loss of power also loses the drive's memory: reads must return the same data afterwards.
    target = Path(mounted.loop)
    before = target.read_bytes()
    mounted.command("power-cut")
    subprocess.run(["blockdev", "--flushbufs", str(target)], check=True)
    assert target.read_bytes() == before
