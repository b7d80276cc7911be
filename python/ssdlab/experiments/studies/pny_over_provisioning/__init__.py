"""The study `pny-over-provisioning`: see README.md in this folder."""
