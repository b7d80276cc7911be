"""Do the man pages contain the text of the help?"""

import shutil
import subprocess
import sys
from pathlib import Path

from ssdlab.cli.commands import COMMANDS, loaded

TOOL = Path(__file__).parents[2] / "tools/man_pages.py"


def test_every_command_and_option_has_its_place(tmp_path: Path) -> None:
    subprocess.run([sys.executable, TOOL, tmp_path / "man"], check=True)
    pages = {path.name: path.read_text().replace("\\-", "-") for path in (tmp_path / "man").iterdir()}
    titles = {name: f"ssdlab-{name.replace(' ', '-')}" for name in COMMANDS}
    assert set(pages) == {"ssdlab.1", *(f"{title}.1" for title in titles.values())}
    for name, listed in COMMANDS.items():
        assert f"{titles[name]}(1)" in pages["ssdlab.1"]
        text = pages[f"{titles[name]}.1"]
        assert listed.example in text
        # Older forms are hidden: they are accepted, but not described.
        shown = [each for each in loaded(name).params if not getattr(each, "hidden", False)]
        options = [option for each in shown for option in each.opts if option.startswith("--")]
        assert [option for option in options if option not in text] == []
    if groff := shutil.which("groff"):
        files = sorted(tmp_path.glob("man/*.1"))
        ended = subprocess.run(
            [groff, "-man", "-ww", "-z", "-Tutf8", "-K", "utf8", *files], capture_output=True, text=True
        )
        assert (ended.returncode, ended.stderr) == (0, "")
