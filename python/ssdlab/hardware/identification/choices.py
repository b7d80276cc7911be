"""Determines by simulation what experiments do not show: policies, spare area, the kind of SLC cache, doubtful erase
units and missing times.

Searches the candidate (`candidates.py`) that reproduces the measured write amplification: each victim and placement
with a spare area of its own, near the value that erases told. If nothing fits and single erases did not show the erase
unit, others are tried. With the nearest policies, times that no experiment determined are fitted to the speed of the
random writes.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import product
from math import hypot, log, prod, sqrt
from threading import Lock
from typing import Any, TypeVar

from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_share
from ssdlab.hardware.identification import candidates
from ssdlab.hardware.identification.candidates import SPARE_KEY, Candidate, Measured, Overwrite
from ssdlab.hardware.identification.drive import model_of
from ssdlab.hardware.identification.evidence import Inferred, Outcome, Picture, Undetermined
from ssdlab.hardware.identification.identify import Found
from ssdlab.presentation.report.lines import Line, Marks
from ssdlab.simulator.targets.side_by_side import Work, side_by_side

Of = TypeVar("Of")
NAME = "simulation"
_VICTIMS = ("greedy", "fifo", "cost-benefit", "d-choices")
_PLACEMENTS = ("host-gc-split", "single")
_FITTED = 2
"""The number of candidates with another placement than the first whose spare area is fitted."""
_FITS = 0.02
"""Above this error of the best candidate, all of them are fitted."""
_POLISHED, _POLISHED_ERROR = 4, 0.06
"""The number of best candidates whose spare area is fitted to single steps as well, and their largest error."""
_LEVEL_SHARE = 0.2
"""The share of the error, besides its shape, that ranks candidates before their spare area is fitted."""
_DISTINCT = 1.6
"""The factor by which the score of the next best choice must exceed that of the best one before it is reported."""
_SPARE = (0.03, 0.6)
"""Bounds of the spare area, as a share of the capacity, if erases did not determine it."""
_SPARE_AROUND = (0.7, 1.4)
"""If they did, bounds as shares of their interval: how many erase units a drive keeps is not seen there."""
_BEGUN_UNITS, _BEGUN_SHARE = 2.0, 0.03
"""If garbage collection was seen to begin, the half width of the bounds around the spare area that repeats it, in erase
units and as a share."""
_BEGUN_BEFORE = 1.2
"""Erase units before which it may have begun earlier than it was seen."""
_CACHE_STEP, _CACHE_STEP_MIN = 1.28, 1.012
"""The ratio of the spare areas that are tried beside an SLC cache, and the one at which the search ends."""
_CACHE_CHANCE, _CACHE_REFINED = 0.3, 6.0
"""The error of the write amplification that such a ratio can cause, and the largest ratio of scores that is refined."""
_CACHE_AROUND = 1.2
"""The ratio of spare areas that are tried with other erase units."""
_SPARE_SYSTEMATIC = 0.01
"""Relative systematic error of the spare area from model errors other than the policies."""
_SPARE_UNITS = 0.5, 1.5
"""The same in erase units, below and above: a drive may keep one more than the model does."""
_SPARE_PER_ERROR = 0.5
"""The same as a share of the error that remains or of chance."""
_KEYS = ("ftl.victim", "ftl.placement")
_PAGES_KEY = "nand.pages_per_block"
_SUSPECT, _SUSPECT_REGULAR, _SUSPECT_RANDOM = 0.015, 0.06, 0.08
_SUSPECT_CHANCES = 2.5
"""Above this error of the best candidate its erase unit is suspected: one that single erases did not show, one that
they showed, and beside victims drawn at random; there also in units of the chance, as for the size of an SLC cache."""
_UNIT_FACTORS = (1 / 4, 1 / 3, 2 / 5, 1 / 2, 3 / 5, 2 / 3, 3 / 4, 4 / 3, 3 / 2, 5 / 3, 2.0, 5 / 2, 3.0, 4.0)
"""Erase units that are tried then, as multiples of the suspected one: delays that repeat irregularly can be taken for
several erase units, or for a part of one."""
_UNIT_ANY = 2 ** (1 / 4)
"""The ratio of the erase units that are tried if nothing showed one, and the range of the assumed one's multiples."""
_UNIT_RANGE = (0.5, 8.0)
_UNIT_TRIES = 2
_UNIT_ERROR_MAX = 0.4
"""The error with the spare area that repeats the beginning of garbage collection above which an erase unit is not tried
with others."""
_UNIT_REFINED = 2
_UNIT_STEPS = (0.06, 0.03, 0.0)
"""The number of best erase units that are refined, and the relative steps; 0: one page."""
_UNIT_STEPS_RANDOM = (0.19, 0.09)
"""The steps if victims are drawn at random."""
_UNITS_LIKELY = 4
"""The number of erase units that are simulated in full then."""
_UNIT_BETTER = 4.0
"""The factor by which another erase unit must reduce the score."""
_ALIKE = 6.0
"""The factor by which the score may exceed the best one for its erase unit to be possible."""
_UNIT_HALF = (0.02, 4.0, 0.35)
"""The half width of its interval, relative: at an error of 0, per error, and at most."""


