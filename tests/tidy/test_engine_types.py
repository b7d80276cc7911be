"""The engine's types stay small: one with many fields and methods is several types, whatever files its methods are in.

A type counts here if one of its own methods changes it; the others are records, such as keys of a drive or columns of
an outcome. Methods of traits do not count, since the trait sets their number.
"""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "crates/engine/src"
FIELDS_MAX, METHODS_MAX = 15, 60

# With more, and its reason.
EXCEPTIONS = {
    "simulation/time_series.rs TimeColumns": "the columns of an outcome",
}

_TESTS = re.compile(r"^#\[cfg\(test\)\]\s*(?:pub\(super\) )?mod \w+ \{", re.MULTILINE)
_STRUCT = re.compile(r"^(?:pub(?:\([^)]*\))? )?struct (\w+)[^;{(]*\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?\w+:", re.MULTILINE)
_IMPL = re.compile(r"^impl(?:<.*?>)? (\w+)(?:<[^{]*?>)?(?:\s+where[^{]*)? \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_METHOD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?(?:const )?fn \w+(?:<[^(]*>)?\(\s*([^)]*)", re.MULTILINE)


def sizes(folder: Path) -> dict[str, tuple[int, int]]:
    """The fields and the methods of each type that its methods change, by its file and name."""
    texts = {
        str(path.relative_to(folder)): _TESTS.split(path.read_text(encoding="utf-8"))[0]
        for path in sorted(folder.rglob("*.rs"))
        if "tests" not in path.relative_to(folder).with_suffix("").parts
    }
    fields = {
        (file, name): len(_FIELD.findall(body)) for file, text in texts.items() for name, body in _STRUCT.findall(text)
    }
    methods: dict[tuple[str, str], list[str]] = defaultdict(list)
    for file, text in texts.items():
        for name, body in _IMPL.findall(text):
            methods[_definition(file, name, list(fields))] += _METHOD.findall(body)
    return {
        f"{file} {name}": (count, len(methods[file, name]))
        for (file, name), count in fields.items()
        if any(re.match(r"(?:mut self|&(?:'\w+ )?mut self)", arguments) for arguments in methods[file, name])
    }


def _definition(file: str, name: str, types: list[tuple[str, str]]) -> tuple[str, str]:
    """The type of this name that is nearest to a file with methods of it."""

    def distance(defined: tuple[str, str]) -> tuple[bool, int]:
        common = len([one for one, other in zip(file.split("/"), defined[0].split("/"), strict=False) if one == other])
        return defined[0] != file, -common

    return min((defined for defined in types if defined[1] == name), key=distance, default=(file, name))


def test_types_have_few_fields_and_methods() -> None:
    large = {name for name, (fields, methods) in sizes(ENGINE).items() if fields > FIELDS_MAX or methods > METHODS_MAX}
    assert large == set(EXCEPTIONS)


def test_fields_and_methods_are_counted_over_several_files(tmp_path: Path) -> None:
    (tmp_path / "front").mkdir()
    (tmp_path / "front/mod.rs").write_text(
        "#[cfg(test)]\nmod tests;\n\n"
        "pub struct Front<F: Intake> {\n    /// The time: now.\n    now_ns: u64,\n    pub(super) front: F,\n}\n\n"
        "pub struct Plan {\n    depth: u32,\n}\n\nimpl Plan {\n    pub fn depth(&self) -> u32 {\n    }\n}\n"
    )
    (tmp_path / "front/path.rs").write_text(
        "impl<F: Intake> Front<F> {\n    pub fn now(&self) {}\n    fn step<T>(\n        &mut self,\n    ) {}\n}\n\n"
        "#[cfg(test)]\nmod tests {\n    struct Other {}\n}\n"
    )
    assert sizes(tmp_path) == {"front/mod.rs Front": (2, 2)}
