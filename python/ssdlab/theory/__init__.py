"""Theory and arithmetic without a simulation: write amplification in closed form, life, price.

Promise: a formula that does not apply gives nothing. Users get the commands `model` and `price` and the functions of
these names, the theory beside simulated figures, and the life in `lifetime`.

Imports from: foundation, evidence, presentation, simulator.
"""
