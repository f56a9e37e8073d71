"""The resident layer: stores that answer reads from memory and write through to a durable store behind them."""
