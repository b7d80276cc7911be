"""What placement handles do to a flash cache of small and large objects; see README.md."""
