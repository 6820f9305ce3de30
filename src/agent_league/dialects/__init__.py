"""What strangers say instead of what the protocol asks for, and how they are answered.

Pure functions between the wire and the messages: nothing above `transport` knows a dialect.
"""

from agent_league.dialects.ledger import Ledger
from agent_league.dialects.rules import RULES, Deviation, Rule

__all__ = ["RULES", "Deviation", "Ledger", "Rule"]
