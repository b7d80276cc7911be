"""Derives the seeds of the jobs' random numbers from the seed of the run."""

import hashlib


def clone_seed(run_seed: int, randseed: int | None, section_index: int, clone: int) -> int:
    """A 64-bit seed for one clone of one job.

    It depends on the run's seed, the job's position in the file and the clone's number, so that all streams differ and
    a run can be repeated; it does not depend on the name of the job or the file. If the job sets `randseed`, that
    replaces the run's seed: the job's requests are then the same with every run seed.

    In fio, `randrepeat=0` draws other numbers in every run; here only the run's seed has this effect.
    """
    origin = f"run:{run_seed}" if randseed is None else f"randseed:{randseed}"
    digest = hashlib.blake2b(f"{origin}:{section_index}:{clone}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
