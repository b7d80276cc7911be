"""The study `internal-fragmentation`: see README.md beside this file."""
