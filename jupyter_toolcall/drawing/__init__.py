"""Where an object stands in the graph, and the picture of it: pure functions of rows."""
