"""What months of reading alone wrote to the flash of four drives; see README.md."""
