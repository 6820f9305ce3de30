"""league.v1: twelve messages, translated from and to those of league.v2."""
