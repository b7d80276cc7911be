"""The effect of placement handles on a flash cache of small and large objects; see README.md."""
