"""Values of an identification as its table and its page show them."""

import pytest

from ssdlab.hardware.identification.output import shown


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("over_provisioning", 0.07365, "7.4 %"),
        ("buffer_bytes", 8 << 20, "8 MiB"),
        ("write_buffer.bytes", 7_987_528.0, "7.6 MiB"),
        ("nand.page_bytes", 16384, "16 KiB"),
        ("nand.read_us", 59.9713, "59.97"),
        ("nand.pages_per_block", 768, "768"),
        ("write_buffer.power_loss_protection", True, "true"),
        ("ftl.victim", "greedy", "greedy"),
    ],
)
def test_sizes_and_shares_have_their_unit(key: str, value: object, text: str) -> None:
    assert shown(key, value) == text
