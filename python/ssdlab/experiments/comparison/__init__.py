"""Compares one workload on several spare areas, drives and policies.

`axes.plan` makes the variants, `ssdlab.simulator.runs.run_many` runs them, `variant.Variant` is one variant with its
result, theory and endurance; `table` and `output` print and write them. Import these modules directly: some have heavy
imports, and wrong input should be reported before these.
"""
