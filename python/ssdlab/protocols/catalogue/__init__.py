"""The protocols, one file each; `ssdlab.protocols.registry` lists them."""
