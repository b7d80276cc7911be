"""The remedy for internal fragmentation: rewrites files that are scattered in the flash in place, in sequence.

A drive maps addresses to flash in the order of writing. Data that was overwritten randomly is scattered in flash, and
sequential reads of it are slow; rewriting it in sequence restores the order. The file system sees no change.

`lease` and `freezing` exclude other writers meanwhile, `targets` selects the pieces and the protection, `rewriting`
rewrites them, `progress` stores the position reached, `refreshing` combines all steps.
"""
