"""league.v2, as it is written and as third-party agents write it."""
