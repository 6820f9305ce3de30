"""Nim for Agent League."""
