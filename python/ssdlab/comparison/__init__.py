"""The main job: one workload over several spare areas, drives and policies, laid side by side.

`axes.plan` makes the variants, `ssdlab.runs.run_many` runs them, `variant.Variant` is one with its result, theory and
endurance; `table` and `output` show them. Import from these: some of them load much, and wrong input should be reported
before that.
"""
