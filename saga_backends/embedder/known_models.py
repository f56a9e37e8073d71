"""Facts about embedding models: the size of their vectors, their prefixes, and how similar unrelated texts come out.

Other models work too. For these, the dimension must be configured, and the rest can be.
"""

from __future__ import annotations

import re

from attrs import frozen


@frozen
class EmbeddingFacts:
    """The facts about one family of models."""

    dimension: int = 0
    """Components of a vector; 0: not known."""
    query: str = ""
    """What stands before a question."""
    passage: str = ""
    """What stands before a text that is searched."""
    baseline: float | None = None
    """The cosine of a question and a text that have nothing to do with each other; None: not known, it is measured."""
    shortens: bool = False
    """Whether the model gives fewer components when it is asked to."""


_SEARCH = "Represent this sentence for searching relevant passages: "
_E5_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
_QWEN = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_GEMMA = ("task: search result | query: ", "title: none | text: ")
_NOMIC = ("search_query: ", "search_document: ")

# A pattern of the name in small letters, without provider and tag; the first that is found counts.
_FAMILIES: tuple[tuple[str, EmbeddingFacts], ...] = (
    (r"text-embedding-3-small", EmbeddingFacts(1_536, shortens=True)),
    (r"text-embedding-3-large", EmbeddingFacts(3_072, shortens=True)),
    (r"text-embedding-ada-002", EmbeddingFacts(1_536, baseline=0.7)),
    (r"gemini-embedding-001", EmbeddingFacts(3_072, shortens=True)),
    (r"mistral-embed", EmbeddingFacts(1_024)),
    (r"e5-large-instruct", EmbeddingFacts(1_024, _E5_INSTRUCT)),
    (r"e5-(?:large|base|small)", EmbeddingFacts(0, "query: ", "passage: ", 0.78)),
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

_E5_SIZES = {"e5-large": 1_024, "e5-base": 768, "e5-small": 384}


def facts_of_model(name: str) -> EmbeddingFacts:
    """What is known of the model that is called so, with or without provider, organisation and tag."""
    plain = name.lower()
    for pattern, facts in _FAMILIES:
        if re.search(pattern, plain):
            sizes = (size for part, size in _E5_SIZES.items() if part in plain)
            dimension = facts.dimension or next(sizes, 0)
            return EmbeddingFacts(dimension, facts.query, facts.passage, facts.baseline, facts.shortens)
    return EmbeddingFacts()
