"""An agent as a server: its pages, its tools, and MCP beside the league protocol on one address."""
