"""The findings of a comparison, as sentences computed from its figures: titles of pictures, and the summary."""

from collections.abc import Sequence

from ssdlab.evidence.comparing import differ
from ssdlab.evidence.estimate import Estimate
from ssdlab.foundation.quantities import is_nearly_empty
from ssdlab.presentation.report import headlines, wording
from ssdlab.presentation.report.charts.latency_parts import of_kind
from ssdlab.presentation.report.variant import PARTS, ComparedVariant

# A closed form with a larger deviation does not count as agreeing.
_AGREES_WITHIN = 0.05
# A smaller share of the mean latency is not worth a sentence.
_WORTH_SAYING = 0.005
# Below it, the interval of a share does not matter.
_SMALL = 0.05
# Wear is called even if the highest erase count is within this ratio of the mean.
_EVEN_WITHIN = 1.5
# After fewer erases a block, one erase more or less decides the ratio.
_ERASES_MIN = 5


def settling(variants: Sequence[ComparedVariant]) -> str:
    """The title of WAF over host writes."""
    known = _by_waf(variants)
    if not known:
        return "WAF over host writes"
    shown = [known[-1], known[0]] if len(known) > 1 else known
    clauses: list[str] = []
    for variant in shown:
        name = wording.spoken(variant.label) if not clauses else variant.label
        if variant.steady_reached and variant.steady_at_host_bytes is not None:
            verb, bytes_after, remark = "settles", variant.steady_at_host_bytes, ""
        elif variant.steady_reached is False:
            verb, bytes_after, remark = "stands", variant.host_written_bytes, " and is not steady"
        else:
            # The figure is a mean: at the end it may be twice that.
            over = wording.significant(variant.drive_writes(_last_stage_bytes(variant)), 2)
            clauses.append(f"{name} has a WAF of {variant.waf_said} on average of {over} drive writes")
            continue
        after = wording.significant(variant.drive_writes(bytes_after), 2)
        clauses.append(f"{name} {verb} at a WAF of {variant.waf_said} after {after} drive writes{remark}")
    if all(variant.steady_reached for variant in shown) and len(shown) == 2:
        # The second clause leaves out the verb and the nouns of the first.
        clauses[1] = clauses[1].replace(" settles at a WAF of ", " at ").replace(" drive writes", "")
        return ", ".join(clauses)
    return "; ".join(clauses)


def spare_area_effect(variants: Sequence[ComparedVariant]) -> str:
    """The title of WAF against OP: the values at both ends, and how far theory is from them.

    The title of the page compares the best variant with the worst.
    """
    known = sorted(_by_waf(variants), key=lambda variant: variant.over_provisioning)
    if not known:
        return "WAF against over-provisioning"
    least, most = _ends(known)
    effect = _at_ends(f"WAF {least.waf_said}", str(most.waf_said), known)
    theory = _theory(variants)
    return f"{effect}; {theory}" if theory else effect


def _ends(known: Sequence[ComparedVariant]) -> tuple[ComparedVariant, ComparedVariant]:
    """The first variant with the least and the first with the most over-provisioning, of variants in order of it: of
    policies at both ends the same one."""
    most = known[-1].over_provisioning
    return known[0], next(variant for variant in known if variant.over_provisioning == most)


def _at_ends(first: str, last: str, known: Sequence[ComparedVariant]) -> str:
    """The texts of the figures at both ends with their spare areas, or with their variants if several share one."""
    least, most = _ends(known)
    if len({variant.over_provisioning for variant in known}) < len(known):
        return f"{first} with {least.label}; {last} with {most.label}"
    at_least = f"{first} at {wording.share(least.over_provisioning)} of over-provisioning"
    return at_least if most is least else f"{at_least}, {last} at {wording.share(most.over_provisioning)}"


def _theory(variants: Sequence[ComparedVariant]) -> str:
    """How far theory is from the simulated WAF, as a clause; "" if it applies to none."""
    deviation = theory_deviation_max(variants)
    if deviation is None:
        return ""
    applies = all(variant.theory is not None for variant in _by_waf(variants))
    theory = "theory" if applies else "the closed form, where it applies,"
    verb = "agrees within" if deviation <= _AGREES_WITHIN else "differs by up to"
    return f"{theory} {verb} {wording.share(max(deviation, 0.001), 2)}"


