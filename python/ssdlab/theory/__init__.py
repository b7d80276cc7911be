"""Theory and arithmetic without a simulation: write amplification in closed form, life, price."""
