"""From a session to the rows that a person sees, and what a panel has to be told of them."""