def speed(variants: Sequence[ComparedVariant]) -> str:
    """The title of speed over time: the ratio of the fastest variant to the slowest."""
    known = _by_iops(variants)
    if not known:
        return "Requests per second over simulated time"
    (fastest, high), (slowest, low) = known[0], known[-1]
    if all(variant.speed is not None and variant.speed.is_as_recorded for variant, _ in known):
        rates = [f"{wording.significant(rate.value)} a second with {variant.label}" for variant, rate in known]
        return f"Requests arrive at the recorded times, {wording.listed(rates[:1] + rates[1:][-1:])}"
    in_state = " in the steady state" if all(variant.steady_reached for variant, _ in known) else ""
    if len(known) == 1:
        name = wording.spoken(fastest.label)
        when = in_state or ("" if fastest.speed and fastest.speed.is_as_recorded else " on average of the run")
        return f"{name} serves {wording.estimated(high)} requests per second{_of_direction(fastest)}{when}"
    return headlines.faster_and_slower(fastest.label, high, slowest.label, low, in_state)


def tails(variants: Sequence[ComparedVariant]) -> str:
    """The title of latencies over time: the 99.9th percentile of the worst and the best variant."""
    known = sorted(
        ((v, v.speed.p999) for v in variants if v.speed is not None and v.speed.p999 is not None),
        key=lambda pair: pair[1].value,
    )
    if not known:
        return "Latencies over simulated time"
    (best, shortest), (worst, longest) = known[0], known[-1]
    direction = worst.speed.direction if worst.speed else "request"
    sentence = f"The 99.9th percentile of {direction} latency is {wording.estimated_duration(longest)}"
    name = wording.spoken(worst.label)
    if len(known) == 1:
        return f"{sentence} with {name}"
    if not differ(shortest, longest):
        return f"{sentence} with {name}; that with {best.label} cannot be told from it"
    return f"{sentence} with {name}, {wording.estimated_duration(shortest)} with {best.label}"


def waits(variants: Sequence[ComparedVariant]) -> str:
    """The title of the breakdown of latency: the share of garbage collection in the mean and the slowest requests."""
    known = of_kind(variants, "mean")
    if not known:
        return "Breakdown of latency"
    worst = max(known, key=lambda variant: _gc_share(variant, "mean"))
    of_mean = _gc_share(worst, "mean")
    slowest = [_gc_share(variant, "p99_9") for variant in of_kind(variants, "p99_9")]
    direction = worst.speed.direction if worst.speed else "request"
    if max([of_mean, *slowest]) < _WORTH_SAYING:
        small = wording.share(_WORTH_SAYING)
        return f"{direction.capitalize()}s hardly wait for garbage collection: below {small} of their mean latency"
    said = f"With {wording.spoken(worst.label)}, {wording.share(of_mean, 2)} of the mean {direction} latency is waiting"
    said += " for garbage collection"
    if not of_kind([worst], "p99_9"):
        return said
    return f"{said}, {wording.share(_gc_share(worst, 'p99_9'), 2)} of that of the slowest 0.1 %"


def _gc_share(variant: ComparedVariant, kind: str) -> float:
    parts = variant.latency_parts[kind]
    return parts["gc"] / sum(parts.values())


def speed_against_over_provisioning(variants: Sequence[ComparedVariant]) -> str:
    """The title of IOPS against OP: the values at both ends."""
    known = sorted((v for v in variants if v.speed is not None), key=lambda variant: variant.over_provisioning)
    if len(known) < 2:
        return "Requests per second against over-provisioning"
    least, most = _ends(known)
    first, last = (wording.estimated(variant.speed.estimate) for variant in (least, most) if variant.speed)
    return _at_ends(f"{first} requests per second", last, known)


