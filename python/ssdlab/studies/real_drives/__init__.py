"""What drives that can be bought did, and what the drives of the catalogue do."""
