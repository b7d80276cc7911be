"""Does the parser read fio's language, and reject the rest with the line, the value and the allowed values?"""

from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import OPTIONS, Effect, load, parse
from ssdlab.simulator.workloads.jobs.access import IODEPTH
from ssdlab.simulator.workloads.jobs.distributions import AbsoluteZone, Distribution, Zone, distribution
from ssdlab.simulator.workloads.jobs.patterns import LengthRange, SizeShare, size_mix
from ssdlab.simulator.workloads.jobs.table import BS, BSSPLIT, NORANDOMMAP, RW, RWMIXREAD
from ssdlab.simulator.workloads.jobs.values import (
    Amount,
    PerDirection,
    Refused,
    amount,
    byte_count,
    per_direction,
    whole_number,
)


@pytest.mark.parametrize(
    ("text", "kilobyte", "expected"),
    [
        ("512", 1024, 512),
        ("4k", 1024, 4096),
        ("4K", 1024, 4096),
        ("4kb", 1024, 4096),
        ("4ki", 1024, 4096),
        ("4k", 1000, 4000),
        ("4kib", 1024, 4000),
        ("4KiB", 1000, 4096),
        ("1g", 1024, 1 << 30),
        ("2GiB", 1000, 2 << 30),
        ("1t", 1024, 1 << 40),
        ("3P", 1000, 3 * 10**15),
        ("0x1000", 1024, 4096),
        ("+8k", 1024, 8192),
        ("100b", 1024, 100),
    ],
)
def test_units_are_those_of_fio(text: str, kilobyte: int, expected: int) -> None:
    assert byte_count(text, kilobyte) == expected


@pytest.mark.parametrize(
    "text", [None, "", "k", "-4k", "1.5k", "4 k", "4kx", "4x", "1e6", "2*4k", "99999999999p", "٤k"]
)
def test_what_is_not_a_size_is_refused(text: str | None) -> None:
    with pytest.raises(Refused):
        byte_count(text, 1024)


def test_amounts_may_be_percentages() -> None:
    assert amount("50%", 1024) == Amount(percent=50)
    assert amount("1m", 1024) == Amount(size_bytes=1 << 20)
    for wrong in ("101%", "%", "1.5%", "-1%"):
        with pytest.raises(Refused):
            amount(wrong, 1024)


def test_values_by_direction() -> None:
    parse_all = per_direction(byte_count)
    assert parse_all("4k", 1024) == PerDirection(4096, 4096, 4096)
    assert parse_all("4k,8k", 1024) == PerDirection(4096, 8192, 8192)
    assert parse_all("4k,8k,16k", 1024) == PerDirection(4096, 8192, 16384)
    assert parse_all("8k,", 1024) == PerDirection(8192, None, None)
    assert parse_all(",8k,", 1024) == PerDirection(None, 8192, None)
    for wrong in (",,", "4k,8k,16k,32k", "4k-8k,16k"):
        with pytest.raises(Refused):
            parse_all(wrong, 1024)


def test_an_empty_part_of_bs_keeps_what_was_inherited() -> None:
    (job,) = parse("[global]\nbs=16k\n[a]\nbs=8k,\n").sections
    assert job.get(BS) == PerDirection(LengthRange(8192, 8192), LengthRange(16384, 16384), LengthRange(16384, 16384))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k/60:8k/40", ((4096, 60), (8192, 40))),
        ("4k:8k", ((4096, 50), (8192, 50))),
        ("4k/50:8k/:16k", ((4096, 50), (8192, 25), (16384, 25))),
        ("4k/0:8k/50", ((4096, 50), (8192, 50))),
        ("4k/50:8k/20", ((4096, 80), (8192, 20))),
        ("4k:8k:16k", ((4096, 33), (8192, 33), (16384, 34))),
        ("4k/100:8k", ((4096, 100),)),
        ("4k/100:", ((4096, 100),)),
    ],
)
def test_shares_left_out_divide_the_rest(text: str, expected: tuple[tuple[int, int], ...]) -> None:
    entries = tuple(SizeShare(*entry) for entry in expected)
    assert size_mix(text, 1024) == PerDirection(entries, entries, entries)


