"""What makers say of their drives, and what the catalogue's drives do under the same conditions."""
