"""A served drive as an NVMe controller: what the program prints, and what Linux, nvme-cli and smartctl make of it.

The second half runs in a virtual machine with the distribution's own kernel (`virtual_machine.py`).
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import virtual_machine
from running_drives import DRIVE
from ssdlab.live.served import watched
from ssdlab.serving import nvme
from waiting import wait_for

SECONDS_MAX = 60
PROGRAMS = ("nvme", "smartctl", "mkfs.ext4")
NAMESPACES = {"database": 64 << 20, "log": 128 << 20}


@dataclass
class Attachable:
    """A running `ssdlab serve --nvme`."""

    command: str
    process: subprocess.Popen[str]
    statistics_file: Path

    @property
    def words(self) -> list[str]:
        return self.command.split()

    @property
    def port(self) -> int:
        return int(self.words[self.words.index("-s") + 1])

    @property
    def nqn(self) -> str:
        return self.words[self.words.index("-n") + 1]

    def statistics(self) -> dict[str, Any]:
        """What the drive has counted so far."""
        self.statistics_file.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        text = wait_for("the statistics are written", lambda: _whole_json(self.statistics_file))
        found: dict[str, Any] = json.loads(text)
        return found

    def end(self) -> str:
        """Ends it as Ctrl-C does, and returns what it printed."""
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=SECONDS_MAX)
        return said


def _whole_json(file: Path) -> str | None:
    try:
        text = file.read_text()
        json.loads(text)
    except (OSError, ValueError):
        return None
    return text


Attach = Callable[..., Attachable]


@pytest.fixture
def attachable(tmp_path: Path) -> Iterator[Attach]:
    """Serves the test drive, or another, as an NVMe controller at a free port: `attachable("--store", ...)`."""
    made: list[Attachable] = []

    def start(*options: str, drive: str = DRIVE) -> Attachable:
        (tmp_path / "mounted.toml").write_text(drive)
        statistics = tmp_path / f"statistics-{len(made)}.json"
        command = [sys.executable, "-m", "ssdlab", "serve", "--drive", str(tmp_path / "mounted.toml"), "--nvme", "0"]
        process = subprocess.Popen(
            [*command, "--output", str(statistics), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        served = Attachable("", process, statistics)
        made.append(served)
        assert process.stdout is not None
        served.command = process.stdout.readline().strip()
        assert served.command.startswith("nvme connect "), served.command
        return served

    yield start
    for served in made:
        if served.process.poll() is None:
            os.killpg(served.process.pid, signal.SIGKILL)
            served.process.wait(SECONDS_MAX)


def test_a_stored_drive_keeps_its_name_and_others_have_their_own(attachable: Attach, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "flash"))
    first = attachable(*store)
    first.end()
    again, other = attachable(*store), attachable()
    assert first.nqn == again.nqn != other.nqn
    assert first.nqn.startswith("nqn.2014-08.org.nvmexpress:uuid:")


def test_a_drive_with_namespaces_is_served_and_counted_by_namespace(attachable: Attach) -> None:
    listed = "".join(f'[[namespace]]\nname = "{name}"\nsize_bytes = {size}\n' for name, size in NAMESPACES.items())
    drive = attachable(drive=DRIVE + listed)
    found = drive.statistics()["ssdlab"]
    assert [each["name"] for each in found["namespaces"]] == list(NAMESPACES)
    shown = found["smart"]["nvme_namespaces"]
    assert [(each["id"], each["size"]["bytes"]) for each in shown] == list(enumerate(NAMESPACES.values(), start=1))


@pytest.mark.parametrize(
    ("host", "named"), [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("192.0.2.1", "192.0.2.1"), ("::1", "::1")]
)
def test_the_command_names_an_address_that_can_be_connected_to(host: str, named: str) -> None:
    server: Any = None
    assert f" -a {named} -s 4420 " in nvme.Attachable(host, 4420, "nqn", server).command


def test_options_of_other_front_ends_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mounted.toml").write_text(DRIVE)
    command = [sys.executable, "-m", "ssdlab", "serve", "--drive", str(tmp_path / "mounted.toml"), "--nvme", "0"]
    for options, names in ((("--socket", "here"), "--socket"), (("--host", "nowhere.example"), "--host")):
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=SECONDS_MAX)
        assert done.returncode == 2 and names in done.stderr, done.stderr


_SCRIPT = """
connect() {{ timeout 20 nvme connect -t tcp -a {host} -s {port} -n {nqn} --keep-alive-tmo=30 $*; }}
settle() {{ for _ in $(seq 100); do test -b /dev/nvme0n1 && return; sleep 0.1; done; }}
echo "== kernel"
uname -r
echo "== discover"
timeout 20 nvme discover -t tcp -a {host} -s {port} -o json
connect
settle
echo "== list"
timeout 20 nvme list -o json
echo "== controller"
timeout 20 nvme id-ctrl /dev/nvme0 -o json
echo "== file system"
/programs/mkfs.ext4 -q -F /dev/nvme0n1 && mount -t ext4 /dev/nvme0n1 /mnt && echo made
dd if=/dev/urandom of=/run/data bs=65536 count=64 2>/dev/null
cp /run/data /mnt/data
sync
echo "== reset"
timeout 20 nvme reset /dev/nvme0 && echo reset
settle
echo 3 >/proc/sys/vm/drop_caches
cmp /run/data /mnt/data && echo same
umount /mnt
echo "== reconnect"
timeout 20 nvme disconnect -n {nqn} >/dev/null
connect --hdr-digest --data-digest && echo connected
settle
mount -t ext4 /dev/nvme0n1 /mnt
cmp /run/data /mnt/data && echo same
sync
echo "== used"
timeout 20 nvme id-ns /dev/nvme0n1 -o json
rm /mnt/data
sync
fstrim /mnt
umount /mnt
echo "== used after a trim"
timeout 20 nvme id-ns /dev/nvme0n1 -o json
echo "== smart"
timeout 20 nvme smart-log /dev/nvme0 -o json
echo "== ocp"
timeout 20 nvme ocp smart-add-log /dev/nvme0 -o json
echo "== smartctl"
timeout 20 smartctl -a -j /dev/nvme0
echo "== effects"
timeout 20 nvme effects-log /dev/nvme0 >/dev/null && echo read
echo "== disconnect"
timeout 20 nvme disconnect -n {nqn}
ls /dev/nvme0n1 2>/dev/null || echo gone
"""


@pytest.mark.surroundings
@pytest.mark.parametrize("kernel", virtual_machine.kernels() or [None], ids=lambda kernel: kernel and kernel.name)
def test_an_unmodified_linux_attaches_it_and_reports_what_the_statistics_say(
    attachable: Attach, tmp_path: Path, kernel: Path | None
) -> None:
    virtual_machine.needed(PROGRAMS)
    drive = attachable()
    script = _SCRIPT.format(host=virtual_machine.HOST, port=drive.port, nqn=drive.nqn)
    ended = virtual_machine.run(tmp_path, script, PROGRAMS, kernel=kernel)
    said = ended.sections
    assert said.get("end 0") is not None, f"{said}\n{ended.console[-4000:]}"
    assert kernel is not None and said["kernel"].strip() == kernel.name.removeprefix("vmlinuz-")
    assert drive.nqn in said["discover"]
    assert "ssdlab mounted" in said["list"]
    assert said["file system"].strip() == "made"
    assert said["reset"].split() == ["reset", "same"], ended.console[-4000:]
    assert "connected" in said["reconnect"] and "same" in said["reconnect"]
    # A file of 4 MiB, in blocks of 4 KiB, was removed.
    used, used_then = (json.loads(said[name])["nuse"] for name in ("used", "used after a trim"))
    assert used - used_then >= 1024, (used, used_then)
    assert "disconnected 1 controller" in said["disconnect"] and "gone" in said["disconnect"]

    # Reading the logs and disconnecting ask the drive for nothing.
    smart = drive.statistics()["ssdlab"]["smart"]
    _agrees_with_nvme_cli(json.loads(said["smart"]), smart["nvme_smart_health_information_log"])
    _agrees_with_ocp(json.loads(said["ocp"]), smart["ocp_smart_log"])
    found = json.loads(said["smartctl"])
    assert found["smart_status"]["passed"] is True
    shown = found["nvme_smart_health_information_log"]
    for name, value in smart["nvme_smart_health_information_log"].items():
        if name in shown and value is not None:
            assert shown[name] == value, name


_DIRECTED = """
timeout 20 nvme connect -t tcp -a {host} -s {port} -n {nqn} --keep-alive-tmo=30
for _ in $(seq 100); do test -c /dev/ng0n1 && break; sleep 0.1; done
dd if=/dev/urandom of=/run/data bs=16384 count=1 2>/dev/null
write() {{ timeout 20 nvme write $1 -s $2 -c 3 -z 16384 -d /run/data $3 >/dev/null 2>&1 || echo "write $* failed"; }}
echo "== writes"
for at in 0 4 8; do write /dev/nvme0n1 $at "--dir-type=2 --dir-spec=1"; done
for at in 12 16; do write /dev/ng0n1 $at "--dir-type=2 --dir-spec=3"; done
write /dev/nvme0n1 20
timeout 20 nvme io-passthru /dev/ng0n1 --opcode=1 --namespace-id=1 --cdw10=24 --cdw12=0x200003 --cdw13=0x20000 \\
    --data-len=16384 --write --input-file=/run/data >/dev/null 2>&1 || echo "io-passthru failed"
