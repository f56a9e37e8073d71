"""Reports of state changes without a fence of their own: between tags, under a heading, or as bare key lines."""