def choose(found: Found) -> Outcome:
    """Infers policies, spare area and times by simulation after the experiments, or gives the reasons why this is not
    possible."""
    outcome = Outcome()
    points = [(rate, waf) for _, rate, waf in found.facts.get("random-writes", {}).get("points", ()) if waf is not None]
    as_simulated = bool(found.facts.get("random-writes", {}).get("as_simulated"))
    measured = Measured([waf for _, waf in points], [rate for rate, _ in points], _overwrite(found), as_simulated)
    why_not = _why_not(found, measured.wafs)
    if why_not is not None:
        # Keys that an experiment could not determine have a reason already.
        said = found.inferred.keys() | {each.key for each in found.undetermined}
        missing = [each for each in (*_KEYS, SPARE_KEY) if each not in said]
        outcome.undetermined += [Undetermined(key, why_not) for key in missing]
        return outcome
    search = _Search(found, measured)
    fitted, alike = search.best_of_all({}), []
    if search.suspects_unit(fitted[0]):
        other = search.other_unit(fitted)
        if other is not None:
            fitted = search.best_of_all({_PAGES_KEY: other.others[_PAGES_KEY]}, known=other)
            alike = [each for each in search.of_units if each.score <= _ALIKE * fitted[0].score]
            if not fitted[0].is_unlikely:
                _record_erase_unit(outcome, found, fitted[0], alike)
    best = fitted[0]
    for key, word in (("ftl.victim", best.victim), ("ftl.placement", best.placement)):
        _tell(outcome, key, word, fitted)
    _record_spare_area(outcome, found, fitted, alike)
    best = _timed(outcome, found, best, measured)
    outcome.pictures.append(_picture(measured.wafs, best))
    told = SPARE_KEY in found.inferred or any(each.key == SPARE_KEY for each in outcome.inferred)
    spare = {} if told else {SPARE_KEY: best.spare}
    outcome.facts |= {
        "candidates": [vars(each) for each in fitted],
        "error": best.error,
        "nearest": {
            "ftl.victim": best.victim,
            "ftl.placement": best.placement,
            **{key: each for key, each in best.others.items() if key not in (_PROGRAM_KEY, _ERASE_KEY, _COPY_KEY)},
            **spare,
        },
    }
    return outcome


def _overwrite(found: Found) -> Overwrite | None:
    facts = found.facts.get("overwrite", {})
    if "windows_s" not in facts:
        return None
    return Overwrite(facts["seconds"], facts["windows_s"], facts["row_bytes"], facts["begun_bytes"])


def nearest(found: Found) -> JsonObject:
    """What a drive file takes besides the inferred values: the policies and spare area that fit best, determined or
    not, and the read times by kind of page."""
    return dict(found.facts.get(NAME, {}).get("nearest", {})) | _kinds_of_pages(found)


def _kinds_of_pages(found: Found) -> JsonObject:
    """The read times of the pages of a word line, if reads by place showed different ones."""
    kinds, mean = found.facts.get("reads", {}).get("kinds_us"), found.inferred.get("nand.read_us")
    if not kinds or mean is None:
        return {}
    own = float(mean.value) - sum(kinds) / len(kinds)
    return {"nand.read_us": [round(each + own, 2) for each in kinds]}


