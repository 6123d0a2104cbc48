"""The journal: an append-only tree of events, whose it is, and how it is kept on disk."""
