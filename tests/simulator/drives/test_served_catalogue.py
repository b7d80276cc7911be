"""The drives that the Rust tests serve are those of the catalogue."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_drives_that_are_served_in_tests_are_those_of_the_catalogue() -> None:
    said = subprocess.run([sys.executable, ROOT / "tools/served_catalogue"], capture_output=True, text=True, check=True)
    kept = (ROOT / "crates/blockdev/tests/catalogue.jsonl").read_text(encoding="utf-8")
    assert said.stdout == kept, "write them anew: tools/served_catalogue > crates/blockdev/tests/catalogue.jsonl"
