"""The conversations of a check with an agent, and the peers that it needs. They judge nothing."""
