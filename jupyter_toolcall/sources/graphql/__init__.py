"""Tools from a GraphQL schema."""
