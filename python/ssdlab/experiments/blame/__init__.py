"""Which program wears the drive, and which of its writes: from its calls to the flash, with what would help.

`calls` reads strace's recordings, `watching` reads what the system counts, `file_system` turns calls into the requests
that reach the drive, `changes` changes the calls as another setting would, `flash` simulates the requests on a drive,
`blaming` puts all of it together.
"""
