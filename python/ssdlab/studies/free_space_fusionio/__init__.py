"""The study `free-space-fusionio`: see README.md beside this file."""