def latency_against_over_provisioning(variants: Sequence[ComparedVariant]) -> str:
    """The title of latency against OP: the means at both ends."""
    known = sorted((v for v in variants if v.speed and v.speed.mean), key=lambda variant: variant.over_provisioning)
    if len(known) < 2:
        return "Latency against over-provisioning"
    least, most = _ends(known)
    first, last = (wording.estimated_duration(v.speed.mean) for v in (least, most) if v.speed and v.speed.mean)
    return _at_ends(f"A {least.speed.direction if least.speed else 'request'} takes {first} on average", last, known)


def causes(variants: Sequence[ComparedVariant]) -> str:
    """The title of the parts of NAND writes: the largest part after the host's own writes, and the variant."""
    known = [variant for variant in variants if variant.main_cause]
    if not known:
        return "Flash writes by cause"
    worst = max(known, key=_total)
    part, share = _main_cause(worst)
    if share is None:
        return "Flash writes by cause"
    if share < _WORTH_SAYING:
        return "Nearly all flash writes are host writes"
    name = wording.capitalized(PARTS[part])
    sentence = f"{name} causes {wording.share(share, 2)} of the flash writes with {wording.spoken(worst.label)}"
    best = min(known, key=_total)
    if best is worst or (best.waf_estimate and best.waf_estimate.has_only_ends):
        return sentence
    return f"{sentence}, {wording.share(best.waf_parts.get(part, 0.0) / _total(best), 2)} with {best.label}"


def _total(variant: ComparedVariant) -> float:
    return sum(variant.waf_parts.values())


def _main_cause(variant: ComparedVariant) -> tuple[str, float | None]:
    """The largest part of the flash writes that is not the host's, and its share of them; None if the writes were too
    few to determine it. A small share is known as such where the whole of its interval is small."""
    assert variant.main_cause, "the variant wrote something"
    part, units = variant.main_cause
    share = units.value / _total(variant)
    is_small = units.high / _total(variant) < _SMALL
    return part, share if is_small or share < _WORTH_SAYING or not units.has_only_ends else None


def wear(variants: Sequence[ComparedVariant]) -> str:
    """The title of the wear histogram: the ratio of the highest erase count to the mean."""
    ratios = [
        (variant, variant.wear.erase_count_max / variant.wear.erase_count_mean)
        for variant in variants
        if variant.wear is not None and variant.wear.erase_count_mean > 0
    ]
    if not ratios:
        return "Distribution of erase counts"
    variant, ratio = max(ratios, key=lambda pair: pair[1])
    if variant.wear is not None and variant.wear.erase_count_mean < _ERASES_MIN:
        mean = wording.significant(variant.wear.erase_count_mean, 2)
        return f"Blocks were erased {mean} times on average: too few to tell how even their wear is"
    where = f" with {wording.spoken(variant.label)}" if len(ratios) > 1 else ""
    if ratio <= _EVEN_WITHIN:
        return f"Wear is even: the maximum erase count is {wording.times(ratio)} the mean{where}"
    return f"Wear is uneven: the maximum erase count is {wording.times(ratio)} the mean{where}"


def spare_room(variants: Sequence[ComparedVariant]) -> str:
    """The title of effective OP over host writes: the variant with the least effective spare area."""
    known = [(v, v.effective_over_provisioning) for v in variants if v.effective_over_provisioning is not None]
    if not known:
        return "Free erase units over host writes"
    variant, effective = min(known, key=lambda pair: pair[1])
    if is_nearly_empty(effective):
        return "Nearly all of the drive was never written or was trimmed, and is spare area for now"
    built_in = wording.share(variant.over_provisioning)
    has = f"{wording.share(effective)} of" if effective > 0 else "no"
    name = "" if wording.spoken(variant.label) != variant.label or len(variants) == 1 else f" ({variant.label})"
    return f"Garbage collection has {has} effective spare area; {built_in} is built in{name}"


def _last_stage_bytes(variant: ComparedVariant) -> float:
    """What the host wrote in the last stage, to which the figures belong."""
    if not variant.stages:
        return variant.host_written_bytes
    _, start_bytes, end_bytes = variant.stages[-1]
    return end_bytes - start_bytes


