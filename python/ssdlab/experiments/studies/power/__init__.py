"""The power of a drive through its first garbage collection and by size of reads; see README.md."""
