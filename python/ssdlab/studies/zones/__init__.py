"""What zones save and what the host's cleaning costs instead; see README.md."""
