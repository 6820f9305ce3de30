"""HTTP: the only package that knows how bytes travel. `memory.py` is the same without sockets."""
