"""The real drive as a target: runs a job file through fio, and returns a result in the form of a simulated one.

- `place`: what a path is (a folder, a file, a device) and where fio may write, `permission` what the user permits;
- `jobtext`: a checked job file as job files for fio, one per stage;
- `fio`: one run of fio, with its progress and its orderly end;
- `health`: SMART before and after each stage, and the write amplification that follows;
- `measured`, `series`, `text`: the result; `run`: runs all stages; `plan`: an estimate of what a run will write.

A file in a folder is the safe default: only files created for the measurement are written, and removed afterwards.
`ssdlab.hardware.safety` checks every access that destroys data on a device. Linux only: elsewhere
`ssdlab.hardware.safety` raises an error.
"""
