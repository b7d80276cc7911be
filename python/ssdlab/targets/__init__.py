"""What a job runs on. A target takes a job and gives back a result."""
