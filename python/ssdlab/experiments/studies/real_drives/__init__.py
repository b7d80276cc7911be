"""Published measurements of drives on the market, compared with the drives of the catalogue."""
