"""fio's `verify`: what a job writes carries checksums, and fio reads it again when the job has ended.

A simulated drive stores no data. Accepted are jobs whose requests do not depend on the checks: jobs that only read, and
with `do_verify=0` all others.
"""

from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs.option import OR_ON_A_REAL_DRIVE, Effect, Option
from ssdlab.simulator.workloads.jobs.values import any_text, anything, flag, truth, words

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section
    from ssdlab.simulator.workloads.jobs.patterns import Pattern

_OFF = ("0", "null")
VERIFY = Option(
    "verify", words(
        *_OFF, "md5", "crc64", "crc32", "crc32c", "crc32c-intel", "crc16", "crc7", "sha1", "sha256", "sha512",
        "sha3-224", "sha3-256", "sha3-384", "sha3-512", "xxhash", "meta", "pattern", "pattern_hdr",
    ),
    "checksums in the data; a job that writes needs do_verify=0, because the drive stores no data to check",
    Effect.MEANINGLESS, "0",
)  # fmt: skip
PATTERN = Option("verify_pattern", any_text, "a pattern instead of checksums, as verify", Effect.MEANINGLESS, "")
DO_VERIFY = Option("do_verify", truth, "0: do not read again what was written", Effect.MEANINGLESS, True)
ONLY = Option(
    "verify_only", flag, "only check", Effect.UNSUPPORTED, False, neutral=(False,),
    reason="the drive stores no data to verify",
)  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (
    VERIFY, PATTERN, DO_VERIFY, ONLY,
    *(Option(name, anything, "of verify", Effect.MEANINGLESS, None) for name in (
        "verifysort", "verifysort_nr", "verify_interval", "verify_offset", "verify_fatal", "verify_dump",
        "verify_async", "verify_async_cpus", "experimental_verify", "verify_state_load", "verify_state_save",
        "trim_verify_zero", "verify_backlog", "verify_backlog_batch",
    )),
)  # fmt: skip


def check(section: "Section", pattern: "Pattern") -> None:
    """Raises InputError if fio would read again what the job has written."""
    setting = section.setting(VERIFY) or section.setting(PATTERN)
    if setting is None or (section.get(VERIFY) in _OFF and not section.get(PATTERN)):
        return
    if "write" in pattern.transfers and section.get(DO_VERIFY):
        raise InputError(
            f"{setting.raw.where}: {setting.written}: fio would read again all that the job has written, and the "
            f"simulated drive stores no data to verify; add do_verify=0, {OR_ON_A_REAL_DRIVE}"
        )
