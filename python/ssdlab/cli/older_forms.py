"""Older forms of command lines, accepted for one more release: one command whose options chose what it did."""

from collections.abc import Container, Sequence


def replaced(words: Sequence[str], known: Container[str]) -> list[str]:
    """The command line in the form of today; as it is if it is not in an older form. `known` are the commands."""
    head, *rest = words
    if head not in ("advise", "compare", "fleet") or not rest or rest == ["--help"] or f"{head} {rest[0]}" in known:
        return list(words)
    if head == "compare":
        return _compare(rest) if _has(rest, "--target") or _has(rest, "--with") else list(words)
    reports, without = _taken(rest, "--smart")
    if reports and (head == "fleet" or not _has(rest, "--drive")):
        return [head, "smart", *reports, *without]
    if head == "fleet":
        return [head, "tenants" if any(word.endswith(".fio") for word in rest) else "simulate", *rest]
    return [head, _kind_of_advice(rest), *rest]


def _compare(rest: Sequence[str]) -> list[str]:
    drives, rest = _taken(rest, "--drive")
    results, rest = _taken(rest, "--with")
    named = [f"simulated:{each}" for each in drives] + [f"measured:{each}" for each in results]
    return ["compare", "targets", *rest, *(word for each in named for word in ("--target", each))]


def _kind_of_advice(rest: Sequence[str]) -> str:
    # The language of drives takes longer to import than `--help` may take.
    from ssdlab.experiments.advice.tenants import has_tenants

    if _has(rest, "--reads-per-day"):
        return "refresh"
    drives, _ = _taken(rest, "--drive")
    return "tenants" if drives and has_tenants(drives[-1]) else "space"


def _has(words: Sequence[str], option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in words)


def _taken(words: Sequence[str], option: str) -> tuple[list[str], list[str]]:
    """The values of an option, and the words without them."""
    values, rest = [], []
    left = iter(words)
    for word in left:
        if word == option:
            values.append(next(left, ""))
        elif word.startswith(f"{option}="):
            values.append(word.partition("=")[2])
        else:
            rest.append(word)
    return values, rest