# There is no fifth identifier.
write /dev/ng0n1 28 "--dir-type=2 --dir-spec=4"
echo "== update"
timeout 20 nvme fdp update /dev/ng0n1 --pids=3 >/dev/null && echo updated
for name in configs usage stats events; do
    echo "== $name"
    timeout 20 nvme fdp $name /dev/nvme0 --endgrp-id=1 --output-format=json
done
echo "== host events"
timeout 20 nvme fdp events /dev/nvme0 --endgrp-id=1 --host-events --output-format=json
echo "== status"
timeout 20 nvme fdp status /dev/ng0n1 --output-format=json
echo "== set-events"
timeout 20 nvme fdp set-events /dev/ng0n1 --placement-handle=1 --event-types=0x80 >/dev/null && echo set
echo "== endurance group"
timeout 20 nvme endurance-log /dev/nvme0 --group-id=1 -o json
timeout 20 nvme disconnect -n {nqn} >/dev/null
"""


@pytest.mark.surroundings
def test_directed_writes_arrive_at_their_handles_and_nvme_cli_shows_what_the_statistics_say(
    attachable: Attach, tmp_path: Path
) -> None:
    virtual_machine.needed(("nvme",))
    handles = DRIVE.replace('"host-gc-split"', '{ name = "host-streams", identifiers = 4 }')
    drive = attachable("--what-if", "6.25%,28%", drive=handles)
    script = _DIRECTED.format(host=virtual_machine.HOST, port=drive.port, nqn=drive.nqn)
    ended = virtual_machine.run(tmp_path, script, ("nvme",))
    said = ended.sections
    assert said.get("end 0") is not None, f"{said}\n{ended.console[-4000:]}"
    assert said["writes"].strip() == "" and said["update"].split()[-1:] == ["updated"], ended.console[-4000:]
    expected = drive.statistics()["ssdlab"]["fdp"]
    assert _same(json.loads(said["configs"])["configs"], expected["configs"]["configs"])
    assert _same(json.loads(said["usage"])["ruhus"], expected["usage"]["ruhus"])
    stats = json.loads(said["stats"])
    assert {name: _number(stats[name]) for name in ("hbmw", "mbmw", "mbe")} == expected["stats"]
    assert expected["stats"]["hbmw"] == 8 * 16384, "nothing else writes"
    assert _same(json.loads(said["status"])["ruhss"], expected["status"]["ruhss"])
    # A reclaim unit has 256 blocks; the third of these handles left its own for an empty one.
    assert [each["ruamw"] for each in expected["status"]["ruhss"]] == [248, 244, 252, 256]
    assert json.loads(said["events"])["n"] == expected["events"]["n"] == 0
    host_events = json.loads(said["host events"])
    assert host_events["n"] == 2
    assert _same(host_events["events"], expected["host_events"]["events"])
    assert [(each["type"], each["pid"]) for each in host_events["events"]] == [(3, 4), (0, 3)]
    assert said["set-events"].strip() == "set"
    assert "endurance_estimate" in said["endurance group"]

    # The same requests again, with their handles: on the same drive they programmed as much.
    drive.end()
    ended_as = json.loads(drive.statistics_file.read_text())
    same, more = ended_as["ssdlab"]["device"]["what_if"]
    assert same["waf"] == ended_as["ssdlab"]["waf"] > 1, "the rest of a reclaim unit was padded"
    assert (same["over_provisioning"], more["over_provisioning"]) == (0.0625, pytest.approx(0.28, abs=0.005))
    assert [phase["name"] for phase in more["phases"]] == ["mounted"]


def _same(shown: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    """Whether nvme-cli shows the same numbers, as far as it shows them; it has no names for what is unused."""
    pairs = zip(shown, expected, strict=True)
    return all(
        _number(theirs[name]) == value
        for theirs, ours in pairs
        for name, value in ours.items()
        if name in theirs and isinstance(value, int)
    )


_LOST = """
timeout 20 nvme connect -t tcp -a {host} -s {port} -n {nqn} --reconnect-delay=2 --ctrl-loss-tmo=8
for _ in $(seq 100); do test -b /dev/nvme0n1 && break; sleep 0.1; done
dd if=/dev/urandom of=/dev/nvme0n1 bs=65536 count=16 oflag=direct 2>/dev/null && echo written
echo "== attached"
for _ in $(seq 200); do test "$(cat /sys/class/nvme/nvme0/state 2>/dev/null)" = live || break; sleep 0.1; done
cat /sys/class/nvme/nvme0/state
echo "== read"
timeout 40 dd if=/dev/nvme0n1 of=/dev/null bs=4096 count=1 iflag=direct 2>/dev/null
test $? = 1 && echo failed
for _ in $(seq 200); do test -e /sys/class/nvme/nvme0 || break; sleep 0.1; done
echo "== left"
ls /sys/class/nvme
"""


@pytest.mark.surroundings
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_host_that_loses_its_drive_gives_up_instead_of_hanging(
    attachable: Attach, tmp_path: Path, number: signal.Signals
) -> None:
    virtual_machine.needed(("nvme",))
    drive = attachable()
    is_over = Event()

    def end_when_attached() -> None:
        results = tmp_path / "results"

        def has_begun_or_ended() -> bool:
            return is_over.is_set() or (results.exists() and "== attached" in results.read_text())

        wait_for("the host has the drive, or has ended", has_begun_or_ended)
        drive.process.send_signal(number)

    with ThreadPoolExecutor(1) as other:
        ending = other.submit(end_when_attached)
        script = _LOST.format(host=virtual_machine.HOST, port=drive.port, nqn=drive.nqn)
        try:
            ended = virtual_machine.run(tmp_path, script, ("nvme",))
        finally:
            is_over.set()
        ending.result(SECONDS_MAX)
    said = ended.sections
    assert said.get("end 0") is not None, f"{said}\n{ended.console[-4000:]}"
    assert said["attached"].strip() in ("connecting", "resetting", "deleting"), said["attached"]
    assert (said["read"].strip(), said["left"].strip()) == ("failed", ""), ended.console[-4000:]


_TROUBLE = """
# What discovery says of the address is where this machine has been reached: at its loopback interface.
printf '#!/bin/sh\nexec nc {host} {port}\n' >/relay && chmod +x /relay
nc -ll -p {port} -e /relay &
for _ in $(seq 100); do netstat -tln | grep -q ":{port} " && break; sleep 0.1; done
drive() {{ for _ in $(seq 100); do ls /dev/nvme?n1 2>/dev/null && return; sleep 0.1; done; }}
echo "== connect-all"
timeout 20 nvme connect-all -t tcp -a 127.0.0.1 -s {port} --keep-alive-tmo=30 --reconnect-delay=1
drive=$(drive)
echo $drive
# Discovery was a controller too, and newer kernels do not number a drive as its controller.
state() {{ cat /sys/class/nvme/*/state | sort -u; }}
/programs/mkfs.ext4 -q -F $drive && mount -t ext4 $drive /mnt
dd if=/dev/urandom of=/run/data bs=65536 count=64 2>/dev/null
cp /run/data /mnt/data
sync
echo "== flushed"
for _ in $(seq 300); do test "$(state)" = live || break; sleep 0.1; done
state
for _ in $(seq 300); do test "$(state)" = live && break; sleep 0.1; done
echo "== power is back"
state
echo 3 >/proc/sys/vm/drop_caches
cmp /run/data /mnt/data && echo same
cp /run/data /mnt/again && sync && echo written
umount /mnt
timeout 20 nvme disconnect -n {nqn}
timeout 20 nvme connect -t tcp -a {host} -s {faulty_port} -n {faulty_nqn} --keep-alive-tmo=30
echo "== faults"
drive=$(drive)
dd if=/dev/urandom of=$drive bs=65536 count=64 oflag=direct 2>/dev/null && echo written
dd if=$drive of=/dev/null bs=4096 count=1 iflag=direct 2>/run/said
grep -o "No data available" /run/said
timeout 20 nvme disconnect -n {faulty_nqn}
"""


@pytest.mark.surroundings
def test_a_host_finds_the_drive_and_meets_a_loss_of_power_and_flash_that_fails(
    attachable: Attach, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual_machine.needed(("nvme", "mkfs.ext4"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    drive, faulty = attachable(), attachable("--faults", "uncorrectable_reads=100%")
    results, is_over = tmp_path / "results", Event()

    def cut_power_when_flushed() -> None:
        def has_flushed_or_ended() -> bool:
            return is_over.is_set() or (results.exists() and "== flushed" in results.read_text())

        wait_for("the host has flushed, or has ended", has_flushed_or_ended)
        watched(drive.command).command("power-cut")

    with ThreadPoolExecutor(1) as other:
        cutting = other.submit(cut_power_when_flushed)
        script = _TROUBLE.format(
            host=virtual_machine.HOST,
            port=drive.port,
            nqn=drive.nqn,
            faulty_port=faulty.port,
            faulty_nqn=faulty.nqn,
        )
        try:
            ended = virtual_machine.run(tmp_path, script, ("nvme", "mkfs.ext4"))
        finally:
            is_over.set()
        cutting.result(SECONDS_MAX)
    said = ended.sections
    assert said.get("end 0") is not None, f"{said}\n{ended.console[-4000:]}"
    assert said["connect-all"].startswith("/dev/nvme"), ended.console[-4000:]
    assert said["flushed"].strip() in ("resetting", "connecting"), said["flushed"]
    assert said["power is back"].split()[:3] == ["live", "same", "written"], ended.console[-4000:]
    # ENODATA is Linux's word for an unrecovered read error.
    assert said["faults"].splitlines()[:2] == ["written", "No data available"], ended.console[-4000:]
    smart = drive.statistics()["ssdlab"]["smart"]["nvme_smart_health_information_log"]
    assert smart["unsafe_shutdowns"] == 1


def _agrees_with_nvme_cli(shown: dict[str, Any], expected: dict[str, Any]) -> None:
    names = {
        "critical_warning": "critical_warning",
        "avail_spare": "available_spare",
        "spare_thresh": "available_spare_threshold",
        "percent_used": "percentage_used",
        "data_units_read": "data_units_read",
        "data_units_written": "data_units_written",
        "host_read_commands": "host_reads",
        "host_write_commands": "host_writes",
        "power_cycles": "power_cycles",
        "power_on_hours": "power_on_hours",
        "unsafe_shutdowns": "unsafe_shutdowns",
        "media_errors": "media_errors",
        "num_err_log_entries": "num_err_log_entries",
    }
    for theirs, ours in names.items():
        assert _number(shown[theirs]) == expected[ours], theirs
    assert expected["host_writes"] > 0


def _agrees_with_ocp(shown: dict[str, Any], expected: dict[str, Any]) -> None:
    simple = {_letters(name): value for name, value in shown.items()}
    written, read = simple["physicalmediaunitswritten"], simple["physicalmediaunitsread"]
    assert _number(written) == expected["physical_media_units_written_bytes"] > 0
    assert _number(read) == expected["physical_media_units_read_bytes"]
    assert _number(simple["maxuserdataerasecounts"]) == expected["user_data_erase_counts"]["max"]
    assert _number(simple["minuserdataerasecounts"]) == expected["user_data_erase_counts"]["min"]
    assert _number(simple["percentfreeblocks"]) == expected["percent_free_blocks"]


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalpha())


def _number(shown: Any) -> int:
    """nvme-cli shows 128-bit counts as numbers, as texts, or as two halves."""
    if isinstance(shown, dict):
        return int(shown["lo"]) + (int(shown["hi"]) << 64)
    return int(shown)
