"""Databases and a flash cache as workloads: an LSM tree, a B+ tree with a write-ahead log, CacheLib's cache.

`options.py` has what may be said of each, with defaults and sources; `store.py` makes the engine's jobs of it. The
trees themselves are `crates/engine/src/workload/store/`.
"""

from ssdlab.workloads.stores.store import SUFFIX, StoreWorkload, is_store, load, parse

__all__ = ["SUFFIX", "StoreWorkload", "is_store", "load", "parse"]