def summary(variants: Sequence[ComparedVariant]) -> str:
    """One paragraph that can be read alone and does not repeat the title: figures, their certainty, the life."""
    known = _by_waf(variants)
    if not known:
        return "The last stage wrote nothing, so there is no write amplification to compare."
    best, worst = known[0], known[-1]
    in_state = " in the steady state" if all(variant.steady_reached for variant in known) else ""
    said = f"Per host byte, {worst.waf_said} bytes are programmed to NAND with {wording.spoken(worst.label)}"
    if len(known) > 1:
        said += f" and {best.waf_said} with {best.label}"
    theory = _theory(variants)
    # The title of a single run has its figures.
    is_single = len(known) == 1 and best.steady_reached is None
    sentences = [_made_of(best) if is_single else f"{said}{in_state}{f'; {theory}' if theory else ''}."]
    unsettled = [variant.label for variant in variants if variant.steady_reached is False]
    if unsettled:
        sentences.append(
            f"The steady state was not reached with {wording.listed(unsettled)}: these figures may still change."
        )
    if best.years is not None and worst.years is not None and best.dwpd and best.dwpd == worst.dwpd:
        writes = "1 drive write" if best.dwpd == 1 else f"{best.dwpd:g} drive writes"
        are_steady = best.steady_reached and worst.steady_reached
        at = "" if are_steady else ", if write amplification stays as in these runs,"
        rate = f"At {writes} per day{at} the flash lasts"
        longest = f"{wording.significant(best.years, 2)} years with {best.label}"
        shortest = f"{wording.significant(worst.years, 2)} years with {worst.label}"
        sentences.append(f"{rate} {longest}." if best is worst else f"{rate} {shortest} and {longest}.")
    return " ".join(sentences)


def _made_of(variant: ComparedVariant) -> str:
    """What was written in a single run, and the largest part of it that is not the host's."""
    wrote = wording.significant(variant.drive_writes(_last_stage_bytes(variant)), 2)
    said = f"The host wrote {wrote} times the drive's capacity"
    if not variant.main_cause:
        return f"{said}."
    part, share = _main_cause(variant)
    if share is None:
        return f"{said}, in too few requests to tell what else the flash got."
    if share < _WORTH_SAYING:
        return f"{said}, and nearly all that the flash got was the host's."
    return f"{said}; {wording.share(share, 2)} of what the flash got was {PARTS[part]}."


def theory_deviation(variant: ComparedVariant) -> float | None:
    """(WAF - theory) / theory."""
    if variant.waf is None or variant.theory is None:
        return None
    return (variant.waf - variant.theory) / variant.theory


def theory_deviation_max(variants: Sequence[ComparedVariant]) -> float | None:
    """The largest absolute deviation of the variants to which a closed form applies; None if there are none.

    The closed forms are of the steady state: variants that did not reach it, or did not seek it, do not count.
    """
    steady = [variant for variant in variants if variant.steady_reached]
    deviations = [deviation for variant in steady if (deviation := theory_deviation(variant)) is not None]
    return max((abs(deviation) for deviation in deviations), default=None)


def _by_waf(variants: Sequence[ComparedVariant]) -> list[ComparedVariant]:
    """The variants with a WAF, smallest first."""
    return [v for _, _, v in sorted((v.waf, at, v) for at, v in enumerate(variants) if v.waf is not None)]


def _of_direction(variant: ComparedVariant) -> str:
    """The number of requests that the picture shows, such as ", 14,600 of them writes"; "" if it shows all."""
    if variant.speed is None or variant.speed.direction_iops == variant.speed.iops:
        return ""
    return f", {wording.estimated(variant.speed.direction_estimate)} of them {variant.speed.direction}s"


def _by_iops(variants: Sequence[ComparedVariant]) -> list[tuple[ComparedVariant, Estimate]]:
    """The variants with a speed above 0, fastest first."""
    known = [(v, v.speed.estimate) for v in variants if v.speed is not None and v.speed.iops > 0]
    return sorted(known, key=lambda pair: -pair[1].value)
