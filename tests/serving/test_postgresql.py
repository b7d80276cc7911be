"""PostgreSQL on a mounted drive: the effect of pgbench is visible in the statistics, and its checksums find no
error."""

import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from own_devices import needs
from running_drives import MountMaker

pytestmark = [pytest.mark.fuse, pytest.mark.loop]

USER = "postgres"


def has_user() -> bool:
    return any(entry.pw_name == USER for entry in pwd.getpwall())


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the database's user can enter; a test's usual folder is accessible only to root."""
    place = Path(tempfile.mkdtemp(prefix="ssdlab-"))
    place.chmod(0o755)
    (place / "files").mkdir()
    yield place
    subprocess.run(["umount", place / "files"], capture_output=True)
    shutil.rmtree(place)


def run(*command: str | Path, user: str | None = None) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, user=user, cwd="/")
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@needs("initdb", "pg_ctl", "pgbench", "psql", "mkfs.ext4", "losetup")
@pytest.mark.skipif(not has_user(), reason=f"no user {USER}")
def test_pgbench_on_a_mounted_drive(mount: MountMaker, folder: Path) -> None:
    mounted = mount("--loop")
    assert mounted.loop is not None
    files = folder / "files"
    run("mkfs.ext4", "-q", "-E", "nodiscard", mounted.loop)
    run("mount", mounted.loop, files)
    run("mountpoint", "-q", files)
    data = files / "data"
    data.mkdir()
    shutil.chown(data, USER)
    run("initdb", "--pgdata", data, "--data-checksums", "--no-sync", "--auth=trust", user=USER)
    (data / "postgresql.auto.conf").write_text(
        f"unix_socket_directories = '{data}'\nlisten_addresses = ''\nmax_wal_size = '64MB'\nshared_buffers = '16MB'\n"
    )
    run("pg_ctl", "--pgdata", data, "--wait", "--log", data / "log", "start", user=USER)
    try:
        client = ("--host", data, "--username", USER)
        run("pgbench", "--initialize", "--scale=2", "--quiet", *client, USER)
        mounted.command("mark pgbench")
        run("pgbench", "--client=4", "--time=3", "--no-vacuum", *client, USER)
        query = "select (select sum(abalance) from pgbench_accounts) = (select sum(bbalance) from pgbench_branches)"
        # Verifies the checksum of every page read.
        assert run("psql", "--tuples-only", "--no-align", *client, "--command", query, USER).strip() == "t"
        failures = "select sum(checksum_failures) from pg_stat_database"
        assert run("psql", "--tuples-only", "--no-align", *client, "--command", failures, USER).strip() in ("0", "")
    finally:
        run("pg_ctl", "--pgdata", data, "--wait", "--mode=fast", "stop", user=USER)
    phase = mounted.statistics()["jobs"][-1]
    assert phase["jobname"] == "pgbench"
    assert phase["ssdlab"]["host"]["written_bytes"] > 1 << 20
    assert phase["ssdlab"]["waf"] >= 1
    run("umount", files)
    run("fsck.ext4", "-f", "-n", mounted.loop)
