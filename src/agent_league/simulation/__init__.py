"""A league on paper: its real schedule, assignment and retries in virtual time, at measured costs.

Nothing is sent: messages, rows, bytes and seconds of CPU are counted, for any number of agents.
"""
