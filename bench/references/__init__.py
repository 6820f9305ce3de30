"""The same league, with other libraries: all the messages of ours, and nothing but the messages."""
