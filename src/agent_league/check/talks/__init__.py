"""The conversations that a check holds with an agent, and who it is in them. They judge nothing."""