def test_size_mixes_by_direction() -> None:
    mix = size_mix("4k/50:8k/50,,64k", 1024)
    assert [len(entries) for entries in (mix.read, mix.write, mix.trim)] == [2, 0, 1]


@pytest.mark.parametrize(
    "text", ["4k/60:8k/60", "4k/101", "4k/x", "x/50", ":4k", "4k::8k", ",", "4k,4k,4k,4k", "0/100"]
)
def test_wrong_size_mixes_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        size_mix(text, 1024)


def zoned(*zones: tuple[int, int]) -> Distribution:
    each = tuple(Zone(*zone) for zone in zones)
    return Distribution("zoned", zones=PerDirection(each, each, each))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("random", Distribution()),
        ("zipf", Distribution("zipf", 1.1)),
        ("zipf:0.8", Distribution("zipf", 0.8)),
        ("zipf:0.8:0.25", Distribution("zipf", 0.8, 0.25)),
        ("zipf::0", Distribution("zipf", 1.1, 0.0)),
        ("pareto:0.3:1", Distribution("pareto", 0.3, 1.0)),
        ("normal", Distribution("normal", 0.0)),
        ("normal:10:0.5", Distribution("normal", 10.0, 0.5)),
        ("zoned:90/10:10/90", zoned((90, 10), (10, 90))),
        ("zoned:50/5:30/15:20/", zoned((50, 5), (30, 15), (20, 80))),
        ("zoned:50/5:30/15:20/80", zoned((50, 5), (30, 15), (20, 80))),
        ("zoned:50/5:30/15:20", zoned((50, 5), (30, 15), (20, 80))),
        ("zoned:100/10:0/90", zoned((100, 10), (0, 90))),
    ],
)
def test_distributions(text: str, expected: Distribution) -> None:
    assert distribution(text, 1024) == expected


def test_zones_by_direction() -> None:
    found = distribution("zoned:90/10:10/90,100/100", 1024).zones
    assert found is not None
    assert (found.read, found.write) == ((Zone(90, 10), Zone(10, 90)), (Zone(100, 100),))
    assert found.trim == found.write
    absolute = distribution("zoned_abs:60/20g:0/1g:40/100m,100/1m,100/2m", 1024).absolute_zones
    assert absolute is not None
    assert absolute.read == (AbsoluteZone(60, 20 << 30), AbsoluteZone(0, 1 << 30), AbsoluteZone(40, 100 << 20))
    assert (absolute.write[0].span_bytes, absolute.trim[0].span_bytes) == (1 << 20, 2 << 20)


@pytest.mark.parametrize(
    "text",
    [
        "zipf:1",
        "zipf:-1",
        "zipf:nan",
        "zipf:1e999",
        "zipf:1.2/0.5",
        "zipf:1.2:0.5:0.5",
        "zipf:1.2:2",
        "zipf:1.2,0.8",
        "random:1",
        "pareto:0",
        "pareto:1",
        "normal:100",
        "zoned",
        "zoned:",
        "zoned:90/10",
        "zoned:60/50:60/50",
        "zoned:50/60:50/60",
        "zoned:50/100:50/",
        "zoned:x/5",
        "zoned:100/100,",
        "zoned:100/100,,100/100",
        "zoned:100/100,100/100,100/100,100/100",
        "zoned_abs:60/20g",
        "zoned_abs:60/20g:40",
        "zoned_abs:100/0",
        "gauss",
    ],
)
def test_wrong_distributions_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        distribution(text, 1024)


def test_global_sections_hold_for_those_after_them() -> None:
    text = """
    ; a comment
    [global]
    rw=randwrite   # another
    iodepth = 8
    [first]
    norandommap
    [global]
    iodepth=16
    [second]
    readwrite=randrw
    rwmixwrite=30
    """
    file = parse(text)
    first, second = file.sections
    assert (first.name, first.get(RW).direction, first.get(IODEPTH), first.get(NORANDOMMAP)) == (
        "first",
        "write",
        8,
        True,
    )
    assert (second.get(RW).direction, second.get(IODEPTH), second.get(NORANDOMMAP)) == ("read-write", 16, False)
    assert second.get(RWMIXREAD) == 50
    assert file.global_options == {"rw": "randwrite", "iodepth": "16"}
    assert second.options == {"rw": "randrw", "rwmixwrite": "30"}
    assert first.options == {"norandommap": ""}


