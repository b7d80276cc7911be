"""Is the script of pages kept between two commands, and does a report appear whatever is wrong with the cache?"""

from pathlib import Path

import pytest

from ssdlab.presentation.report import bundle

SCRIPT = "window.vegaEmbed = 'écrit une fois';"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The cache in an empty folder, and a list that grows with each script that is made."""
    made: list[str] = []

    def make() -> str:
        made.append(SCRIPT)
        return SCRIPT

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(bundle, "_made", make)
    return made


def given_again() -> str:
    """What a new process would be given."""
    bundle.vega_bundle.cache_clear()
    try:
        return bundle.vega_bundle()
    finally:
        # The other tests of this process get the real script.
        bundle.vega_bundle.cache_clear()


def test_the_script_is_made_once(made: list[str], tmp_path: Path) -> None:
    assert [given_again() for _ in range(3)] == [SCRIPT] * 3
    assert len(made) == 1
    (kept,) = (tmp_path / "cache/ssdlab").iterdir()
    assert kept.name.startswith("vega-") and kept.suffix == ".js"


@pytest.mark.parametrize("damaged", [b"", b"\n", b"\xff\xfe", "cut", "changed"], ids=repr)
def test_a_damaged_file_is_made_again(damaged: bytes | str, made: list[str], tmp_path: Path) -> None:
    given_again()
    (kept,) = (tmp_path / "cache/ssdlab").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(
        {"cut": whole[:-5], "changed": whole[:-1] + b"!"}[damaged] if isinstance(damaged, str) else damaged
    )
    assert given_again() == SCRIPT and len(made) == 2
    assert kept.read_bytes() == whole


def test_a_cache_that_cannot_be_used_is_no_error(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file where the folder would be")
    assert [given_again(), given_again()] == [SCRIPT] * 2 and len(made) == 2
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/no-such-folder")
    assert given_again() == SCRIPT
    # A relative path is ignored, and without a home folder there is no cache.
    monkeypatch.setenv("XDG_CACHE_HOME", "beside")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    assert given_again() == SCRIPT
    assert not (tmp_path / "beside").exists() and len(list((tmp_path / "home/.cache/ssdlab").iterdir())) == 1
