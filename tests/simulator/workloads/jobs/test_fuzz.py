"""Does any change to a valid job file or script give jobs or a user error? See fuzz/README.md."""

import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads import filesystem, jobs

ROOT = Path(__file__).parents[4]
CORPUS = ROOT / "fuzz/corpus"
RUNS = int(os.environ.get("SSDLAB_FUZZ_RUNS", "1000"))
SEEDS_MAX = 1000
GIB = 1 << 30

OPTIONS = [f"{name}=" for option in jobs.OPTIONS for name in option.names]
VALUES = ["0", "1", "-1", "4k", "99999999999999999999", "50%", "1g", "randwrite", "zipf:1.1", "1:2:3"]
VALUES += ["a,b", "=", "%", ":"]
SCRIPT = (
    "mkfs 80%\nmount discard\nwrite a 10MiB count=3\nappend a.0 1MiB\noverwrite a.* 2MiB random bs=8KiB fsync=4\n"
    "cp a.* copies/\nrm copies/a.1\nfstrim\nresize 512MiB\nsleep 1.5s\nrepeat 3 read a.2 bs=4KiB depth=2\n"
    "sysbench fileio --file-total-size=16M --file-num=4 prepare\n"
    "sysbench fileio --file-total-size=16M --file-num=4 --file-test-mode=rndrw --events=100 run\n"
)


def changed(seeds: list[str], words: list[str], chance: random.Random) -> str:
    text = chance.choice(seeds)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(text))
        end = min(len(text), at + chance.randint(0, 12))
        text = chance.choice(
            (
                text[:at] + text[end:],
                text[:at] + chance.choice(words) + text[end:],
                text[:at] + text[at:end] * 3 + text[end:],
                text[:at] + chr(chance.choice((10, 32, 44, 47, 58, 61, 91, 93, 0x2028, 0x1F600))) + text[at:],
                text[:at] + "\n" + chance.choice(words) + chance.choice(VALUES) + "\n" + text[at:],
                text[:at] + chance.choice(seeds)[at:],
            )
        )[:3000]
    return text


def outcome(parse: Callable[[str], Any], text: str) -> str:
    """The kind of result, without its numbers and names."""
    try:
        found = parse(text).resolve(GIB, seed=1)
    except InputError as error:
        return re.sub(r"'[^']*'|[0-9]+|=\S*", "", str(error))[:100]
    return f"{min(len(found), 9)} jobs, {sorted({key for job in found for key in job})}"


def kept(target: str) -> list[str]:
    """The inputs kept from fuzzing: one per line, in hexadecimal."""
    lines = (CORPUS / f"{target}.hex").read_text().splitlines()
    return [bytes.fromhex(line).decode("utf-8", errors="replace") for line in lines]


@pytest.mark.parametrize(("target", "parse"), [("jobs", jobs.parse), ("scripts", filesystem.parse)])
def test_any_change_gives_jobs_or_an_input_error(target: str, parse: Callable[[str], Any]) -> None:
    chance = random.Random(20)
    shipped = [path.read_text() for path in sorted((ROOT / "jobs").glob("*.fio"))] if target == "jobs" else [SCRIPT]
    seeds = [*shipped, *kept(target)]
    words = OPTIONS if target == "jobs" else [*SCRIPT.split(), "9TiB", "0", "--file-num=0", "'"]
    seen = {outcome(parse, seed) for seed in seeds}
    assert len(seen) > 30
    for _ in range(RUNS):
        text = changed(seeds, words, chance)
        what = outcome(parse, text)
        if what not in seen and len(seeds) < SEEDS_MAX:
            seen.add(what)
            seeds.append(text)
