"""Facts about embedding models, such as their dimension, their prefixes and the similarity of unrelated texts.

Other models work too. For those, the dimension must be configured, and the other facts can be.
"""

from __future__ import annotations

import re

from attrs import frozen


@frozen
class EmbeddingFacts:
    """Facts about one family of models."""

    dimension: int = 0
    """The number of components of a vector. 0 if it is not known."""
    query: str = ""
    """The prefix of a query."""
    passage: str = ""
    """The prefix of a passage, which is a text to be found."""
    baseline: float | None = None
    """The cosine of a query and an unrelated passage. If it is None, it is measured."""
    shortens: bool = False
    """Whether the model can return shorter vectors on request."""


_SEARCH = "Represent this sentence for searching relevant passages: "
_E5_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
_QWEN = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_GEMMA = ("task: search result | query: ", "title: none | text: ")
_E5 = ("query: ", "passage: ")
_NOMIC = ("search_query: ", "search_document: ")

# Patterns that are searched in the lower-case name of the model. The first match counts.
_FAMILIES: tuple[tuple[str, EmbeddingFacts], ...] = (
    (r"text-embedding-3-small", EmbeddingFacts(1_536, shortens=True)),
    (r"text-embedding-3-large", EmbeddingFacts(3_072, shortens=True)),
    (r"text-embedding-ada-002", EmbeddingFacts(1_536, baseline=0.7)),
    (r"gemini-embedding-001", EmbeddingFacts(3_072, shortens=True)),
    (r"mistral-embed", EmbeddingFacts(1_024)),
    (r"e5-large-instruct", EmbeddingFacts(1_024, _E5_INSTRUCT)),
    (r"e5-large", EmbeddingFacts(1_024, *_E5, 0.78)),
    (r"e5-base", EmbeddingFacts(768, *_E5, 0.78)),
    (r"e5-small", EmbeddingFacts(384, *_E5, 0.78)),
    (r"bge-m3", EmbeddingFacts(1_024)),
    (r"bge-(?:large|base|small)-en", EmbeddingFacts(0, _SEARCH)),
    (r"mxbai-embed-large", EmbeddingFacts(1_024, _SEARCH, shortens=True)),
    (r"snowflake-arctic-embed-?2|arctic-embed-[ml]-v2", EmbeddingFacts(0, "query: ")),
    (r"arctic-embed", EmbeddingFacts(0, _SEARCH)),
    (r"nomic-embed-text", EmbeddingFacts(768, *_NOMIC)),
    (r"qwen3-embedding[-:]0\.6b", EmbeddingFacts(1_024, _QWEN, shortens=True)),
    (r"qwen3-embedding[-:]4b", EmbeddingFacts(2_560, _QWEN, shortens=True)),
    (r"qwen3-embedding[-:]8b", EmbeddingFacts(4_096, _QWEN, shortens=True)),
    (r"qwen3-embedding", EmbeddingFacts(0, _QWEN, shortens=True)),
    (r"embeddinggemma", EmbeddingFacts(768, *_GEMMA, shortens=True)),
    (r"all-minilm", EmbeddingFacts(384)),
    (r"paraphrase-multilingual-minilm", EmbeddingFacts(384)),
)


def facts_of_model(name: str) -> EmbeddingFacts:
    """Return the facts about a model. ``name`` may include a provider, an organisation and a tag."""
    plain = name.lower()
    return next((facts for pattern, facts in _FAMILIES if re.search(pattern, plain)), EmbeddingFacts())