class _Search:
    """The search for the best candidate."""

    def __init__(self, found: Found, measured: Measured) -> None:
        self._found = found
        self._measured = measured
        self._bounds = _bounds(found)
        self._kinds = _cache_kinds(found)
        # An SLC cache works with the first placement only.
        self._placements = _PLACEMENTS if self._kinds == [{}] else _PLACEMENTS[:1]
        self._begins: dict[Any, float | None] = {}
        self._beginning = Lock()
        self._at_once = candidates.at_once(found, Candidate(_VICTIMS[0], _PLACEMENTS[0], sqrt(prod(self._bounds)), {}))
        self.of_units: list[Candidate] = []
        """All candidates with other erase units."""

    def best_of_all(self, fixed: Mapping[str, Any], known: Candidate | None = None) -> list[Candidate]:
        """Candidates of every victim and placement with a spare area of their own, the best first. `known` is one of
        them that is already fitted."""
        inferred = self._found.inferred.get(SPARE_KEY)
        spare = sqrt(prod(self._bounds)) if inferred is None else float(inferred.value)
        fitted = [] if known is None else [known]
        if self._kinds != [{}]:
            fitted += self._with_caches([Candidate(victim, self._placements[0], spare, {**fixed, **kind})
                                         for kind, victim in product(self._kinds, _VICTIMS)])  # fmt: skip
            return self._with_cache_sizes(self._polished_best(fitted))
        # Each victim with a spare area of its own: with that of another one, even the right victim is far off.
        fitted += self._each(
            self._fitted, [Candidate(victim, self._placements[0], spare, {**fixed}) for victim in _VICTIMS]
        )
        elsewhere = product(fitted[known is not None :], self._placements[1:])
        rest = self._each(self._run, [each.but(placement=placement) for each, placement in elsewhere])
        rest.sort(key=lambda each: each.shape_error + _LEVEL_SHARE * each.error)
        fitted += self._each(self._fitted, rest[:_FITTED])
        if min(each.error for each in fitted) > _FITS:
            fitted += self._each(self._fitted, rest[_FITTED:])
        return self._polished_best(fitted)

    def _polished_best(self, fitted: list[Candidate]) -> list[Candidate]:
        """All candidates, the nearest ones polished, the best first."""
        fitted.sort(key=lambda each: each.score)
        near = [each for each in fitted[:_POLISHED] if each.error < _POLISHED_ERROR]
        fitted[: len(near)] = self._each(self._polished, near)
        return sorted(fitted, key=lambda each: each.score)

    def suspects_unit(self, best: Candidate) -> bool:
        """Whether nothing showed the erase unit, or the error is larger than a right one leaves."""
        if _PAGES_KEY not in self._found.inferred:
            return True
        if best.victim in candidates.RANDOM:
            return best.error > max(_SUSPECT_RANDOM, _SUSPECT_CHANCES * best.chance)
        regular = "first_tooth_bytes" in self._found.facts.get("overwrite", {})
        return best.error > (_SUSPECT_REGULAR if regular else max(_SUSPECT, 2 * best.chance))

    def other_unit(self, fitted: Sequence[Candidate]) -> Candidate | None:
        """The candidate with the erase unit with which the model repeats the measurement much better, or None."""
        best = fitted[0]
        nand = model_of(self._found.inferred, self._found.capacity_bytes, "candidate", best.changes).file.nand
        usual, together = nand.pages_per_block, nand.pages_per_program
        tried = []
        # With a wrong erase unit the policies are wrong, too.
        first = [next(each for each in fitted if each.victim == own) for own in {each.victim: None for each in fitted}]
        units = _units_tried(usual, together, told=_PAGES_KEY in self._found.inferred)
        for each in first:
            likely = self._likely(each, units)
            tried += self._each(partial(self._with_unit, each), likely)
        tried.sort(key=lambda each: each.score)
        refined = [self._polished(self._refined(each, together)) for each in tried[:_UNIT_REFINED]]
        self.of_units += tried + refined
        nearest = min(refined, key=lambda each: each.score)
        better = _UNIT_BETTER if _PAGES_KEY in self._found.inferred else 1.0
        return nearest if better * nearest.score <= best.score else None

    def _likely(self, candidate: Candidate, units: Sequence[int]) -> list[int]:
        """The erase units with which the pace of the sequential writes is most alike, which take little time to
        simulate; all if it says nothing, because a link hides what erases take."""
        seen = self._measured.overwrite is not None and self._measured.overwrite.begun_bytes is not None
        if self._kinds != [{}] or not seen:
            return list(units)
        paces = []
        for pages in units:
            each = candidate.but(others={**candidate.others, _PAGES_KEY: pages})
            begun = self._begun(each)
            if begun is not None:
                own = candidates.sequential(self._found, each.but(spare=begun), self._measured)
                paces.append((own.pace_chance + own.pace_error**2 / own.pace_chance, pages))
        return [pages for _, pages in sorted(paces)[:_UNITS_LIKELY]] or list(units)

    def _refined(self, nearest: Candidate, together: int) -> Candidate:
        """The best candidate with an erase unit near this one's: a few per cent decide whether steps repeat."""
        for step in _UNIT_STEPS_RANDOM if nearest.victim in candidates.RANDOM else _UNIT_STEPS:
            pages = nearest.others[_PAGES_KEY]
            by = max(together, round(step * pages / together) * together)
            around = [self._with_unit(nearest, each) for each in (pages - by, pages + by) if each >= together]
            self.of_units += around
            nearest = min([nearest, *around], key=lambda each: each.score)
        return nearest

    def _with_unit(self, candidate: Candidate, pages: int) -> Candidate:
        changed = candidate.but(others={**candidate.others, _PAGES_KEY: pages})
        begun = None if self._kinds != [{}] else self._begun(changed)
        if begun is not None:
            first = self._run(changed.but(spare=begun))
            if first.victim in candidates.RANDOM or first.error > _UNIT_ERROR_MAX:
                return first
            changed = first
        return self._fitted(changed, _UNIT_TRIES)

    def _polished(self, candidate: Candidate) -> Candidate:
        return candidates.polished(self._found, candidate, self._unit_share(candidate), self._measured)

    def _unit_share(self, candidate: Candidate) -> float:
        """The erase unit as a share of the capacity."""
        capacity_bytes = self._found.capacity_bytes
        file = model_of(self._found.inferred, capacity_bytes, "candidate", candidate.changes).file
        return file.capacity.units_per_erase_unit * file.capacity.mapping_unit_bytes / capacity_bytes

    def _fitted(self, candidate: Candidate, tries: int = candidates.TRIES) -> Candidate:
        """The candidate with a spare area that repeats the place where garbage collection began, and, near it, the
        write amplification, unless that differs from run to run."""
        begun = None if self._kinds != [{}] else self._begun(candidate)
        if begun is None:
            bounds = self._bounds
            if self._kinds != [{}] and candidate.wafs:
                bounds = candidate.spare / _CACHE_AROUND, candidate.spare * _CACHE_AROUND
            return candidates.with_spare(self._found, candidate, bounds, self._measured, tries)
        unit = self._unit_share(candidate)
        measured = self._measured.overwrite
        # Garbage collection that begins in the first erase unit may have begun before.
        before = (
            measured is not None and (measured.begun_bytes or 0) < _BEGUN_BEFORE * unit * self._found.capacity_bytes
        )
        half = _BEGUN_UNITS * unit + _BEGUN_SHARE * begun
        bounds = (self._bounds[0] if before else max(begun - half, _SPARE[0] / 2)), begun + half
        start = candidate if candidate.spare == begun else candidate.but(spare=begun)
        return candidates.with_spare(self._found, start, bounds, self._measured, tries)

    def _begun(self, candidate: Candidate) -> float | None:
        """The spare area with which garbage collection begins where it did, or None if that was not seen. The victim
        does not matter."""
        key = candidate.placement, tuple(sorted(candidate.others.items()))
        unit = self._unit_share(candidate)
        # A link can hide erases, but not copies, of which victims drawn at random need some from the first one on.
        for victim in (_VICTIMS[0], candidate.victim)[: 2 if candidate.victim in candidates.RANDOM else 1]:
            # What two candidates need is searched once.
            with self._beginning:
                if (victim, key) not in self._begins:
                    start = candidate.but(victim=victim)
                    near, is_found = candidates.with_begin(self._found, start, _SPARE, unit, self._measured)
                    self._begins[victim, key] = near.spare if is_found else None
            if self._begins[victim, key] is not None:
                return self._begins[victim, key]
        return None

    def _with_caches(self, started: Sequence[Candidate]) -> list[Candidate]:
        """The candidates of drives with an SLC cache with the best spare areas, from a wide range: the write
        amplification does not grow steadily with it, because the cache is emptied at other times."""
        steps = int(log(_SPARE[1] / _SPARE[0]) / log(_CACHE_STEP)) + 1
        coarse = []
        for each in started:
            tried = self._each(self._run, [each.but(spare=_SPARE[0] * _CACHE_STEP**step) for step in range(steps)])
            coarse.append(min(tried, key=_roughly))
        best = min(_roughly(each) for each in coarse)
        refined = []
        for each in coarse:
            step = sqrt(_CACHE_STEP)
            while _roughly(each) <= _CACHE_REFINED * best and step > _CACHE_STEP_MIN:
                around = self._each(self._run, [each.but(spare=each.spare * by) for by in (1 / step, step)])
                each, step = min([each, *around], key=lambda own: own.score), sqrt(step)
            refined.append(each)
        return refined

    def _with_cache_sizes(self, fitted: list[Candidate]) -> list[Candidate]:
        """The candidates, and the best one with an SLC cache of an erase unit more or less if it does not repeat the
        measurement: the end of a cache is seen about as exactly, and each of its erase units shows where it takes most
        writes."""
        best = fitted[0]
        if best.error <= _SUSPECT_CHANCES * best.chance:
            return fitted
        key = next(key for key in best.others if key.startswith("slc_cache."))
        file = model_of(self._found.inferred, self._found.capacity_bytes, "candidate", best.changes).file
        sizes = [best.others[key] + sign * file.capacity.slc_bytes_per_erase_unit for sign in (1, -1)]
        tried = self._with_caches([best.but(others={**best.others, key: each}) for each in sizes if each > 0])
        return sorted([*fitted, *tried], key=lambda each: each.score)

    def _run(self, candidate: Candidate) -> Candidate:
        return candidates.run(self._found, candidate, self._measured)

    def _each(self, work: Callable[[Of], Candidate], given: Sequence[Of]) -> list[Candidate]:
        """What the work gives for each, in order; several at a time."""
        with closing(side_by_side([_of(work, each) for each in given], self._at_once)) as finished:
            found = dict(finished)
        return [found[index] for index in range(len(given))]


