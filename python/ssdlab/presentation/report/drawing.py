"""Checks the memory before a picture is drawn.

The library that draws runs V8, which aborts the whole process (SIGTRAP) if it cannot allocate memory. Drawing in a
separate process would delay each command by half a second.
"""

from ssdlab.errors import RunFailed
from ssdlab.foundation import available_memory
from ssdlab.foundation.quantities import format_bytes_binary

# Measured: V8 reserves an address space of 64 GiB; a picture with thousands of points uses 75 MiB of memory.
_ADDRESS_SPACE_BYTES = 66 << 30
_MEMORY_BYTES = 128 << 20


def check() -> None:
    """Raises RunFailed if drawing would abort."""
    space, memory = available_memory.address_space_bytes(), available_memory.available_bytes()
    if space is not None and space < _ADDRESS_SPACE_BYTES:
        raise RunFailed(
            f"drawing reserves {format_bytes_binary(_ADDRESS_SPACE_BYTES)} of addresses, and the limit (ulimit -v) "
            f"leaves {format_bytes_binary(max(space, 0))}"
        )
    if memory is not None and memory < _MEMORY_BYTES:
        raise RunFailed(
            f"drawing takes up to {format_bytes_binary(_MEMORY_BYTES)} of memory, {format_bytes_binary(memory)} are "
            "available"
        )
