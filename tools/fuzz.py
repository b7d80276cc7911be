"""Runs the fuzzers one after another: libFuzzer on the trace readers, on NBD and on NVMe connections, atheris on the
parsers of jobs, scripts and reports, and the engine on drawn specifications.

usage: fuzz.py [SECONDS] [TARGET...], by default 600 seconds per target. A target is the name of a trace format,
recognised, compressed-traces, nbd, nvme, jobs, scripts, reports or specifications. Results are in out/fuzz/, failing
inputs as crash-TARGET-...; with SSDLAB_FUZZ_KEEP=1 the corpus in fuzz/corpus is rewritten from the results.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from ssdlab.simulator.workloads.traces.recording import formats

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "fuzz/corpus"
OUT = ROOT / "out/fuzz"
PROGRAMS = ROOT / "target/fuzz"
READERS = tuple(format["name"] for format in formats())
RECOGNISED = "recognised"
COMPRESSED = "compressed-traces"
TRACES = (*READERS, RECOGNISED, COMPRESSED)
NBD = "nbd"
NVME = "nvme"
RUST = (*TRACES, NBD, NVME)
TEXTS = ("jobs", "scripts", "reports")
SPECIFICATIONS = "specifications"
DRAWN = "specifications::drawn"
TARGETS = (*RUST, *TEXTS, SPECIFICATIONS)
SECONDS = 600
INPUT_BYTES_MAX = 2048
# A report of smartctl is long before its first write counter.
REPORT_BYTES_MAX = 16384
# Only short inputs are kept, because the corpus is part of the repository.
KEPT_BYTES_MAX = 600
# The flags of a nightly compiler's -Z sanitizer, except the sanitizer itself; a stable compiler accepts these too.
COVERAGE = (
    "--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 -Cllvm-args=-sanitizer-coverage-level=4 "
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table "
    "-Cllvm-args=-sanitizer-coverage-trace-compares"
)


def host() -> str:
    """The machine's target triple. Build scripts are compiled without the flags only if a triple is given."""
    said = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"^host: (\S+)$", said, re.MULTILINE)
    assert found, said
    return found[1]


def command_of(target: str, triple: str) -> list[str]:
    """The program that fuzzes the target, without libFuzzer's arguments."""
    if target in TEXTS:
        # libFuzzer restarts itself to merge, under the name by which it was called, so it needs a script and not just
        # Python.
        program = OUT / f"run-{target}"
        script = f'exec {sys.executable} {ROOT}/fuzz/job_files.py {target} "$0" "$@"'
        program.write_text(f"#!/bin/sh\nPYTHONPATH={ROOT}/python {script}\n")
        program.chmod(0o755)
        return [str(program)]
    return [str(PROGRAMS / triple / "release" / (target if target in (COMPRESSED, NBD, NVME) else "traces"))]


def environment_of(target: str) -> dict[str, str]:
    """The target's environment, which selects the format for the program of all trace readers."""
    return {**os.environ, "SSDLAB_FUZZ_FORMAT": target} if target in READERS else dict(os.environ)


def dictionary(target: str) -> Path:
    """Words of the target's language, for libFuzzer to insert."""
    if target != "jobs":
        return ROOT / "fuzz" / (f"{target}.dict" if target in ("scripts", "reports", NBD, NVME) else "traces.dict")
    from ssdlab.simulator.workloads.jobs import OPTIONS

    path = OUT / "jobs.dict"
    path.write_text("".join(f'"{name}="\n' for option in OPTIONS for name in option.names))
    return path


def kept(target: str) -> list[bytes]:
    """The inputs in the repository."""
    path = CORPUS / f"{target}.hex"
    return [bytes.fromhex(line) for line in path.read_text().splitlines()] if path.exists() else []


def unpack(target: str) -> Path:
    """Writes the kept corpus and other good inputs to a folder, as files."""
    folder = OUT / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    inputs = kept(target)
    if target in TEXTS:
        places = {
            "jobs": "*/**/*.fio",
            "scripts": "*/**/*.files",
            "reports": "tests/hardware/smart/field_sample/reports/*",
        }
        inputs += [path.read_bytes() for path in sorted(ROOT.glob(places[target])) if "out" not in path.parts]
    elif target in TRACES:
        # Inputs for format detection are inputs of each reader too, valid or not.
        inputs += kept(RECOGNISED) if target in READERS else []
        inputs += [b"?" + path.read_bytes() for path in sorted((ROOT / "crates/traces/tests/fixtures").iterdir())]
    for number, content in enumerate(inputs):
        (folder / f"{number:04}").write_bytes(content)
    return folder


