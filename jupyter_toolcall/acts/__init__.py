"""What can be done with a session, an act a file: open, fork, decide, reply, ask aside, verify."""
