"""Which data-centre drives of the catalogue pass a large operator's acceptance test, and what stops the others."""
