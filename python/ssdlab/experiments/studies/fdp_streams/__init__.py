"""The effect and the cost of placement handles for two loads on an FDP drive; see README.md."""
