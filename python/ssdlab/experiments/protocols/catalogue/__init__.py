"""The protocols, one file each; `ssdlab.experiments.protocols.registry` lists them."""
