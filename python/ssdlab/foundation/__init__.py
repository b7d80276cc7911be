"""What every room may use: quantities and their notation, names, extras, memory, data of foreign form.

Promise: no knowledge of drives, workloads or results, and no package that is slow to import. `quantities` reads and
writes sizes, times and shares, `by_name` finds an entry by its name and names the near ones, `extras` names the extra
that a command lacks, `available_memory` is the memory that a process may use, `foreign` has the types of data whose
form others decide. Users get none of it directly; the errors that they catch are in `ssdlab.errors`.

Imports from: nothing.
"""
