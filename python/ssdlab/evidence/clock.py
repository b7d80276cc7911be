"""What a result without a clock is said not to have."""

UNTIMED = (
    "untimed: requests do not overlap; with the clock write amplification differs (by -5 to +4 % on most drives that "
    "were tried, see docs/theory/steady-state.md)"
)