def keep(target: str, command: list[str], folders: list[Path]) -> None:
    """Writes the smallest set of short inputs with the same coverage."""
    short, least = OUT / "short" / target, OUT / "least" / target
    for folder in (short, least):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
    found = {path.read_bytes() for folder in folders for path in folder.iterdir()}
    for number, content in enumerate(sorted(content for content in found if len(content) <= KEPT_BYTES_MAX)):
        (short / str(number)).write_bytes(content)
    merge = [*command, "-set_cover_merge=1", "-use_counters=0", str(least), str(short)]
    subprocess.run(merge, check=True, capture_output=True, env=environment_of(target))
    lines = {path.read_bytes().hex() for path in least.iterdir()}
    assert lines, f"{target}: nothing is left of {len(found)} inputs"
    text = "".join(f"{line}\n" for line in sorted(lines, key=lambda line: (len(line), line)) if line)
    (CORPUS / f"{target}.hex").write_text(text)
    print(f"{target}: kept {len(lines)} inputs")


def fuzz(target: str, seconds: int, triple: str) -> bool:
    """Fuzzes the target for this time and prints the result. Returns False if an input failed."""
    found = OUT / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    seeds = unpack(target)
    command = command_of(target, triple)
    limits = [
        f"-max_total_time={seconds}",
        f"-max_len={REPORT_BYTES_MAX if target == 'reports' else INPUT_BYTES_MAX}",
        "-timeout=20",
        "-rss_limit_mb=1500",
    ]
    options = [f"-dict={dictionary(target)}", f"-artifact_prefix={OUT}/crash-{target}-", "-print_final_stats=1"]
    log = OUT / f"{target}.log"
    with log.open("w") as output:
        arguments = [*command, *limits, *options, str(found), str(seeds)]
        ended = subprocess.run(arguments, stdout=output, stderr=subprocess.STDOUT, env=environment_of(target))
    text = log.read_text(errors="replace")
    done = re.findall(r"#(\d+)\s+DONE\s+cov: (\d+)", text)
    if ended.returncode != 0 or not done:
        print(f"{target}: failed; see {log.relative_to(ROOT)}\n{text[-2000:]}")
        return False
    print(f"{target}: {int(done[-1][0]):,} inputs in {seconds} s, {int(done[-1][1]):,} edges reached, nothing broke")
    if os.environ.get("SSDLAB_FUZZ_KEEP"):
        keep(target, command, [found, seeds])
    return True


def draw(seconds: int) -> bool:
    """Draws specifications for this time and runs them, other ones each time. Returns False if one failed."""
    test = [
        "cargo",
        "test",
        "--release",
        "--locked",
        "-p",
        "ssdlab-engine",
        "--test",
        "engine",
        DRAWN,
        "--",
        "--nocapture",
    ]
    seed = int(time.time())
    numbers = {"PROPTEST_CASES": str(2**31), "PROPTEST_RNG_SEED": str(seed), "SSDLAB_FUZZ_SECONDS": str(seconds)}
    # As fast as a release, and with all assertions.
    checks = ("DEBUG_ASSERTIONS", "OVERFLOW_CHECKS")
    numbers |= {f"CARGO_PROFILE_RELEASE_{check}": "true" for check in checks} | {"CARGO_TARGET_DIR": str(PROGRAMS)}
    log = OUT / f"{SPECIFICATIONS}.log"
    with log.open("w") as output:
        ended = subprocess.run(test, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, env=os.environ | numbers)
    text = log.read_text(errors="replace")
    if ended.returncode != 0:
        print(f"{SPECIFICATIONS}: failed, seed {seed}; see {log.relative_to(ROOT)}\n{text[-2000:]}")
        return False
    drawn = re.search(r"(\d+) drawn, (\d+) of them with an outcome", text)
    if not drawn:
        print(f"{SPECIFICATIONS}: no test ran; see {log.relative_to(ROOT)}")
        return False
    print(f"{SPECIFICATIONS}: {int(drawn[1]):,} drawn in {seconds} s, {int(drawn[2]):,} with an outcome, nothing broke")
    return True


def main() -> None:
    """Builds the fuzzers and runs the targets. Exits with code 1 if an input failed."""
    words = sys.argv[1:]
    seconds = int(words.pop(0)) if words and words[0].isdigit() else SECONDS
    targets = words or list(TARGETS)
    unknown = [target for target in targets if target not in TARGETS]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: no such target; there are {', '.join(TARGETS)}")
    OUT.mkdir(parents=True, exist_ok=True)
    triple = host()
    if any(target in RUST for target in targets):
        build = ["cargo", "build", "--release", "--locked", "--target", triple]
        flags = {"RUSTFLAGS": COVERAGE, "CARGO_TARGET_DIR": str(PROGRAMS)}
        subprocess.run(build, cwd=ROOT / "fuzz", check=True, env=os.environ | flags)
    # All of them, even if the first fails.
    passes = [draw(seconds) if target == SPECIFICATIONS else fuzz(target, seconds, triple) for target in targets]
    sys.exit(0 if all(passes) else 1)


if __name__ == "__main__":
    main()
