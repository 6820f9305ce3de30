"""Leagues that register agents by REST: a plain POST to a path of its own."""