@pytest.mark.parametrize("name", [" global ", "Global"])
def test_a_section_that_only_reads_like_global_is_a_job(name: str) -> None:
    """`[ global ]` gave its options to all jobs. In fio blanks are part of a name, and it is a job."""
    file = parse(f"[{name}]\ndirect=1\nioengine=libaio\niodepth=8\n[a]\ndirect=1\n", "mine.fio")
    assert [(section.name, section.get(IODEPTH)) for section in file.sections] == [(name, 8), ("a", 1)]
    (note,) = file.notes(timed=True)
    assert note.startswith(f"mine.fio, line 1: [{name}] is a job, as in fio, and its options are its own")
    assert not parse("[global ]\ndirect=1\n[a]\n").notes(timed=True)


def test_name_and_group_reporting() -> None:
    file = parse("[global]\nname=all\n[a]\nname=bee\ngroup_reporting\n[c]\n")
    assert [section.name for section in file.sections] == ["bee", "c"]
    assert file.group_reporting("bee") and not file.group_reporting("c")
    assert file.options_of("bee") == {"name": "bee", "group_reporting": ""}
    assert file.options_of("elsewhere") == {}


def test_the_kilobyte_holds_wherever_it_stands_in_its_section() -> None:
    (job,) = parse("[a]\nbssplit=64kib\nkb_base=1000\n").sections
    assert job.get(BSSPLIT).read == (SizeShare(65536, 100),)


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "windows.fio"
    path.write_bytes(b"\xef\xbb\xbf[a]\r\nrw=randread\r\n\r\n")
    assert load(path).sections[0].get(RW).direction == "read"


def test_what_is_left_aside_is_said_once() -> None:
    file = parse("[global]\ndirect=1\nioengine=libaio\n[a]\nthread\ndirect=0\n[b]\ndirect=1\nruntime=60s\ntime_based\n")
    assert file.notes(timed=False) == (
        "ignored, not applicable to a simulated drive: thread (line 5)",
        "without direct=1, fio sends the requests (of a) through the page cache; here each goes to the drive itself",
        "acts with a clock only; in an untimed run the job's amount is size/io_size: "
        "runtime (line 9), time_based (line 10)",
    )


def test_nothing_is_said_of_options_that_act() -> None:
    file = parse("[a]\ndirect=1\nrw=randwrite\nsize=1g\ngroup_reporting\ndescription=some text\nrate=0\nverify=0\n")
    assert file.notes(timed=False) == ()


def test_a_blank_that_fio_would_stumble_over_is_noted() -> None:
    (note,) = parse("[a]\nbs = 4k\ndirect=1\n").notes(timed=True)
    assert "line 2" in note


def test_a_percentage_that_fio_misreads_is_noted() -> None:
    """Measured with fio 3.33: rwmixread=70% and rwmixwrite=30% both only read, and rwmixwrite=30 % is 30."""
    (note,) = parse("[a]\nrw=randrw\nrwmixread=70%\ndirect=1\n").notes(timed=True)
    assert note.endswith("misreads one with its sign, and such a job only reads: rwmixread=70% (line 3)")
    assert not parse("[a]\nrw=randrw\nrwmixwrite=30 %\ndirect=1\n").notes(timed=True)


