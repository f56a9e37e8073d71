"""Other names that a report tells of somebody: in a status that reveals who she is, or in a note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from attrs import frozen

from saga_core.language import SENTENCE_TITLE, any_of, begins_about, caseless, every, frame_of, is_confided
from saga_core.model import Event, Kind, deltas
from saga_core.naming import Names, is_title, name_words, parts_alone, patterns_of, unmasked_in

_SENTENCE = re.compile(rf"(?:{SENTENCE_TITLE}|[^.;。；!！?？\n])+[.;。；!！?？]?")
_COMMA = re.compile(r"[,，、]")
_TITLED = re.compile(r"(?P<name>(?P<title>[A-Z][a-z]+)(?: [A-Z][\w-]+)+)(?![\w'’-])(?: (?:of|from|in) .*)?\Z")
"""A title and a name in Latin script, and what may stand behind them: Captain Orsel of the guard."""
_AROUND = " ;；"
_CLAUSE = re.compile(r"[^,，、;；:：]+")


@cache
def _same() -> re.Pattern[str]:
    """Sentences that tell that several are one person, with a group of each language. Made when first needed."""
    return re.compile(any_of(lambda each: each.names.same.replace("?P<names>", f"?P<{each.tag}>")), re.I)


@cache
def _since() -> re.Pattern[str]:
    """Matches words that a name holds from now on. Made when first needed."""
    return re.compile(any_of(lambda each: each.names.since))


@cache
def _nicknaming() -> tuple[re.Pattern[str], ...]:
    """Parts of sentences that tell that somebody gets a nickname. Made when first needed."""
    words = "|".join(re.escape(word) for each in every() for word in each.names.nicknames)
    aside = (
        rf"(?P<name>[^\s()（）,，、.。:：;；]{{1,24}}) ?[(（](?:{words})[ :：]{{0,2}}[\"'“‘「『]?"
        r"(?P<other>[^()（）\"'“”‘’「」『』]{1,20})[\"'”’」』]?[)）]"
    )
    return (re.compile(aside), *patterns_of("nicknaming"))


def _is_full_name(clause: str, name: str) -> bool:
    """Whether a clause tells that somebody is really ``name``, which is several capitalised words."""
    words = name.split()
    told = ((found["name"] or "").strip(" .") for row in patterns_of("unmasks") for found in row.finditer(clause))
    return len(words) > 1 and name.isascii() and all(word[:1].isupper() for word in words) and name in told


@frozen
class OtherNames:
    """Learns other names of people. ``told`` is the player's message and the reply.

    An alias, and a name in a note that several people are one, must occur there or already be known.
    """

    names: Names
    player: str
    told: str

    def revealed(self, name: str, really: str) -> Iterator[Event]:
        """Somebody turns out to be somebody else: one person from now on, under both names."""
        known = self.names.find(Kind.CHARACTER, name) or self.names.ensure(Kind.CHARACTER, name)
        other = self.names.find(Kind.CHARACTER, really)
        if other is None:
            self.names.learn(known, really)
        elif other != known:
            gone, into = (known, other) if other == self.player else (other, known)
            yield deltas.Merged(gone, into)

    def told_in(self, notes: str) -> Iterator[Event]:
        """Those of whom a note says that they are the same person. Names that nobody has borne stand in the reply."""
        yield from self.nicknames_in(notes)
        for sentence in (_since().sub("", each) for each in self._plain_sentences(notes)):
            if (really := self._really_named(sentence.strip())) is not None:
                yield from self.revealed(*really)
                continue
            yield from self._also_called(sentence.strip())
            found = _same().fullmatch(sentence.strip())
            if found is None or found.lastgroup is None:
                continue
            parts = self.names.parts(found[found.lastgroup])
            known = [part for part in parts if self.names.knows(Kind.CHARACTER, part)]
            if len(parts) > 1 and known and all(part in known or part in self.told for part in parts):
                for part in parts:
                    if part != known[0]:
                        yield from self.revealed(known[0], part)

    def _plain_sentences(self, notes: str) -> Iterator[str]:
        """The sentences and clauses of a note, each also without what follows the name with which it begins: "Hakim
        Reza, the young drover, is called Sparrow"."""
        for sentence in (each.strip(_AROUND) for each in _SENTENCE.findall(notes)):
            yield sentence
            name, *rest = (each.strip() for each in _COMMA.split(sentence))
            if not self.names.knows(Kind.CHARACTER, name):
                continue
            is_aside = bool(rest) and rest[0] == rest[0].lower() and not self.names.named_in(rest[0])
            parts = rest if is_aside else rest[:1]
            yield from (f"{name}{link}{part}" for part in parts for link in (", ", " "))

    def nicknames_in(self, notes: str) -> Iterator[Event]:
        """Those who get a nickname. It must be new, or be known only from reports of what its bearer did."""
        sentences = _SENTENCE.findall(notes)
        for found in (found for each in sentences for pattern in _nicknaming() if (found := pattern.search(each))):
            name, other = found["name"].strip(), found["other"].strip()
            bearer, state = self.names.find(Kind.CHARACTER, other), self.names.state
            met = bearer is not None and (bearer in state.whereabouts or bearer in state.present)
            known = self.names.find(Kind.CHARACTER, name) is not None
            if known and not met and not self.names.knows(Kind.LOCATION, other):
                yield from self.revealed(name, other)

    def really_named_in(self, text: str) -> Iterator[Event]:
        """Those of whom a text tells the real name."""
        found = (self._really_named(sentence.strip()) for sentence in _SENTENCE.findall(text))
        for really in (each for each in found if each is not None):
            yield from self.revealed(*really)

    def _really_named(self, sentence: str) -> tuple[str, str] | None:
        """Somebody and her real name, as a part of a sentence tells: "Peg's real name is Margaret, she fled under it".
        In "Peg confesses that her real name is Margaret" it is the one with whom the sentence begins."""
        found = next((found for pattern in patterns_of("truly") if (found := pattern.search(sentence))), None)
        if found is None:
            return None
        name, other = (found["name"] or "").strip(), found["other"].strip()
        if found["own"]:
            head = sentence[: found.start("own")]
            name = name if self._is_somebody(name) else self._subject(head)
        elif not self._is_somebody(name):
            words = name.split(" ")
            ends = ((" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words)))
            name = next((end for head, end in ends if self._is_somebody(end) and self._is_stated(head)), "")
        is_else = self.names.knows(Kind.ITEM, other) or self.names.knows(Kind.LOCATION, other)
        return (name, other) if name and not is_else else None

    def _is_stated(self, head: str) -> bool:
        """Whether the words before a statement make it nobody's suspicion: "Learned that", "Nell admits that"."""
        return is_confided(head) or (bool(frame_of(head)[0]) and not {*self.names.named_in(head)} - {self.player})

    def _is_somebody(self, name: str) -> bool:
        """Whether a name, or a first or last name that only one has, is known: Peg, with Widow Peg."""
        alone = parts_alone(self.names.state.entities.values())
        return self.names.knows(Kind.CHARACTER, name) or any(name in parts for parts in alone.values())

    def _subject(self, head: str) -> str:
        """The name of the one person with whom the words before her real name begin, as those that say or confide it:
        "Peg admits that her". Words for oneself need nothing of the kind: 자신의 본명, 自分の本名."""
        if head.isascii() and not (frame_of(head)[0] or is_confided(head)):
            return ""
        state = self.names.state
        alone = parts_alone(state.entities.values())
        called = (name for each in state.of_kind(Kind.CHARACTER) for name in (*each.names, *alone.get(each.id, ())))
        return max((name for name in called if begins_about(head, name)), key=len, default="")

    def _also_called(self, sentence: str) -> Iterator[Event]:
        """Somebody of whom a note tells another name: "the nun's real name is Sera", 별명은 쥐방울."""
        found = next((found for pattern in patterns_of("also") if (found := pattern.fullmatch(sentence))), None)
        name, other = "", found["other"].strip() if found else ""
        if found is not None:
            words = found["name"].split(" ")
            # Before a comma, what stands in front of the name tells what she is: 배달원 박준호, 별명은 쥐방울.
            froms = range(len(words) if sentence[found.end("name")] in ",，、" else 1)
            known = (name for at in froms if self.names.knows(Kind.CHARACTER, name := " ".join(words[at:])))
            name = next(known, "")
        if not name:
            yield from self._under_other_names(sentence)
            yield from self._one_and_the_same(sentence)
        elif (
            other
            and not is_title(other)
            and not self.names.knows(Kind.ITEM, other)
            and not self.names.knows(Kind.LOCATION, other)
        ):
            yield from self.revealed(name, self._named(other))

    def _under_other_names(self, sentence: str) -> Iterator[Event]:
        """Those of whom a clause of the sentence tells an alias: 沈默化名小吴，叶知秋化名周太太. Names only that the
        report or the reply has, for an alias in other words may be none."""
        for clause in dict.fromkeys((sentence, *_CLAUSE.findall(sentence))):
            found = next(
                (found for pattern in patterns_of("alias") if (found := pattern.fullmatch(clause.strip()))), None
            )
            name, other = (found["name"].strip(), found["other"].strip()) if found else ("", "")
            if (
                name
                and other
                and self.names.knows(Kind.CHARACTER, name)
                and (self.names.knows(Kind.CHARACTER, other) or other in self.told)
                and self.names.find(Kind.CHARACTER, other) not in self.names.state.entities  # an impostor stays another
                and not self.names.knows(Kind.ITEM, other)
                and not self.names.knows(Kind.LOCATION, other)
            ):
                yield from self.revealed(name, other)

    def _one_and_the_same(self, sentence: str) -> Iterator[Event]:
        """Two of whom a clause of the sentence tells that they are one person: 夜莺就是秦少白.

        The second must be known or have a title, for what stands there may be no name, or be a full name in Latin
        script that somebody "really" has. The first may occur in the texts only, but not in Latin script, where "the
        best cook is Rosa" is such a sentence too. No report lists one person twice.
        """
        for clause in dict.fromkeys((sentence, *_CLAUSE.findall(sentence))):
            found = next(
                (found for pattern in patterns_of("identity") if (found := pattern.fullmatch(clause.strip()))), None
            )
            name, really = (found["name"].strip(), self._named(found["other"].strip())) if found else ("", "")
            titled = _TITLED.match(really)
            if titled and is_title(titled["title"]) and self.names.find(Kind.CHARACTER, titled["name"]) is None:
                if self.names.knows(Kind.CHARACTER, name):
                    yield from self.revealed(name, titled["name"])
                continue
            name = self._who_also(name, really) if name else ""
            if self.names.knows(Kind.CHARACTER, name) and _is_full_name(clause, really):
                yield from self.revealed(name, really)
                continue
            is_known = bool(really) and self.names.knows(Kind.CHARACTER, really)
            is_known &= not any({name, really} <= set(listed) for listed in self.names.lists)
            if is_known and (self.names.knows(Kind.CHARACTER, name) or (not name.isascii() and self._is_told(name))):
                yield from self.revealed(really, name)

    def _named(self, text: str) -> str:
        """The known name in a text that also says who bears it: Hask of the Magistracy, 감사실의 박윤호. The text
        itself if there is none."""
        words = text.split(" ")
        if caseless(text):
            parts = [" ".join(words[at:]) for at in range(len(words))]
        else:
            ends = (at for at, word in enumerate(words) if at and word in name_words("prepositions"))
            parts = [text, *(" ".join(words[:at]) for at in ends)]
        return next((part for part in parts if self.names.knows(Kind.CHARACTER, part)), text)

    def _who_also(self, head: str, really: str) -> str:
        """Of whom a clause says a second thing: "Ruta has become a nun and" is called Agnes. Else ``head``."""
        if self.names.parts(f"{head} {really}")[1:] != [really]:
            return head
        entities = self.names.state.entities  # somebody new is not among them yet
        known = (entities[who].names for who in self.names.named_in(head) if who in entities)
        called = (each for names in known for each in names)
        return max((name for name in called if begins_about(head, name)), key=len, default=head)

    def _is_told(self, name: str) -> bool:
        """Whether the texts have a name, and it is not that of a thing or a place."""
        elsewhere = self.names.knows(Kind.ITEM, name) or self.names.knows(Kind.LOCATION, name)
        return not elsewhere and (name in self.told or self.names.evidence.has(name))

    def in_remark(self, name: str, remark: str) -> Iterator[Event]:
        """Whom somebody turns out to be, by the remark on her status: 生存（黒騎士の正体）."""
        other = unmasked_in(remark)
        if other and self.names.knows(Kind.CHARACTER, other):
            yield from self.revealed(name, other)
