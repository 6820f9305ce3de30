"""Players that are MCP servers: an MCP client, and how messages become calls of their tools."""
