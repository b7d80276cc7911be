"""The KV cache of a language model server: chunks of the histories of sessions that return (`kv-cache`).

A chunk of 256 tokens (LMCache's default) has 256 x 2 x layers x key-value heads x size of a head x bytes a number:
3 MiB for Qwen2.5-0.5B (24 layers, 2 heads of 64, 2 bytes), 32 MiB for Llama-3.1-8B (32 layers, 8 heads of 128).
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ssdlab.engine import plain
from ssdlab.errors import InputError
from ssdlab.workloads.stores.options import Amount

KIND = "kv-cache"
_BLOCK_BYTES = 4096
_CHUNKS_MAX = 1 << 28


def tree(source: str, values: Mapping[str, Any], data_bytes: int, scale: Fraction) -> plain.TreeKvCache:
    """The engine's cache of this size. InputError names the option and what is allowed."""
    chunk_bytes, layers, turn, context = (values[name] for name in ("chunk", "layers", "turn", "context"))
    if chunk_bytes % (_BLOCK_BYTES * layers):
        raise InputError(
            f"{source}: chunk is {chunk_bytes:,} bytes, layers={layers}; allowed is a multiple of 4 KiB a layer, "
            f"{_BLOCK_BYTES * layers:,} bytes"
        )
    slots = data_bytes // chunk_bytes
    if context > slots:
        raise InputError(f"{source}: context={context}; allowed are up to {slots:,} chunks here, those of the cache")
    if turn > context:
        raise InputError(f"{source}: turn={turn}; allowed are up to {context} chunks, the context")
    wanted: Amount = values["sessions"]
    if wanted.share is None:
        sessions = max(1, round(wanted.size_bytes * scale))
    else:
        sessions = max(1, round(wanted.share * slots / context))
    if sessions * context > _CHUNKS_MAX:
        raise InputError(
            f"{source}: {sessions:,} sessions of up to {context} chunks; allowed are {_CHUNKS_MAX:,} chunks in all"
        )
    return {
        "kind": "kv-cache",
        "chunk_bytes": chunk_bytes,
        "layers": layers,
        "sessions": sessions,
        "turn_chunks": turn,
        "context_chunks": context,
        "zipf_theta": values["zipf"],
    }
