"""Seeds of the jobs' random numbers, out of one seed of the run."""

import hashlib


def clone_seed(run_seed: int, randseed: int | None, section_index: int, clone: int) -> int:
    """A seed of 64 bits for one clone of one job.

    It depends on the run's seed, the job's place in the file and the clone's number, so that no two streams are alike
    and a run can be repeated; not on the job's or the file's name. `randseed` takes the run seed's place where the job
    gives it: then the job's requests stay the same under every run seed.

    fio's `randrepeat=0` draws other numbers in every run; here the run's seed alone decides that.
    """
    origin = f"run:{run_seed}" if randseed is None else f"randseed:{randseed}"
    digest = hashlib.blake2b(f"{origin}:{section_index}:{clone}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
