"""What the model is told, and what its replies become as facts."""
