"""The lab: strategies against strategies, many thousand times, in process and without messages."""
