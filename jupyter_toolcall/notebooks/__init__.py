"""Sessions inside .ipynb files: read, executed anew, and said again."""
