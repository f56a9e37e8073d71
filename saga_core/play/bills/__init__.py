"""The bills of turns: how they are made, and how those of unrecorded turns are entered."""
