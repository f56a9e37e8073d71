"""English titles."""

from __future__ import annotations

from saga_core.language.names import NameWords

NAMES = NameWords(
    player=frozenset("player theplayer you me i {{user}} user".split()),
    titles=frozenset(
        "captain lady lord sir dame old young mother father brother sister the doctor dr master mistress miss mr "
        "mrs ms king queen prince princess duke count baron reeve sergeant commander general professor saint st "
        "uncle aunt elder chief bishop abbot abbess prior friar priest priestess knight squire guard merchant "
        "judge marshal admiral lieutenant corporal major colonel warden archmage mage wizard witch innkeeper "
        "constable sheriff inspector detective officer viscount earl marquis emperor empress chancellor minister "
        "deacon cardinal madam madame monsieur don capt sgt lt prof rev reverend mayor governor warlord duchess "
        "countess baroness man woman boy girl ser nurse widow cook maid butler private agent sailor bosun scout "
        "ranger archer champion seer oracle shaman".split()
    ),
    nicknames=(
        "called",
        "nicknamed",
        "nickname",
        "short for",
        "codename",
        "code name",
        "known as",
        "goes by",
        "alias",
        "aka",
        "under the name",
    ),
    same=(
        r"(?P<names>[^.;:!?\n]{3,80}?) (?:are|were|is|was) (?:all |both |in truth |in fact |really |actually |indeed )?"
        r"(?:one and )?the same (?:person|man|woman|one|girl|boy)[.!]?"
    ),
    reveals=(
        r"(?:is )?(?:really|in truth|revealed (?:as|to be)|true identity:?|real name:?|(?:now )?(?:named|christened)) "
        r"(?P<name>[A-Z][^,;(]*?)(?:\s*[,;(].*)?"
    ),
    also=(
        r"(?P<name>[^.,;:!?\n]{2,60}?)(?:['’]s (?:real|true|actual|full|given|first|other|birth)? ?"
        r"(?:name|identity|nickname|alias) (?:is|was|turns out to be)|(?:,| is| was) (?:really|in truth|actually|"
        r"secretly|also called|also known as|known as|nicknamed|called)(?: called| named)?|"
        r" (?:also )?goes by(?: the name(?: of)?)?) "
        r"[\"'“‘]?(?P<other>(?:the )?[A-Z][\w'’ -]{1,40}?)[\"'”’]?"
        r"(?:, (?:an?|the|his|her|their) [^.,;:!?\n]{1,60})?[.!]?"
    ),
    alias=(
        r"(?P<name>[A-Z][^.,;:!?\n]{1,40}?)(?:,? alias|,? (?:[a-z]+ ){0,3}(?:under|by) the (?:false |assumed |cover )?"
        r"name(?: of)?|,? (?:now )?calls (?:him|her|them)sel(?:f|ves)) "
        r"[\"'“‘]?(?P<other>[A-Z][\w'’ -]{1,40}?)[\"'”’]?[.!]?"
    ),
    nicknaming=(
        r"\b(?:nicknames|nicknamed|dubs|dubbed) (?P<name>[A-Z][\w'’-]{1,24}),? "
        r"[\"'“‘]?(?P<other>[A-Z]\w{1,24}(?:['’-]\w{1,24})?)"
    ),
    unmasks=(
        r"(?:really|actually|in truth|secretly) (?P<name>[A-Z][\w'’. -]{1,40})|"
        r"(?:the )?(?:true |real |secret )?identity of (?P<whose>(?:the )?[A-Z][\w'’. -]{1,40})"
    ),
    posing=(
        r"(?:the )?(?:false|fake|so-called|supposed|self-styled) (?P<name>[A-Z][\w'’. -]{1,40})|"
        r"(?:who )?(?:posing|posed|disguised) as (?P<whose>(?:the )?[A-Z][\w'’. -]{1,40})"
    ),
    group=(
        r"(?:(?:the|group|party|main|side|other|current|chat|known|surviving|remaining|important|notable|key|recurring|"
        r"supporting|named|local|secondary|minor|major|your|our|their|his|her|my|fellow|new|old) ){0,3}"
        r"(?:members?|party|group|crew|cast|characters?|people|participants|npcs|present|players|companions|"
        r"survivors|allies|enemies|friends|foes|rivals|neighbou?rs|villagers|townsfolk|guests|passengers|soldiers|"
        r"guards|students|classmates|teachers|colleagues|co-?workers|roommates|housemates|staff|team|squad|residents|"
        r"inhabitants|locals|suspects|witnesses|siblings|brothers|sisters|children|parents|family|relatives|"
        r"love interests|leaders|followers|servants|prisoners|hostages|heroes|villains|antagonists|protagonists)"
    ),
    role=(
        r"(?:(?:the|your|our|their|his|her|my|party|group|team|squad|gang|guild|crew|village|main|current|possible|"
        r"potential|secondary|best|closest|older|younger|little|big|former|ex) ){0,3}"
        r"(?:leader|boss|head|interest|love interest|crush|protagonist|antagonist|villain|rival|hero|heroine|ally|"
        r"enemy|"
        r"partner|survivor|friend|neighbou?r|wife|husband|spouse|girlfriend|boyfriend|fiancée?|lover|son|daughter|"
        r"cousin|mentor|companion|sidekick|medic|paramedic|mechanic|pilot|engineer|driver|hunter|trader|teacher|student|"
        r"owner|landlord|landlady|roommate|housemate|classmate|colleague|co-?worker|client|target|suspect|victim|"
        r"witness|contact|informant|deputy|second[- ]in[- ]command|prisoner|hostage|bodyguard|servant|narrator)"
    ),
    women=frozenset(
        "lady dame mother sister mistress miss mrs ms queen princess aunt priestess witch empress madam madame "
        "abbess duchess countess baroness".split()
    ),
    men=frozenset(
        "lord sir father brother master mr king prince duke count baron uncle emperor monsieur don abbot friar".split()
    ),
    between=frozenset("von van de la der den del di da du le".split()),
    ordinal=r"[ivx]{1,5}|(?:1st|2nd|3rd|\dth)",
    apart=(
        r"\b(?:(left)|(right))\b",
        r"\b(?:(upper|top)|(middle)|(lower|bottom))\b",
        r"\b(?:(inner)|(outer))\b",
        r"\b(?:(front)|(back|rear))\b",
        r"\b(?:(big|large)|(small|little))\b",
        r"\b(?:(old)|(new))\b",
        r"\b(?:(male)|(female))\b",
        r"\b(?:(mr|mister)|(mrs|ms|miss))\b",
        r"(?<=\w )(?:[ivx]{2,5}|[b-z]|a\Z)(?![\w.'’])",
    ),
    joint=r"(?<!\s)\s+and\s+",
)
