"""Whether a session's tree is the one that its player made."""

from __future__ import annotations

from collections import Counter

from saga_core.journal import Journal
from tests.postgres.chaos.moved_player import MovedPlayer
from tests.postgres.chaos.narrator import Narrator


async def wrong_in_tree(journal: Journal, player: MovedPlayer, narrator: Narrator) -> list[str]:
    """In words: replies that are lost, forks that nobody made, a path that is not what the player saw."""
    tree = await journal.tree(player.session)
    turns = {turn.id: turn for turn in await journal.turns(player.session, list(tree.nodes))}
    told = {turn: found.reply.strip() for turn, found in turns.items()}
    wrong = []
    answers = Counter(
        narrator.number(reply) if narrator.number(reply) is not None else reply for reply in told.values() if reply
    )
    wrong += [f"{answer!r} stands {count} times in the tree" for answer, count in answers.items() if count > 1]
    for turn in turns.values():
        if turn.parent is None:
            continue
        reply = told[turn.id]
        if reply and reply not in player.edited and narrator.number(reply) is None:
            wrong.append(f"turn {turn.id}: nobody said {reply!r}")
        if turn.user not in player.below:
            wrong.append(f"turn {turn.id}: the player never said {turn.user!r}")
        elif told[turn.parent] != player.below[turn.user]:
            wrong.append(f"turn {turn.id} stands below {told[turn.parent]!r} and not {player.below[turn.user]!r}")
    shown = [reply for _, reply in player.history]
    leaves = [turn for turn, reply in told.items() if reply == shown[-1]]
    if len(leaves) == 1:
        path = [told[node.id] for node in reversed(list(tree.upwards(leaves[0])))]
        if [reply for reply in path if reply] != shown:
            wrong.append(f"the path is not what the player saw: {path} instead of {shown}")
    kept = {*told.values()}
    lost = (player.ended - kept - player.unrecorded) | (set(shown) - kept)
    wrong += [f"ended, without a notice, and nobody has it: {reply!r}" for reply in lost]
    player.ended -= player.unrecorded - kept
    return [f"session {player.session} of {player.name}: {each}" for each in wrong]
