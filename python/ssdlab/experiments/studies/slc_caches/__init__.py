"""Full-span writes of drives with SLC caches, as reviewers measured them; see README.md."""
