"""The savings of zones, and the cost of the host's garbage collection instead; see README.md."""
