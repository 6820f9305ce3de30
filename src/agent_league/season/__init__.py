"""What a season adds up to: settings, roster and results, folded from events. Pure."""
