"""The targets on which a job runs: simulated and real drives. A target takes a job and returns a result."""
