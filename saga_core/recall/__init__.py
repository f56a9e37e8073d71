"""Recall: finding what matters now, without a model: lexical index, fusion, graph walk, the lorebook's rules."""
