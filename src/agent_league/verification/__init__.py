"""Checks a whole league from its record alone: nobody has to believe those who ran it."""
