"""Messages between agents: ask, tell, answer, and what to do when a peer does not answer."""
