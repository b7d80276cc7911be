"""The study `internal-fragmentation`: see README.md in this folder."""
