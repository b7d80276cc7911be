"""The study `pny-over-provisioning`: see README.md beside this file."""
