"""Many leagues at one address: one process, one store."""
