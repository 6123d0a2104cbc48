"""The content of values: copies, JSON, and a canonical form to take digests of."""
