"""What crosses a wire, whichever wire it is: a body out, a status and a body back."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from agent_league.protocol.failures import BusyError, CrashedError, StatusError

JSON_TYPE = "application/json"
ExtraHeaders: TypeAlias = tuple[tuple[str, str], ...]


class Answer(Struct, frozen=True):
    """What a server answers, or what a peer has sent back.

    *content_type* and *headers* are what a server writes; a client does not fill them in.
    """

    status: int
    body: bytes
    content_type: str = JSON_TYPE
    headers: ExtraHeaders = ()
    is_refusal: bool = False
    """Whether it says that the request was wrong; whoever is refused often has to wait."""


class StreamedAnswer(NamedTuple):
    """An answer that is sent while it is made, such as an event stream for a live page.

    The iterator is cancelled when the caller leaves or the server closes.
    """

    chunks: AsyncIterator[bytes]
    content_type: str
    headers: ExtraHeaders = ()
    status: int = 200


MISSING = "/404"
"""The path of what people are shown who ask for something that is not there."""


class PageRequest(NamedTuple):
    """A GET of a page: its path, its query, and its headers with names in lower case."""

    path: str
    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


PageAnswer: TypeAlias = Answer | StreamedAnswer | Awaitable[Answer]


class HttpRequest(NamedTuple):
    """A body with headers of its own, for a peer that looks at more than bodies."""

    body: bytes
    headers: Mapping[str, str]
    is_answer: Callable[[bytes], bool]
    """Whether the data of an event is the answer, if the response is a stream of events."""


class Response(NamedTuple):
    """What a peer sent back to an `HttpRequest`; the names of headers are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})


Post: TypeAlias = Callable[[str, bytes, float], Awaitable[Answer]]
"""Send a body to a URL and return the answer, or raise `NoAnswerError` within so many seconds."""

SendRequest: TypeAlias = Callable[[str, HttpRequest, float], Awaitable[Response]]
"""Send a request to a URL and return the response, or raise `NoAnswerError` as `Post` does."""


class Wire(Protocol):
    """How bodies reach other agents: over HTTP, or in memory."""

    def post(self, url: str, body: bytes, within: float) -> Awaitable[Answer]: ...

    def exchange(
        self, url: str, http_request: HttpRequest, within: float
    ) -> Awaitable[Response]: ...

    def get(self, url: str, within: float) -> Awaitable[Answer]: ...

    def reaches(self, url: str, within: float) -> Awaitable[bool]: ...

    def listens(self, url: str, within: float) -> Awaitable[bool]: ...


_FIRST_REDIRECT, _FIRST_CLIENT_ERROR, _FIRST_SERVER_ERROR = 300, 400, 500
_FAILURES = {429: BusyError, 500: CrashedError}


def check_answer(answer: Answer, who: str) -> Answer:
    """Return *answer*, or raise `StatusError` if its status says that *who* cannot answer now.

    A redirect counts as that: following one would let a peer direct us to somebody else. An
    agent that failed on one message, and says so in JSON, has answered.
    """
    status = answer.status
    if status < _FIRST_REDIRECT or (status >= _FIRST_SERVER_ERROR and _says_why(answer)):
        return answer
    fault = f"{who} answered HTTP {status}"
    if status < _FIRST_CLIENT_ERROR:
        raise StatusError(f"{fault}, and redirects are not followed")
    if status in _FAILURES:
        raise _FAILURES[status](fault)
    if status >= _FIRST_SERVER_ERROR:
        raise StatusError(fault)
    return answer


def _says_why(answer: Answer) -> bool:
    """Whether the body of an answer that says no is JSON of the agent itself, not of a proxy."""
    is_object = answer.body.lstrip()[:1] == b"{"
    return is_object and (answer.status == _FIRST_SERVER_ERROR or b'"jsonrpc"' in answer.body)
