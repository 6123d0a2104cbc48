"""Whether files come out again as they were recorded, with nobody there."""
