"""The dialects in which agents speak to each other: a folder and a row of the table for each.

No agent knows a dialect by more than its name and the interface in `dialect.py`.
"""

from collections.abc import Mapping

from agent_league.dialects.dialect import Dialect
from agent_league.dialects.mcp import session as mcp
from agent_league.dialects.rest import session as rest
from agent_league.dialects.v1 import session as v1
from agent_league.dialects.v2 import session as v2

DIALECTS: Mapping[str, Dialect] = {each.dialect.name: each.dialect for each in (v1, mcp, rest, v2)}
OTHER_WAYS = (mcp.MCP, rest.REST)
"""The dialects in which a league is asked for admission that understands no other."""
