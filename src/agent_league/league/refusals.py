"""Applications that a league refuses: whoever runs the league has to know why somebody is not in it."""

from agent_league.agent import Agent
from agent_league.protocol import ProtocolError, registration
from agent_league.protocol.message import name

MOST_SHOWN = 50
"""How many causes are shown: anybody can apply, as often as they like."""
_APPLICATIONS = {name(registration.RegisterPlayer), name(registration.RegisterReferee)}


class RefusedApplications:
    """Shows each application that *league* refuses, once for each cause."""

    def __init__(self, league: Agent) -> None:
        self._league = league
        self._shown: set[str] = set()

    def note(self, who: str, reason: str, hint: str = "") -> None:
        """Say that *who* was refused for *reason*, unless that was said before."""
        text = f"{who} is refused: {reason}"
        if text not in self._shown and len(self._shown) < MOST_SHOWN:
            self._shown.add(text)
            shown = f"{text} (hint: {hint})" if hint else text
            self._league.agent_log.warn("APPLICATION_REFUSED", shown)

    def note_error(self, error: ProtocolError) -> None:
        """Say that a message was refused with *error*, if it was an application."""
        if error.about in _APPLICATIONS:
            mend = str(error.context.get("mend") or "its registration has to be corrected")
            self.note("somebody who wants to join", f"{error.code} {error.detail}", mend)
