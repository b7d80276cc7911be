"""The keys of the drive files, numbers and choices, that were chosen with the published figures in view."""

_FLASH = ("nand.blocks_per_plane", "nand.program_us", "nand.copy_read_us")
_LEVELING = ("ftl.wear_leveling", "ftl.wear_leveling.threshold")
_FRONT = ("nand.read_us", "nand.suspend", "nand.program_suspend_us", "controller.command_us")
_HELD = ("nand.suspend_spread_us", "nand.copy_pages_together")
_BACKGROUND = ("nand.background_us", "nand.background_per_second")
_BUFFER = ("write_buffer.bytes", "write_buffer.resume_bytes")
_CLOSED = ("write_buffer.close_bytes", "write_buffer.closed_per_second", "write_buffer.free_at_program")
_THROTTLE = (
    "ftl.gc_throttling",
    "write_buffer.bytes",
    "write_buffer.gc_admission_share",
    "background.idle_after_ms",
    "background.erased_pool_bytes",
)
_DELAYS = ("controller.delayed_share", "controller.delay_us")
"""Fitted to the PE8110; the 7450 MAX and the PM9A3 have its values, which were seen to be right for them. The P5520 has
its own."""
_SATURATED = ("nand.suspend_repeats_us", "ftl.gc_throttling.units_at_a_time", "write_buffer.paced")

THROUGHPUT: dict[str, tuple[str, ...]] = {
    "micron-7450-pro-960gb": (*_FLASH, "ftl.placement", *_LEVELING),
    "micron-7450-max-800gb": (),
    "skhynix-pe8110-960gb": (*_FLASH, "ftl.placement", *_LEVELING),
    "solidigm-p5520-1920gb": (*_FLASH, "ftl.victim", "ftl.victim.age_power"),
    "kioxia-cm7-r-3840gb": ("nand.blocks_per_plane",),
    "samsung-pm9a3-960gb": ("nand.blocks_per_plane",),
    "wd-dc-960gb": ("nand.blocks_per_plane",),
    "samsung-845dc-pro-400gb": (),
}
"""The keys fitted to the throughputs marked in `figures.csv`, by drive of the catalogue."""

LATENCY: dict[str, tuple[str, ...]] = {
    "micron-7450-max-800gb": (*_FRONT, *_HELD, *_BACKGROUND, *_THROTTLE, *_SATURATED, *_DELAYS),
    "skhynix-pe8110-960gb": (
        *_FRONT,
        *_HELD,
        *_BACKGROUND,
        *_DELAYS,
        "controller.command_slots",
        "nand.copy_read_us",
        "nand.suspend_repeats_us",
        "write_buffer.paced",
    ),
    "solidigm-p5520-1920gb": (
        *_FRONT,
        *_HELD,
        *_BUFFER,
        *_DELAYS,
        "nand.copy_read_us",
        "controller.program_us",
        "write_buffer.programs_first",
    ),
    "kioxia-cm7-r-3840gb": (
        *_FRONT,
        *_HELD,
        *_BACKGROUND,
        *_BUFFER,
        *_CLOSED,
        "nand.erase_suspend_us",
        "nand.erase_by_plane",
        "ftl.gc_throttling",
    ),
    "samsung-pm9a3-960gb": (
        *_FRONT,
        *_DELAYS,
        "controller.command_slots",
        "controller.slots_in_turn",
        "write_buffer.paced",
        "write_buffer.programs_first",
    ),
    "wd-dc-960gb": (*_FRONT, "controller.command_slots", "write_buffer.paced"),
}
"""The keys fitted to latencies. Of these `nand.copy_read_us` affects throughputs and, under skew,
`ftl.gc_throttling`."""

INITIAL_STATE: dict[str, tuple[str, ...]] = {"solidigm-p5520-1920gb": THROUGHPUT["solidigm-p5520-1920gb"]}
"""One of these figures was known while the drive was fitted, so all of them count as fitted."""

DATA_SHEET: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("kioxia-cm7-r-3840gb", "samsung-pm9a3-960gb", "wd-dc-960gb"), ("nand.program_us",)
)
"""The program time was computed from sequential writes."""
