"""What the facts mean: pure folds over the events of a branch."""
