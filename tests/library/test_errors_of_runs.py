"""A run that ends with an error of the engine or of a job says so in a sentence."""

import pytest

from ssdlab import RunFailed
from ssdlab.simulator.engine import in_words_of_the_user, native


def test_an_error_that_ends_a_run_is_one_of_the_run_and_has_no_traceback() -> None:
    with pytest.raises(RunFailed, match=r"^internal error: nothing can happen any more"), in_words_of_the_user():
        raise native().RunError("internal error: nothing can happen any more, because no event is pending")
