"""A zoned drive as an NVMe controller: what Linux, util-linux, nvme-cli and btrfs make of its zones.

It runs in a virtual machine with the distribution's own kernel (`virtual_machine.py`).
"""

import json
import re
from pathlib import Path

import pytest

import virtual_machine
from running_drives import DRIVE
from test_nvme import Attach, attachable

__all__ = ["attachable"]

PROGRAMS = ("nvme", "blkzone", "mkfs.btrfs")
# btrfs and what it needs, each behind what it needs itself.
MODULES = ("libcrc32c", "xor", "raid6_pq", "zstd_compress", "blake2b_generic", "btrfs")
ZONE_BLOCKS = 1024
# 60 zones of 4 MiB, the least that btrfs takes, of which four erase units are written; and room for the active ones.
ZONED = (
    DRIVE.replace('"host-gc-split"', '"single"').replace("user_bytes = 268435456", "user_bytes = 251658240")
    + "[zones]\nzone_bytes = 4194304\nopen_max = 12\nactive_max = 12\n"
).replace('"write_buffer.*" =', '"zones.*" = { kind = "assumed", source = "made up for tests" }\n"write_buffer.*" =')

_SCRIPT = """
connect() {{ timeout 20 nvme connect -t tcp -a {host} -s {port} -n {nqn} --keep-alive-tmo=30; }}
settle() {{ for _ in $(seq 100); do test -b /dev/nvme0n1 && return; sleep 0.1; done; }}
zone() {{ timeout 20 nvme zns $1 /dev/nvme0n1 $2 >/dev/null || echo "$* failed"; }}
write() {{ dd if=/run/data of=/dev/nvme0n1 bs=65536 count=1 seek=$1 oflag=direct conv=notrunc >/dev/null 2>&1; }}
connect
settle
echo "== queue"
for name in zoned chunk_sectors nr_zones max_open_zones max_active_zones zone_append_max_bytes; do
    echo $name $(cat /sys/block/nvme0n1/queue/$name)
done
echo "== id-ns"
timeout 20 nvme zns id-ns /dev/nvme0n1 -o json
dd if=/dev/urandom of=/run/data bs=65536 count=1 2>/dev/null
echo "== writes"
write 0 && write 1 && echo written
write 5 || echo refused
timeout 20 nvme zns zone-append /dev/nvme0n1 -s 1024 -z 65536 -d /run/data >/dev/null && echo appended
dd if=/dev/nvme0n1 of=/run/read bs=65536 count=1 skip=64 iflag=direct 2>/dev/null
cmp /run/data /run/read && echo same
zone open-zone "-s 2048"
zone close-zone "-s 1024"
zone finish-zone "-s 4096"
echo "== report"
timeout 20 nvme zns report-zones /dev/nvme0n1 -d 6 -o json
echo "== blkzone"
timeout 20 blkzone report -c 6 /dev/nvme0n1
echo "== reset"
timeout 20 blkzone reset /dev/nvme0n1 && timeout 20 blkzone report /dev/nvme0n1 | grep -c 'zcond: 1(em)'
echo "== btrfs"
timeout 60 mkfs.btrfs -q -f -m single -d single -O zoned /dev/nvme0n1 && mount -t btrfs /dev/nvme0n1 /mnt && echo made
dd if=/dev/urandom of=/run/file bs=65536 count=64 2>/dev/null
cp /run/file /mnt/file
sync
umount /mnt
timeout 20 nvme disconnect -n {nqn} >/dev/null
connect
settle
mount -t btrfs /dev/nvme0n1 /mnt && cmp /run/file /mnt/file && echo same
umount /mnt
timeout 20 nvme disconnect -n {nqn} >/dev/null
"""


@pytest.mark.surroundings
def test_an_unmodified_linux_writes_zones_and_a_zoned_file_system(attachable: Attach, tmp_path: Path) -> None:
    virtual_machine.needed(PROGRAMS)
    drive = attachable(drive=ZONED)
    script = _SCRIPT.format(host=virtual_machine.HOST, port=drive.port, nqn=drive.nqn)
    ended = virtual_machine.run(tmp_path, script, PROGRAMS, MODULES)
    said = ended.sections
    assert said.get("end 0") is not None, f"{said}\n{ended.console[-4000:]}"
    queue = dict(line.split() for line in said["queue"].splitlines())
    assert (queue["zoned"], queue["chunk_sectors"], queue["nr_zones"]) == ("host-managed", "8192", "60")
    assert (queue["max_open_zones"], queue["max_active_zones"]) == ("12", "12")
    assert int(queue["zone_append_max_bytes"]) >= 65536
    assert json.loads(said["id-ns"])["lbafe"][0]["zsze"] == ZONE_BLOCKS
    assert said["writes"].split() == ["written", "refused", "appended", "same"], ended.console[-4000:]
    zones = json.loads(said["report"])["zone_list"]
    assert [zone["slba"] for zone in zones] == [ZONE_BLOCKS * number for number in range(6)]
    # Two writes, an append that was closed, opened without data, untouched, finished, untouched.
    assert [zone["wp"] - zone["slba"] for zone in zones if zone["state"] != "FULL"] == [32, 16, 0, 0, 0]
    states = [str(zone["state"]) for zone in zones]
    assert states == ["IMP_OPENED", "CLOSED", "EXP_OPENED", "EMPTY", "FULL", "EMPTY"]
    # As the kernel reports them to programs.
    assert re.findall(r"zcond: ?\d+\((\w+)\)", said["blkzone"]) == ["oi", "cl", "oe", "em", "fu", "em"]
    assert said["reset"].split() == ["60"]
    assert said["btrfs"].split()[-2:] == ["made", "same"], ended.console[-4000:]
    zones_then = drive.statistics()["ssdlab"]["zones"]
    assert zones_then["resets"] >= 4 and zones_then["finishes"] == 1
