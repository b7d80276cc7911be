"""What theory and arithmetic say without a run: write amplification in closed form, life, price."""
