"""The league SDK of document 001 by its own name: configuration, data and logs of a league.

The same as `agent_league.files`; docs/files.md shows how it is used.
"""

from agent_league.files import *  # noqa: F403 - the same names, on purpose
from agent_league.files import __all__ as __all__
