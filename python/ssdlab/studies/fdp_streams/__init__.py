"""What placement handles did to two loads on a drive that has them, and what they cost; see README.md."""
