"""What zones save and what the host's garbage collection costs instead; see README.md."""
