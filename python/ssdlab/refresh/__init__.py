"""The remedy for internal fragmentation: files that are scattered in the flash are rewritten in place, in order.

A drive maps addresses to flash in the order of writing. Data that were overwritten here and there lie scattered there,
and reading them in order is slow; written once more in order they lie in order. The file system sees no change.

`lease` and `freezing` keep everybody else from writing meanwhile, `targets` say what is rewritten and under which of
them, `rewriting` does it, `progress` remembers how far it came, `report` says what it did.
"""
