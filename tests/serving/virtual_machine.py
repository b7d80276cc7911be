"""A small Linux in a virtual machine: a kernel of the distribution and a few programs, from the packages that
`tools/bootstrap programs` has unpacked into `.vm/`.

Every machine ends: the guest's script has a limit, and QEMU is killed after `SECONDS_MAX` whatever it does. It has no
input, and its console and results are files, so that nothing waits for a terminal.
"""

import contextlib
import lzma
import os
import re
import shutil
import signal
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / ".vm" / "root"
HOST = "10.0.2.2"
"""This machine's loopback interface, as the guest sees it."""
SECONDS_MAX = 120

# A module that is missing is part of the kernel. nvme-tcp computes digests through the kernel's crypto interface, which
# finds crc32c by its name.
_MODULES = ("virtio_pci", "virtio_net", "crc32c_intel", "nvme_tcp")

# 6.12 refuses a host that has one identifier and several names, and nvme-cli makes them up if they are not there.
_HOST_ID = "5f0a1c52-7f62-4d5f-9b8e-2c6d7a3e9b10"

_INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /mnt /run
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox --install -s /bin
export PATH=/programs:/bin LD_LIBRARY_PATH=/libraries
mkdir -p /etc/nvme
echo {host_id} >/etc/nvme/hostid
echo nqn.2014-08.org.nvmexpress:uuid:{host_id} >/etc/nvme/hostnqn
for module in {modules}; do insmod /modules/$module.ko; done
ip link set lo up
ip link set eth0 up
ip address add 10.0.2.15/24 dev eth0
stty -F /dev/ttyS1 raw
timeout {seconds} sh /script >/dev/ttyS1 2>/dev/ttyS0 </dev/null
echo "== end $?" >/dev/ttyS1
sleep 1
poweroff -f
"""


def kernels() -> list[Path]:
    """The oldest kernel of the distribution, and the newest if that is another."""
    found = sorted(
        FOLDER.glob("boot/vmlinuz-*"), key=lambda path: [int(number) for number in re.findall("[0-9]+", path.name)]
    )
    return list(dict.fromkeys([*found[:1], *found[-1:]]))


def needed(programs: tuple[str, ...]) -> None:
    """Skips the test where a machine with these programs lacks something. Where tests run unattended that is an error,
    unless the packages could not be fetched: a test that is skipped every time tests nothing."""
    if not (lacking := _missing(programs)):
        return
    unavailable = FOLDER.parent / "unavailable"
    if os.environ.get("CI") == "true" and not unavailable.exists():
        pytest.fail(lacking)
    pytest.skip(lacking)


def _missing(programs: tuple[str, ...]) -> str | None:
    """What a machine with these programs lacks here, by name."""
    if not kernels():
        return "no kernel in .vm/; as root, tools/bootstrap programs unpacks it"
    lacking = [name for name in ("qemu-system-x86_64", "busybox", *programs) if _find(name) is None]
    return f"not there: {', '.join(lacking)}; as root, tools/bootstrap programs unpacks them" if lacking else None


@dataclass(frozen=True)
class Ended:
    """What a machine has left."""

    sections: dict[str, str]
    """The output behind each line `== name`."""
    console: str


def run(
    folder: Path,
    script: str,
    programs: tuple[str, ...],
    modules: tuple[str, ...] = (),
    kernel: Path | None = None,
) -> Ended:
    """Runs a shell script as root in a new machine with these programs and, behind the usual ones, these modules of the
    kernel, by default of the oldest. Returns what it printed."""
    kernel = kernel or kernels()[0]
    initramfs, console, results = folder / "initramfs", folder / "console", folder / "results"
    initramfs.write_bytes(
        _archive(_files(kernel.name.removeprefix("vmlinuz-"), script, programs, (*_MODULES, *modules)))
    )
    qemu = _find("qemu-system-x86_64")
    assert qemu is not None
    command = ["timeout", "--signal=KILL", str(SECONDS_MAX), str(qemu), "-nodefaults", "-display", "none"]
    for data in ("qemu", "seabios"):
        command += ["-L", str(FOLDER / "usr/share" / data)]
    # Never KVM: there are machines on which /dev/kvm opens and the guest then stands still. The interpreter takes 15 s.
    command += ["-accel", "tcg", "-m", "512", "-no-reboot"]
    # On a busy machine the kernel's test of its timer fails, and it ends.
    command += [
        "-kernel",
        str(kernel),
        "-initrd",
        str(initramfs),
        "-append",
        "console=ttyS0 panic=-1 quiet no_timer_check",
    ]
    command += ["-serial", f"file:{console}", "-serial", f"file:{results}"]
    command += ["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile="]
    with (folder / "qemu.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=os.environ | {"LD_LIBRARY_PATH": str(_libraries())},
            start_new_session=True,
        )
        try:
            process.wait(SECONDS_MAX + 10)
        finally:
            # The group of `timeout`, which QEMU is in.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
    said = console.read_text(errors="replace") if console.exists() else ""
    said += (folder / "qemu.log").read_text(errors="replace")
    text = results.read_text(errors="replace") if results.exists() else ""
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)
    return Ended(dict(zip(parts[1::2], parts[2::2], strict=True)), said)


def _find(program: str) -> Path | None:
    for place in ("usr/bin", "usr/sbin", "bin", "sbin"):
        if (FOLDER / place / program).is_file():
            return FOLDER / place / program
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    return Path(found) if found else None


def _libraries() -> Path:
    return FOLDER / "usr/lib/x86_64-linux-gnu"


def _files(release: str, script: str, programs: tuple[str, ...], modules: tuple[str, ...]) -> dict[str, bytes]:
    """The files of the initramfs, by path."""
    files = {"script": script.encode()}
    busybox = _find("busybox")
    assert busybox is not None
    files["bin/busybox"] = busybox.read_bytes()
    found = _modules_of(release, modules)
    files |= {f"modules/{name}.ko": module for name, module in found.items()}
    for program in programs:
        path = _find(program)
        assert path is not None
        files[f"programs/{program}"] = path.read_bytes()
        files |= _libraries_of(path)
    init = _INIT.format(modules=" ".join(found), seconds=SECONDS_MAX - 20, host_id=_HOST_ID)
    files["init"] = init.encode()
    return files


def _modules_of(release: str, names: tuple[str, ...]) -> dict[str, bytes]:
    """These modules of a kernel by name, each behind those that it says it depends on."""
    folder = FOLDER / "lib/modules" / release / "kernel"
    paths = {path.name.split(".")[0].replace("-", "_"): path for path in folder.glob("**/*.ko*")}
    found: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in found or name not in paths:
            return
        module = paths[name].read_bytes()
        if paths[name].suffix == ".xz":
            module = lzma.decompress(module)
        for listed in re.findall(rb"\0depends=([^\0]*)\0", module):
            for needed in listed.decode().split(","):
                add(needed.replace("-", "_"))
        found[name] = module

    for name in names:
        add(name.replace("-", "_"))
    return found


def _libraries_of(program: Path) -> dict[str, bytes]:
    listed = subprocess.run(
        ["ldd", str(program)],
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"LD_LIBRARY_PATH": str(_libraries())},
    ).stdout
    found = {}
    for name, path in re.findall(r"(\S+) => (/\S+)", listed):
        found[f"libraries/{name}"] = Path(path).read_bytes()
    for path in re.findall(r"^\s*(/\S*ld-linux\S*)", listed, flags=re.MULTILINE):
        found[path.lstrip("/")] = Path(path).read_bytes()
    return found


def _archive(files: dict[str, bytes]) -> bytes:
    """A cpio archive in the "newc" form, which the kernel unpacks (its documentation, initramfs buffer format)."""
    folders = {str(parent) for name in files for parent in Path(name).parents if str(parent) != "."}
    entries = [(name, stat.S_IFDIR | 0o755, b"") for name in sorted(folders)]
    entries += [(name, stat.S_IFREG | 0o755, data) for name, data in files.items()]
    # The kernel opens it before the script can make it.
    archive = bytearray(_entry(1, "dev", stat.S_IFDIR | 0o755, b"", 0))
    archive += _entry(2, "dev/console", stat.S_IFCHR | 0o600, b"", os.makedev(5, 1))
    for number, (name, mode, data) in enumerate(entries, 3):
        archive += _entry(number, name, mode, data, 0)
    archive += _entry(0, "TRAILER!!!", 0, b"", 0)
    return bytes(archive)


def _entry(number: int, name: str, mode: int, data: bytes, device: int) -> bytes:
    path = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, os.major(device), os.minor(device), len(path), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(head + path) + _padded(data)


def _padded(part: bytes) -> bytes:
    return part + b"\0" * (-len(part) % 4)
