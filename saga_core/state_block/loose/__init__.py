"""Reports of a state that stand in no fence of their own: between tags, under a heading, as bare key lines."""