def test_a_time_that_fio_misreads_is_noted() -> None:
    """Measured with fio 3.33: runtime=2 m runs for 2 s, runtime=500 ms for 500 s, runtime=2sec ends at once, and
    thinktime=1 ms pauses for 1 us. Without a word all were taken as their units say."""
    (note,) = parse("[a]\nruntime=2 m\nramp_time=2sec\nthinktime=1 ms\nmax_latency=5 ms\ndirect=1\n").notes(timed=True)
    assert note.endswith(
        ": runtime=2 m (line 2), ramp_time=2sec (line 3), thinktime=1 ms (line 4), max_latency=5 ms (line 5)"
    )
    assert not parse("[a]\nruntime=60 s\nthinktime=10 us\nramp_time=5s\ndirect=1\n").notes(timed=True)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[a]\nrate=10MB/s\n", ("x.fio, line 2: rate=10MB/s", "a whole number of bytes with k, m, g")),
        ("[a]\n\nrw=randwrit\n", ("x.fio, line 3", "rw=randwrit", "randwrite")),
        ("[a]\niodept=4\n", ("x.fio, line 2", "'iodept'", "'iodepth'")),
        ("[a]\nzzzzzz=4\n", ("x.fio, line 2", "'zzzzzz'", "--cmdhelp")),
        ("[a]\niodepth=0\n", ("x.fio, line 2", "iodepth=0", "from 1 to")),
        ("[a]\nbs=\n", ("x.fio, line 2", "a value")),
        ("[a]\nbs\n", ("x.fio, line 2", "a value")),
        ("[a]\nbs=1000\ndirect=1\n", ("x.fio, line 2", "multiple of 512")),
        ("[a]\nbs=4kib\ndirect=1\n", ("x.fio, line 2", "4,000 bytes to fio", "kb_base")),
        (
            "[a]\nignore_zone_limits=1\n",
            ("x.fio, line 2", "ignore_zone_limits=1", "not supported on the simulated drive", "beyond its limits"),
        ),
        ("[a]\nsize=${NOT_SET}\n", ("x.fio, line 2", "size=", "NOT_SET is not set")),
        ("[a]\ninclude other.fio\n", ("x.fio, line 2", "no such file")),
        ("[a]\nfilename=/dev/a::/dev/b\n", ("x.fio, line 2", "single colons")),
        ("[a]\nbssplit=4k/60:8k/60\n", ("x.fio, line 2", "at most 100, not to 120")),
        ("[a\nbs=4k\n", ("x.fio, line 1", "brackets")),
        ("bs=4k\n[a]\n", ("x.fio, line 1", "before the first section")),
        ("[a]\n=4\n", ("x.fio, line 2", "no option name")),
        ("", ("x.fio", "no section")),
        ("# only a comment\n", ("x.fio", "no section")),
        ("[global]\nbs=4k\n", ("x.fio", "no job")),
    ],
)
def test_errors_say_where_and_what_is_allowed(text: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, "x.fio")
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.fio"
    binary.write_bytes(b"[a]\n\x7fELF\x00\x00")
    latin = tmp_path / "latin.fio"
    latin.write_bytes(b"[a]\n# caf\xe9\n")
    large = tmp_path / "large.fio"
    large.write_bytes(b"#" * (2 << 20))
    for path, part in (
        (tmp_path, "cannot be read"),
        (tmp_path / "missing.fio", "No such file"),
        (binary, "line 2: is not text"),
        (latin, "line 2: is not text"),
        (large, "is larger than"),
        (Path("/dev/zero"), "is larger than"),
    ):
        with pytest.raises(InputError, match=part) as caught:
            load(path)
        assert str(path) in str(caught.value)


def test_every_option_is_named_once_and_described() -> None:
    names = [name for option in OPTIONS for name in option.names]
    assert len(names) == len(set(names))
    for option in OPTIONS:
        assert option.meaning, option.name
        assert not option.neutral or option.effect is Effect.UNSUPPORTED, option.name
        assert bool(option.reason) == (option.effect is Effect.UNSUPPORTED), option.name


def test_counts_have_bounds() -> None:
    parse_count = whole_number(1, 10)
    assert parse_count("10", 1024) == 10
    for wrong in ("0", "11", "1k", "many"):
        with pytest.raises(Refused, match="from 1 to 10"):
            parse_count(wrong, 1024)


@pytest.mark.parametrize("line", ["diskspd.exe -b4K -d60 -o32 -t4 -r -w100 -c10G testfile.dat", "ioping -RD /dev/sda"])
def test_a_call_of_another_benchmark_is_named_as_such(line: str) -> None:
    with pytest.raises(InputError, match=r"(diskspd|ioping) is another benchmark.*as a call of fio, such as: fio --"):
        parse(line)
