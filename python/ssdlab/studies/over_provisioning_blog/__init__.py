"""A consumer drive that collapses after 5 GB of writes, and does not with unpartitioned space; see README.md."""
