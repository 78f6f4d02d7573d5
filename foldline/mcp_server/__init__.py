"""The MCP server: tools for an agent's model, each answered by a running service over HTTP."""
