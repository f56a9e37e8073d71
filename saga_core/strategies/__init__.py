"""Memory strategies: what is learned from play besides the state, each a plugin, off unless configured."""
