"""Pictures as SVG, drawn from plain values."""