def _of(work: Callable[[Of], Candidate], given: Of) -> Work[Candidate]:
    return lambda _tell: work(given)


def _roughly(candidate: Candidate) -> float:
    """A score that allows for a spare area which is some per cent off."""
    return replace(candidate, chance=max(candidate.chance, _CACHE_CHANCE)).score


def _units_tried(usual: int, together: int, *, told: bool) -> list[int]:
    """Pages in a block; the usual ones are those that delays told, or assumed."""
    factors = list(_UNIT_FACTORS)
    if not told:
        factors = [_UNIT_RANGE[0]]
        while factors[-1] < _UNIT_RANGE[1]:
            factors.append(factors[-1] * _UNIT_ANY)
    return list(dict.fromkeys(max(1, round(usual * each / together)) * together for each in factors))


def _cache_kinds(found: Found) -> list[JsonObject]:
    """What an SLC cache can consist of, which its size does not tell: erased blocks, or blocks of its own."""
    cache = found.inferred.get("slc_cache_bytes")
    keys = ("slc_cache.dynamic_bytes_max", "slc_cache.static_bytes")
    return [{}] if cache is None else [{key: cache.value} for key in keys]


def _record_erase_unit(outcome: Outcome, found: Found, best: Candidate, alike: Sequence[Candidate]) -> None:
    """Records the erase unit with which the simulation fits. The interval covers those that fit about as well."""
    pages = int(best.others[_PAGES_KEY])
    least, per_error, most = _UNIT_HALF
    half = min(least + per_error * best.error, most)
    near = [each.others[_PAGES_KEY] for each in alike]
    low = min(pages - 1, pages * (1 - half), *near, pages)
    high = max(pages + 1, pages * (1 + half), *near, pages)
    outcome.inferred.append(Inferred(_PAGES_KEY, pages, round(low), round(high), NAME))
    parts = [found.inferred.get(key) for key in ("parallel_units", "nand.page_bytes", "nand.planes_per_die")]
    if all(each is not None for each in parts):
        stripe = prod(int(each.value) for each in parts if each is not None)
        ends = round(low * stripe), round(high * stripe)
        outcome.inferred.append(Inferred("erase_unit_bytes", pages * stripe, *ends, NAME))


