"""Wrong stores that are caught in a long search only, for the sake of a short run."""

from __future__ import annotations

LEFT_TO_DEEP = frozenset(
    {
        "graph.DeletesFiveHundredEdgesOfANode",
        "graph.ForgetsTheWatermarkOfALargeMutation",
        "graph.LosesTheTailOfAMutation",
        "graph.NeighboursEndAtAThousand",
        "graph.OrdersPagesByThemselves",
        "graph.ScanEndsAtAThousand",
        "graph.TheLabelIndexSeesHalf",
        "graph.WritesNothingIntoARecoveredGraph",
        "state.AnswersNothingAfterAFullDisk",
        "state.AppendsBehindATornTail",
        "state.BelievesTheClockOfWhoComes",
        "state.EmptiesWhatItMayNotOpen",
        "state.ExpectsOnlyWhatThisProcessWrote",
        "state.LeavesHalfOfAFailedWrite",
        "state.LooksUpByASaltedHash",
        "state.LosesTheTailOfACommit",
        "state.LosesWhatRecoveryDidNotClose",
        "state.OrdersByASaltedHash",
        "state.ReadsATornTail",
        "state.ReadsAheadOfTheDisk",
        "state.ReadsItsOwnCopy",
        "state.SavesAtItsEnd",
        "state.ScanEndsAtAThousand",
        "state.SortsEachPageByItself",
        "state.StartsAnewBehindManyKeys",
        "state.SyncsInTwoParts",
        "state.TheIndexSeesHalf",
        "state.WritesConditionalCommitsLater",
        "vector.CountsAPageWithAFilter",
        "vector.CountsToAThousand",
        "vector.DeletesFiveHundred",
        "vector.DropsAThousand",
        "vector.LosesTheTailOfAnUpsert",
        "vector.ScanEndsAtAThousand",
        "vector.TheIndexSeesHalf",
    }
)
"""Each takes a fifth of a second and more, and dies of a check of which another one dies in every run."""
