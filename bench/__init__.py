"""How fast a league is, beside references that are measured in the same run."""
