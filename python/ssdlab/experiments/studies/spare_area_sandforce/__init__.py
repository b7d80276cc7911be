"""The study `spare-area-sandforce`: see README.md in this folder."""
