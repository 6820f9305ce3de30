"""Sends the traces of a league to a collector of OpenTelemetry. It needs the extra `otel`."""

from collections.abc import Iterable
from typing import Any

from agent_league.extras import import_extra
from agent_league.http.exchange import Wire
from agent_league.protocol import LeagueError
from agent_league.protocol.failures import NoAnswerError
from agent_league.web.spans import Span

EXTRA = "otel"
CONNECT_TIMEOUT, TIMEOUT = 2.0, 10.0
"""Seconds that the collector has to take a connection, and to take one batch."""


class CollectorError(LeagueError):
    """A collector did not take what it was sent."""


class Collector:
    """Takes spans at *url*, by OTLP over HTTP (`http://127.0.0.1:4318`)."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._trace = import_extra("opentelemetry.trace", EXTRA)
        self._sdk = import_extra("opentelemetry.sdk.trace", EXTRA)
        self._resource = import_extra("opentelemetry.sdk.resources", EXTRA).Resource
        otlp = import_extra("opentelemetry.exporter.otlp.proto.http.trace_exporter", EXTRA)
        endpoint = url if url.endswith("/v1/traces") else f"{url.rstrip('/')}/v1/traces"
        self._exporter = otlp.OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT)
        self._resources: dict[str, Any] = {}

    async def check(self, wire: Wire) -> None:
        """Raise `CollectorError` if nobody listens there: the exporter would try again and again."""
        try:
            is_there = await wire.listens(self._url, CONNECT_TIMEOUT)
        except NoAnswerError:  # it is no address
            is_there = False
        if not is_there:
            raise CollectorError(f"no collector listens at {self._url}")

    def send(self, spans: Iterable[Span]) -> None:
        """Send *spans*, or raise `CollectorError`."""
        sent = self._exporter.export([self._convert(span) for span in spans])
        if sent.name != "SUCCESS":
            raise CollectorError(f"no collector took the traces at {self._url}")

    def close(self) -> None:
        self._exporter.shutdown()

    def _convert(self, span: Span) -> Any:
        status = self._trace.Status(self._trace.StatusCode.UNSET)
        if span.error is not None:
            status = self._trace.Status(self._trace.StatusCode.ERROR, span.error)
        kind = self._trace.SpanKind
        return self._sdk.ReadableSpan(
            span.name,
            context=self._make_context(span.trace_id, span.span_id),
            parent=span.parent_id and self._make_context(span.trace_id, span.parent_id),
            resource=self._find_resource(span.service),
            attributes=dict(span.attributes),
            kind=kind.CLIENT if span.parent_id else kind.INTERNAL,
            instrumentation_scope=None,
            status=status,
            start_time=span.began_ns,
            end_time=span.ended_ns,
        )

    def _make_context(self, trace_id: str, span_id: str) -> Any:
        flags = self._trace.TraceFlags(1)  # sampled
        return self._trace.SpanContext(int(trace_id, 16), int(span_id, 16), False, flags)

    def _find_resource(self, service: str) -> Any:
        if service not in self._resources:
            self._resources[service] = self._resource({"service.name": service})
        return self._resources[service]
