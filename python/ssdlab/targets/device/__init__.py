"""The real drive as a target: a job file and a path become fio runs, and these a result like that of a simulated drive.

- `place`: what a path is (a folder, a file, a device) and where fio may write;
- `jobtext`: a checked job file as the files that fio is given, a stage each;
- `fio`: one run of fio, its progress, its orderly end;
- `health`: SMART before and after each stage, and the write amplification that follows;
- `measured`, `series`, `text`: the result; `run`: all of them together; `plan`: what a run will write, beforehand.

A file in a folder is the safe default: nothing is written but a file that is made for it and removed afterwards. What
destroys data on a device goes through `ssdlab.safety` first. Linux only: elsewhere `ssdlab.safety` says so.
"""
