"""Do fio and ssdlab agree on valid job files? Compared with fio itself (3.33)."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import load

FIO = shutil.which("fio") or ""
pytestmark = pytest.mark.skipif(not FIO, reason="fio is not installed")

ACCEPTED = [
    "[a]\nthinktime=1\nthinktime_iotime=1s\nthinktime_blocks_type=issue\nrate=1m\nrate_ignore_thinktime=1\n",
    "[a]\niodepth=8\niodepth_low=2\niodepth_batch_complete_min=4\n[b]\nexitall\nexit_what=stonewall\n",
    "[a]\nzonemode=strided\nzonesize=64k\nzonerange=128k\nzoneskip=1m\n[b]\nzonemode=none\nzoneskip=8k\n",
    "[a]\nzonemode=zbd\nzonesize=1m\nzonecapacity=512k\nmax_open_zones=4\nzone_reset_threshold=0.5\n",
    "[a]\nzonemode=zbd\nzonesize=1m\njob_max_open_zones=4\nzone_reset_frequency=0.1\nread_beyond_wp=1\n",
    "[a]\nzonecapacity=1m\n",
    "[a]\nbs=4k,64k\nbs_is_seq_rand=1\n",
    "[a]\nrw=randwrite:8\n",
    "[a]\nthreads=1\n[b]\nthread\n",
    "[a]\nbsrange=4k-64k\n",
    "[a]\nbs=4k-8k\n[b]\nrate=1m:2m\n[c]\nrw=write\nverify=md5\ndo_verify=0\nverify_interval=4k\n",
    "[a]\nrw=write\nfill_device=1\n[b]\nzonemode=zbd\nzonesize=1m\nsize=16z\noffset=2z\nio_size=3z\n",
    "[a]\nrw=randwrite\nsize=1m\n",
    "[a]\n[b]\n",
    "[global]\nbs=4k\n[a]\nreadwrite=randtrimwrite\n",
    "[globally]\nbs=8k\n[a]\nstonewall=0\n",
    "; only\n# comments\n[a] ; and one more\n  rw=read   # here\n",
    "[a]\nstonewall\nthread=0\nnorandommap=2\ngroup_reporting\n",
    "[a]\nbs=,8k,\nba=4k\nbssplit=4k/50:8k/,,64k\n",
    "[a]\nkb_base=1000\nbs=512,1024\nsize=50%\noffset=25%\nio_size=10%\n",
    "[a]\niodepth=1k\nloops=0\nnumber_ios=0\nrandseed=0x89\n",
    "[a]\nrandom_distribution=zoned:50/5:30/15:20/\n",
    "[a]\nrandom_distribution=zipf:1.2:0.25\n[b]\nrandom_distribution=pareto:0.3:1\n",
    "[a]\nrandom_distribution=normal\n[b]\nrandom_distribution=normal:10:0.3\n",
    "[a]\nrandom_distribution=zoned_abs:60/20g:40/100g\n",
    "[a]\nrw=randread:8\nrw_sequencer=identical\npercentage_random=,20\n[b]\nrw=write:4k\n[c]\nrw=read:-8k\n",
    "[a]\nbsrange=4k-64k,,16k:8k\nbs_unaligned\n[b]\nbsrange=64k-4k\nbs_unaligned=1\n",
    "[a]\noffset_increment=10%\noffset_align=8k\n[b]\noffset_increment=1m\noffset=5%\n",
    "[a]\nnrfiles=4\nfilesize=1m\n[b]\nnr_files=2\nfilesize=2m-1m\nfile_service_type=random:8\n",
    "[a]\nfilename=a:b\\:c\nfile_service_type=zipf:1.2:0.5\n[b]\nfile_service_type=gauss:10\n",
    "[a]\nfile_service_type=sequential\n[b]\nfile_service_type=roundrobin:2\n[c]\nfile_service_type=pareto\n",
    "[a]\nrandom_generator=lfsr\nallrandrepeat=1\n[b]\nrandom_generator=tausworthe64\n",
    "[a]\nsize=8*$pagesize\nnumjobs=$ncpus\ndescription=x${NOT_SET}y\n",
    "[a]\nblocksize_range=4k-8k\nio_limit=50%\nfileoffset=4k\nwait_for_previous\nblocksize_unaligned=0\n",
    "[a]\nruntime=5sec\nramp_time=10 ms\n",
    "[a]\nrandom_distribution=zipf\nrate=0\nverify=0\nthinktime=0\n",
    "[a]\nruntime=60s\ntime_based\nramp_time=5\nwrite_bw_log\n",
    "[a]\nrate=1m,\nrate_iops=,500\nrate_process=poisson\n[b]\nwait_for=a\nstartdelay=5-10\n",
    "[a]\nthinktime=1ms\nthinktime_spin=5\nthinktime_blocks=1k\nfsync=32\nsync=dsync\nrw=write\n",
    "[a]\nioengine=sync\nwait_for_previous\nfill_fs=0\nunified_rw_reporting=mixed\n",
]
REFUSED = [
    "bs=4k\n",
    "[a]\nrw=rand\n",
    "[a]\nrw\n",
    "[a]\nreadwrit=read\n",
    "[a]\nBS=4k\n",
    "[a]\nbs\n",
    "[a]\nbs=\n",
    "[a]\nbs=0\n",
    "[a]\nbs=x\n",
    "[a]\n=4k\n",
    "[a]\niodepth=0\n",
    "[a]\niodepth=many\n",
    "[a]\nstonewall=x\n",
    "[a]\nrandrepeat\n",
    "[a]\nrandrepeat=2\n",
    "[a]\nrwmixread=101\n",
    "[a]\nkb_base=7\n",
    "[a]\nthreads\n",
    "[a]\nport=8765\n",
    "[a]\nsize=x\n",
    "[a]\nio_size=200%\n",
    "[a]\nruntime=soon\n",
    "[a]\nrandseed=x\n",
    "[a]\nrandom_distribution=gauss\n",
    "[a]\nrandom_distribution=zipf:x\n",
    "[a]\nrandom_distribution=zipf:1.2:2\n",
    "[a]\nrandom_distribution=zipf:1.2,0.8\n",
    "[a]\nrandom_distribution=gauss:10\n",
    "[a]\nrandom_distribution=normal:100\n",
    "[a]\nrandom_distribution=zoned_abs:60/20g:30/100g\n",
    "[a]\nrandom_distribution=zoned_abs=60/20g:40/100g\n",
    "[a]\nrw_sequencer=ident\n",
    "[a]\npercentage_random=101\n",
    "[a]\nbsrange=4k\n",
    "[a]\nfile_service_type=foo\n",
    "[a]\nrandom_generator=mt\n",
    "[a]\niodept=4\n",
    "[a]\nsize=${NOT_SET}\n",
    "[a]\nbs=$pagesize*2,8k\n",
    "[a]\nbs=(4*1024\n",
    "[a]\nzipf_like_fio=2\n",
    "[globally]\nfoo=1\n[a]\n",
    "[a]\ndirect=yes\n",
    "[a]\ndescription=\n",
]
# fio accepts these and then ignores them or does something else.
ACCEPTED_BY_FIO_ALONE = [
    "",
    "[global]\nbs=4k\n",
    "[a\nbs=4k\n",
    "[a]\nbs=4kfoo\n",
    "[a]\ninclude missing.fio\n",
    "[a]\nsize=1.5g\n",
    "[a]\nsize=-5\n",
    "[a]\nbs=512,512,512,512\n",
    "[a]\nbssplit=4k/60:8k/60\n",
    "[a]\nsize=150%\n",
    "[a]\nnumjobs=0\n",
    # Valid in fio, and rejected here because the run would mean something else.
    "[a]\nignore_zone_limits=1\n",
    "[a]\nthinktime_blocks=0\n",
    "[a]\nstartdelay=-1\n",
    "[a]\nthinktime=-1\n",
    "[a]\nrw=write\nverify=crc32c\n",
    "[a]\nrw=randwrite\nread_iolog=trace.log\n",
    "[a]\nioengine=net\nhostname=localhost\nport=8765\n",
    "[a]\nioengine=cpuio\ncpuload=50\n",
    # fio reads a value other than the one written, for example only the leading number.
    "[a]\nrandom_distribution=zipf:1.2/0.25\n",
    "[a]\nrandom_distribution=zipf:-1\n",
    "[a]\nrandom_distribution=zoned_abs:60/20g:40\n",
    "[a]\nrw=randread:x\n",
    "[a]\nrw=randread:0\n",
    "[a]\nrw=randread:4k\n",
    "[a]\nrw=read:x\n",
    "[a]\nrw=read:4\n",
    "[a]\nbsrange=4k-64k/8k-16k\n",
    "[a]\nbsrange=4k-64k,8k\n",
    "[a]\nfile_service_type=random:x\n",
    "[a]\nnrfiles=0\n",
]
# In fio's manual but rejected by fio 3.33; and ssdlab's own options.
ACCEPTED_BY_US_ALONE = [
    # fio accepts expressions where it was built with a parser of them, as Debian's is not.
    "[a]\nbs=(4*1024)\n",
    "[a]\nsteadystate=snia-pts:iops\nss_dur=5m\n[b]\nss=snia-pts:bw\n",
    "[a]\nfdp=1\nplids=0,2\nplid_select=random\n",
    "[a]\nrandom_distribution=zoned:90/10:10/90,50/50:50/50\n",
    "[a]\nrandom_distribution=zoned_abs:100/1g,100/2g\n",
    "[a]\nzipf_like_fio=1\n",
    "[a]\nthinkcycles=1000\nverify_write_sequence=0\n",
    "[a]\nioengine=spdk\nspdk_json_conf=x\n",
]


def fio_accepts(*paths: Path) -> bool:
    """Whether fio accepts all of the files; one start of fio, which takes a sixth of a second, for all of them."""
    return subprocess.run([FIO, "--parse-only", *map(str, paths)], capture_output=True, check=False).returncode == 0


def we_accept(path: Path) -> bool:
    try:
        load(path)
    except InputError:
        return False
    return True


@pytest.mark.parametrize(
    ("texts", "by_fio", "by_us"),
    [
        (ACCEPTED, True, True),
        (REFUSED, False, False),
        (ACCEPTED_BY_FIO_ALONE, True, False),
        (ACCEPTED_BY_US_ALONE, False, True),
    ],
    ids=["both", "neither", "fio-alone", "we-alone"],
)
def test_what_is_accepted(tmp_path: Path, texts: list[str], by_fio: bool, by_us: bool) -> None:
    paths = [tmp_path / f"{place}.fio" for place in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    if by_fio and fio_accepts(*paths):
        judged = [True] * len(paths)
    else:
        with ThreadPoolExecutor(4) as pool:
            judged = list(pool.map(fio_accepts, paths))
    for path, text, fios in zip(paths, texts, judged, strict=True):
        assert (fios, we_accept(path)) == (by_fio, by_us), text


def test_an_option_of_an_engine_that_is_not_offered_says_so(tmp_path: Path) -> None:
    path = tmp_path / "net.fio"
    path.write_text("[a]\nioengine=net\nport=8765\n")
    with pytest.raises(InputError, match=r"line 3: port=8765: .*fio's engines net, netsplice and rdma.*not supported"):
        load(path)


def test_the_shipped_files_are_fios_too() -> None:
    files = sorted((Path(__file__).parents[4] / "jobs").glob("*.fio"))
    assert files
    assert fio_accepts(*files)
