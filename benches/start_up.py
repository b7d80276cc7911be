"""How long does `ssdlab --help` take as a whole process? Prints one JSON object: the median of eleven runs."""

import json
import statistics
import subprocess
import sys
import time


def seconds_of(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    python = [sys.executable, "-c", "pass"]
    ssdlab = [sys.executable, "-m", "ssdlab", "--help"]
    seconds_of(ssdlab)
    pairs = [(seconds_of(ssdlab), seconds_of(python)) for _ in range(11)]
    result = {
        "command": "ssdlab --help",
        "seconds": round(statistics.median(pair[0] for pair in pairs), 3),
        "seconds_of_python_alone": round(statistics.median(pair[1] for pair in pairs), 3),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
