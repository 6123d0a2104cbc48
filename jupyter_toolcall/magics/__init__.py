"""`%%toolchat` and `%toolchat`: the doors of a notebook, and what stands behind them."""
