"""Databases and caches as workloads: an LSM tree, a B+ tree with a write-ahead log, CacheLib's cache, a KV cache.

`options.py` defines their options, with defaults and sources; `store.py` makes the engine's jobs. The trees themselves
are `crates/engine/src/workload/store/`.
"""

from ssdlab.simulator.workloads.stores.store import SUFFIX, StoreWorkload, is_store, load, parse

__all__ = ["SUFFIX", "StoreWorkload", "is_store", "load", "parse"]
