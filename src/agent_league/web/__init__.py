"""The league for people: pages from its events, a live stream, and a report to keep."""
