"""The Model Context Protocol beside the league's own dialect. The only package that knows its SDK.

Nothing but `server.py` imports the SDK, and nothing imports `server.py` before somebody speaks MCP.
"""
