"""Practice: how good an agent is against known opponents, and how certain that is."""
