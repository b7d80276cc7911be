"""The KV cache of a language model server: chunks of the histories of sessions that return (`kv-cache`).

A chunk of 256 tokens (LMCache's default) has 256 x 2 x layers x key-value heads x size of a head x bytes a number:
3 MiB for Qwen2.5-0.5B (24 layers, 2 heads of 64, 2 bytes), 32 MiB for Llama-3.1-8B (32 layers, 8 heads of 128).
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.stores.options import Amount

KIND = "kv-cache"
_BLOCK_BYTES = 4096
_CHUNKS_MAX = 1 << 28


def chunk_bytes(source: str, values: Mapping[str, Any], scale: Fraction) -> int:
    """The size of a chunk on a drive of this scale. InputError names the option and what is allowed.

    It shrinks with the drive, so that an erase unit holds as many chunks as on the full one, but not below a request:
    some hundred chunks in an erase unit give the same write amplification as thousands, and smaller requests would take
    another time.
    """
    chunk, layers, request = (int(values[name]) for name in ("chunk", "layers", "request"))
    unit = _BLOCK_BYTES * layers
    if chunk % unit:
        raise InputError(
            f"{source}: chunk is {chunk:,} bytes, layers={layers}; allowed is a multiple of 4 KiB a layer, {unit:,} "
            "bytes"
        )
    return min(chunk, max(-(-request // unit), round(chunk * scale / unit)) * unit)


def tree(source: str, values: Mapping[str, Any], data_bytes: int, scale: Fraction) -> plain.TreeKvCache:
    """The engine's cache of this size. InputError names the option and what is allowed."""
    chunk = chunk_bytes(source, values, scale)
    turn, context = (values[name] for name in ("turn", "context"))
    slots = data_bytes // chunk
    if context > slots:
        raise InputError(f"{source}: context={context}; allowed are up to {slots:,} chunks here, those of the cache")
    if turn > context:
        raise InputError(f"{source}: turn={turn}; allowed are up to {context} chunks, the context")
    wanted: Amount = values["sessions"]
    if wanted.share is None:
        sessions = max(1, round(wanted.size_bytes * scale * values["chunk"] / chunk))
    else:
        sessions = max(1, round(wanted.share * slots / context))
    if sessions * context > _CHUNKS_MAX:
        raise InputError(
            f"{source}: {sessions:,} sessions of up to {context} chunks; allowed are {_CHUNKS_MAX:,} chunks in all"
        )
    return {
        "kind": "kv-cache",
        "chunk_bytes": chunk,
        "layers": values["layers"],
        "sessions": sessions,
        "turn_chunks": turn,
        "context_chunks": context,
        "zipf_theta": values["zipf"],
    }
