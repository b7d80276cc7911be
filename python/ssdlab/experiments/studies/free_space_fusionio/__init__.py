"""The study `free-space-fusionio`: see README.md in this folder."""
