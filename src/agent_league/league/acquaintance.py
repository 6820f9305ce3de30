"""How each player is spoken to: found out when it comes, and told to the referees.

Nothing of it is stored: a league that is taken up again asks again.
"""

from agent_league.agent import Agent
from agent_league.league.roster import Entry, Lifecycle
from agent_league.mcp.client import bounded
from agent_league.mcp.client_probe import dialect_at
from agent_league.mcp.client_speech import McpSpeech
from agent_league.protocol.play import StartMatch
from agent_league.speeches import Peer
from agent_league.transport.line import Line
from agent_league.transport.speech import LeagueSpeech


async def acquainted(manager: Agent, entry: Entry) -> None:
    """Find out how *entry* is spoken to, and what its tools are if it has some.

    Raise a `NoAnswerError` if it does not answer, or shows no tools that we can read.
    """
    if entry.dialect is not None:
        return  # it has said so itself
    within = manager.patience.generic
    async with bounded(within, entry.endpoint):
        dialect = await dialect_at(entry.endpoint, manager.wire, within)
        peer = Peer(entry.endpoint, entry.agent_id, dialect)
        line = manager.speak(peer)
        if entry.state is Lifecycle.REGISTERED:
            line.speech = manager.speech(peer)  # before the first round its tools may still change
        if isinstance(line.speech, McpSpeech):
            await line.speech.look(within)


def line_to(manager: Agent, entry: Entry) -> Line:
    """Return the line to *entry*, in the dialect that it asked for, or that was found out."""
    if entry.dialect is None:
        return manager.line(entry.endpoint)
    return manager.speak(Peer(entry.endpoint, entry.agent_id, entry.dialect))


def peer_of(manager: Agent, entry: Entry) -> Peer:
    """Return *entry* as a referee should speak to it."""
    speech = line_to(manager, entry).speech
    mark = speech.mark if isinstance(speech, McpSpeech) else None
    return Peer(entry.endpoint, entry.agent_id, speech.dialect, mark)


def order_habits(manager: Agent, entry: Entry) -> LeagueSpeech | None:
    """Return how a referee is ordered, if it is spoken to in the league's dialect."""
    speech = manager.line(entry.endpoint).speech
    return speech if isinstance(speech, LeagueSpeech) else None


def call_by(manager: Agent, entry: Entry, alias: str) -> None:
    """Call a player from now on as it calls itself, whatever id we gave it."""
    speech = order_habits(manager, entry)
    if speech is not None:
        speech.alias = entry.agent_id, alias


def estranged(manager: Agent, referee: Entry) -> bool:
    """Whether *referee* is ordered in another form than START_MATCH, which has the ticket."""
    speech = order_habits(manager, referee)
    return speech is not None and speech.estranged(StartMatch)
