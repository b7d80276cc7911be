"""A consumer drive that becomes slow after 5 GB of writes, but not with unpartitioned space; see README.md."""