def _why_not(found: Found, measured: Sequence[float]) -> str | None:
    if not measured:
        return "no write amplification under random writes was measured"
    if "parallel_units" not in found.inferred or "nand.page_bytes" not in found.inferred:
        return "dies and pages, on which write amplification depends, are not known"
    if max(measured) < 1.1:
        return "garbage collection cost too little for policies and spare area to show"
    return None


def _bounds(found: Found) -> tuple[float, float]:
    """Bounds of the spare area, as a share of the capacity."""
    spare = found.inferred.get(SPARE_KEY)
    if spare is None:
        return _SPARE
    low, high = _SPARE_AROUND[0] * float(spare.low), _SPARE_AROUND[1] * float(spare.high)
    low = max(low, 0.01)
    return low, max(high, low * 1.01)


def _record_spare_area(outcome: Outcome, found: Found, fitted: Sequence[Candidate], alike: Sequence[Candidate]) -> None:
    """Records the spare area of the best candidate. The interval covers all candidates of similar error, and `alike`,
    those with other erase units."""
    best = fitted[0]
    if best.is_unlikely:
        if SPARE_KEY not in found.inferred:
            reason = f"no spare area repeats the measured write amplification (nearest: {100 * best.misfit:.0f} % off)"
            outcome.undetermined.append(Undetermined(SPARE_KEY, reason))
        return
    unit = found.inferred.get("erase_unit_bytes")
    # The spare area is a whole number of erase units, and so are blocks that always belong to an SLC cache.
    whole = 1 if "slc_cache.static_bytes" in best.others else 0
    share_of_unit = 0.0 if unit is None else float(unit.value) / found.capacity_bytes
    below, above = ((units + whole) * share_of_unit for units in _SPARE_UNITS)
    likely = [each.spare for each in [*fitted, *alike] if each in alike or each.score <= _DISTINCT * best.score]
    share = _SPARE_SYSTEMATIC + _SPARE_PER_ERROR * max(best.error, best.chance)
    low, high = min(likely) * (1 - share) - below, max(likely) * (1 + share) + above
    outcome.inferred.append(Inferred(SPARE_KEY, round(best.spare, 5), round(max(low, 0.0), 5), round(high, 5), NAME))


