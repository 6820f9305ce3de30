"""Running agents and leagues on this machine: their specs, their processes, their folder."""
