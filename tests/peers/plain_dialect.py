"""A dialect that understands only right messages, for tests of what is below all dialects."""

from msgspec import UNSET

from agent_league.dialects.dialect import Dialect, Reader, Received, Receiver
from agent_league.dialects.v2.inbound import read_framed
from agent_league.dialects.v2.session import dialect
from agent_league.protocol.jsonrpc import Call


class _PlainReader(Reader):
    def read(self, call: Call, body: bytes, receiver: Receiver) -> Received | None:
        return Received([read_framed(call, body)], wants_answer=call.id is not UNSET)


PLAIN: Dialect = dialect._replace(make_reader=lambda kinds: _PlainReader())