def _tell(outcome: Outcome, key: str, word: str, fitted: Sequence[Candidate]) -> None:
    """Records a policy if all candidates with another one are clearly worse."""
    best = fitted[0]
    others = [each for each in fitted if each.changes[key] != word]
    second = min(others, key=lambda each: each.score, default=None)
    if best.is_unlikely:
        reason = f"no policy repeats the write amplification (nearest: {100 * best.misfit:.0f} % off)"
        outcome.undetermined.append(Undetermined(key, reason))
        return
    if second is not None and second.score < _DISTINCT * best.score:
        next_best = f"{second.changes[key]} within {100 * second.misfit:.1f} %"
        reason = f"{word} comes nearest ({100 * best.misfit:.1f} % off), {next_best}"
        outcome.undetermined.append(Undetermined(key, reason))
        return
    outcome.inferred.append(Inferred(key, word, word, word, NAME))


_PROGRAM_KEY, _ERASE_KEY, _COPY_KEY = "nand.program_us", "nand.erase_us", "nand.copy_read_us"
_PROGRAM, _ERASE = (100.0, 6000.0), (20.0, 20_000.0)
"""Bounds of times that no experiment determined."""
_COPY_PER_READ = 4.0
"""The same of a read for a copy, relative to that of a read."""
_LEAST_UNCERTAIN = {_PROGRAM_KEY: 0.1, _ERASE_KEY: 0.3, _COPY_KEY: 0.1}
_SPEED_SYSTEMATIC = 0.03
"""Relative systematic error of simulated speeds."""
_SPEED_SHOWS = 0.08
"""The relative difference of durations above which another time must be wrong."""
_REPEATED, _DURATION_EXACT = 0.025, 0.015
"""The error of the write amplification up to which durations of a model are those of the drive, and their differences
then: a busy host adds half a per cent."""
_UNCERTAIN_MAX = 1.5
"""The relative uncertainty above which an erase time is not reported."""
_OTHER_TIME = 1.0
"""The relative uncertainty of a fitted time that another unknown time adds."""


