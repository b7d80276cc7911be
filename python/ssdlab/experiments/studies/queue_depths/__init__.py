"""Random requests by queue depth: a drive fitted to depths 1 and 32 predicts the other depths; see README.md."""
