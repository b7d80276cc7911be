"""The study `spare-area-sandforce`: see README.md beside this file."""