def _timed(outcome: Outcome, found: Found, best: Candidate, measured: Measured) -> Candidate:
    """The candidate with times that no experiment determined, fitted to durations: a program time, or an erase time,
    and the time of a read for a copy, which otherwise is that of any read, if nothing else explains the durations."""
    missing = [each for each in (_PROGRAM_KEY, _ERASE_KEY) if each not in found.inferred]
    if best.is_unlikely:
        return best
    if _PROGRAM_KEY in missing:
        return _fit_time(outcome, found, best, _PROGRAM_KEY, measured, other=len(missing) > 1)
    if _ERASE_KEY in missing:
        told = Outcome()
        timed = _fit_time(told, found, best, _ERASE_KEY, measured)
        # Where victims are drawn at random durations differ by chance.
        if best.victim in candidates.RANDOM or not _shows(candidates.duration_excess(timed, measured)):
            outcome.inferred += told.inferred
            outcome.undetermined += told.undetermined
            return timed
        # Copies take another time than reads do. Sequential writes tell the erases without them.
        best = _fit_time(outcome, found, best, _ERASE_KEY, measured, candidates.overwrite_excess)
    else:
        best = _refined(outcome, found, best, measured)
    if _shows(candidates.duration_excess(best, measured)):
        return _fit_time(outcome, found, best, _COPY_KEY, measured)
    return best


def _refined(outcome: Outcome, found: Found, best: Candidate, measured: Measured) -> Candidate:
    """The candidate with the erase time that repeats the durations of sequential and random writes, both, if the one
    that delays showed does not: a delay is hidden in part where the link or the buffer is behind it."""

    def off(candidate: Candidate) -> float:
        return max(
            abs(excess(candidate, measured)) for excess in (candidates.duration_excess, candidates.overwrite_excess)
        )

    if best.victim in candidates.RANDOM or best.error > _REPEATED or off(best) <= _DURATION_EXACT:
        return best
    told = Outcome()
    timed = _fit_time(told, found, best, _ERASE_KEY, measured, candidates.mean_excess)
    if off(timed) > _DURATION_EXACT:
        return best
    outcome.inferred += told.inferred
    return timed


def _shows(excess: float) -> bool:
    return abs(excess) > _SPEED_SHOWS


def _fit_time(
    outcome: Outcome,
    found: Found,
    best: Candidate,
    key: str,
    measured: Measured,
    excess_of: Callable[[Candidate, Measured], float] = candidates.duration_excess,
    *,
    other: bool = False,
) -> Candidate:
    """Records a time and returns the candidate with it. With `other` another time is not known either."""
    read = found.inferred.get("nand.read_us")
    copy = 1.0, _COPY_PER_READ * float(read.value if read is not None else 100.0)
    bounds = {_PROGRAM_KEY: _PROGRAM, _ERASE_KEY: _ERASE, _COPY_KEY: copy}[key]
    timed, steepness = candidates.with_time(found, best, key, bounds, measured, excess_of)
    # Where victims are drawn at random, the amount of copies differs by chance.
    off = hypot(_SPEED_SYSTEMATIC, timed.level_chance if timed.victim in candidates.RANDOM else 0.0)
    # A time that stays unknown can be in it as well.
    half = _LEAST_UNCERTAIN[key] + off / max(steepness, 1e-6) + (_OTHER_TIME if other else 0.0)
    if key == _ERASE_KEY and half > _UNCERTAIN_MAX:
        reason = f"the speed depends too little on it: a factor of {1 + half:.2g} is possible"
        outcome.undetermined.append(Undetermined(key, reason))
        return best
    time_us = float(timed.others[key])
    low, high = max(time_us / (1 + half), bounds[0]), max(time_us, min(time_us * (1 + half), bounds[1]))
    outcome.inferred.append(Inferred(key, round(time_us, 1), round(low, 1), round(high, 1), NAME))
    return timed


def _picture(measured: Sequence[float], best: Candidate) -> Picture:
    steps = range(1, len(measured) + 1)
    within = format_share(max(best.misfit, 0.001), 2)
    finding = f"Victims by {best.victim} and placement {best.placement} repeat write amplification within {within}"
    if best.is_unlikely:
        finding = f"No policy repeats the write amplification: the nearest is {100 * best.misfit:.0f} % off"
    return Picture(
        "policies",
        finding,
        "Write amplification in each step of random writes: measured, and simulated with the nearest policies.",
        "step",
        "WAF",
        [Line("measured", list(zip(steps, measured, strict=True)))],
        [Marks("simulated", list(zip(steps, best.wafs, strict=True)))],
    )
