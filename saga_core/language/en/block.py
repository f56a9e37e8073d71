"""The state block in English."""

from __future__ import annotations

from saga_core.language.block import BlockWords, Request

_TO_TWENTY = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
).split()

BLOCK = BlockWords(
    request=Request(
        lead=(
            "End every reply with exactly one block in this form, after the story. "
            "It is hidden from the player. "
            "Report only what changed in this reply; leave null or [] for the rest. "
            "Only `present` is always complete: everyone who is with the player's character when the reply ends, "
            "[] for nobody. "
            "Write Player for the player's character and the names of the story for everyone else, "
            "and put quotes around a name that holds a comma."
        ),
        place="where the player is",
        item="item",
        name="name",
        mood="one word",
        notes="one line",
        tools=(
            "When you call a tool, write no block beside the call: it stands at the end of the reply that follows the "
            "tool's result."
        ),
    ),
    headers="state stateblock statusupdate stateupdate",
    fields={
        "location": "loc place where currentlocation newlocation",
        "location_moved": "moved haslocationmoved locationchanged locationchange",
        "present": (
            "presentnow presentnpcs presentcharacters npcpresent npcspresent nowpresent whoispresent company "
            "inthescene characterspresent"
        ),
        "hp": "currenthp hpnow hpleft currenthealth",
        "money": "purse wallet funds currentmoney moneyleft",
        "hp_change": "hp hpchanges hpdelta hpdiff health healthchange",
        "items_gained": (
            "itemgained gaineditems gaineditem gained itemsacquired itemacquired acquireditems acquired "
            "itemsobtained obtaineditems obtained itemsreceived newitems loot"
        ),
        "items_lost": (
            "itemlost lostitems lostitem lost itemsremoved removeditems itemsused useditems itemsconsumed consumeditems"
        ),
        "items_transferred": (
            "itemtransferred transferreditems transferreditem transferred transfers itemtransfers itemtransfer "
            "itemsgiven givenitems"
        ),
        "npc_met": "npcsmet metnpc metnpcs met npcmeet npcencountered npcsencountered npc npcs",
        "npc_separated": "npcsseparated separatednpc separatednpcs separated npcleft npcsleft leftnpcs",
        "relationship_changes": (
            "relationshipchange relationchanges relationchange relationshipschanged relationships relationship "
            "relations relation"
        ),
        "status_changes": "statuschange statuses characterstatus characterstatuses npcstatus",
        "mood": "atmosphere tone",
        "event_trigger": "event events eventtriggered triggeredevent trigger",
        "notes": "note memo memos remark remarks comment comments summary",
    },
    templates={
        "location": "location place placename",
        "items_gained": "item items itemname",
        "items_lost": "item items itemname",
        "items_transferred": "item items itemname",
        "present": "npc npcname name",
        "money": "item amount coin money",
        "npc_met": "npc npcname name",
        "npc_separated": "npc npcname name",
        "relationship_changes": "name relationship",
        "status_changes": "name",
        "mood": "mood",
        "event_trigger": "event eventname",
        "notes": "note notes memo",
    },
    fillers=(
        "current new old of the a an your my his her their this that here insert any some other first second and or in"
    ),
    keys={
        "name": "name npc npcname character who",
        "whom": "target subject person whom entity charactername affected",
        "item": "item itemname",
        "quantity": "quantity qty count amount number num",
        "from": "from source giver subject sender fromnpc",
        "to": "to target receiver recipient object tonpc",
        "type": "type relation relationship relationtype kind newtype",
        "status": "status state condition newstatus newstate currentstatus statuschange change",
        "delta": "delta change strength strengthchange strengthdelta value amount affinity",
    },
    levels="hp health",
    nothing=(
        "none,null,nil,n/a,na,nothing,nobody,no one,empty,undefined,unknown,tbd,no change,no "
        "changes,unchanged,same,same as before,not applicable,no damage,no event"
    ),
    nothing_said=(
        r"no (?:new |other |more )?(?:npcs?|items?|things?|people|person|characters?|changes?|events?|transfers?)\.?"
        r"|(?:none|nobody|no one|nothing) (?:new|else|at all|of note)\.?"
    ),
    unknown="unknown,unknown person,unknown party,unidentified,someone,somebody,not known,nobody,no one",
    nobody="none,nobody,no one,nobody else,no one else,alone",
    nothing_ends="null|none|true|false",
    unchanged="nothing nothingchanged nothinghaschanged nochange nochanges emptyblock",
    yes="true yes",
    no="false no",
    true="y t on 1 moved o",
    false="n f off 0 notmoved didnotmove stayed x",
    minus=r"minus\b",
    plus=r"plus\b",
    loss=(
        r"\b(?:lost|loses?|losing|loss|damaged?|dmg|hurt|hits?|took|ta"
        r"kes?|taken|minus|decreased?|down|reduced|wounded|drained?)\b"
    ),
    gain=(
        r"\b(?:heal(?:s|ed|ing)?|gain(?:s|ed)?|recover(?:s|ed|y)?|rest"
        r"ored?|regain(?:s|ed)?|plus|increased?|up|regenerated?)\b"
    ),
    negation=r"\b(?:not?|never|without)\b",
    units=r"\b(?:hp|health|points?|pts?|of|by)\b",
    hit_points="hp",
    becomes="to",
    money="[Gg]old|[Ss]ilver|[Cc]opper|[Cc]oins?|[Aa]rrows?",
    countable=(
        r"(?:[A-Za-z][\w'’-]* ){0,5}"
        r"(?!(?i:series|species|atlas|canvas|texas|christmas|gas|lens|news|mars|windows|quarters|headquarters|barracks"
        r"|archives|tales|chronicles|works|rules|laws|stairs|gates|docks) )"
        r"[A-Za-z][a-z'’-]*[a-hj-rtv-z]s"
    ),
    counters_behind=r"pairs?|loaf|loaves|pieces?|pcs\.?|units?|copies|sets?",
    plurals={
        "half a dozen": 6,
        "two dozen": 24,
        "three dozen": 36,
        "a dozen": 12,
        "dozen": 12,
        **{word: number for number, word in enumerate(_TO_TWENTY, 2)},
        **{word: number for number, word in zip((30, 40, 50), ("thirty", "forty", "fifty"), strict=True)},
    },
    labels=r"\b(?:type|delta|relation|strength)\b",
    debt=r"\bdebt|\bow(?:e[sd]?|ing)\b|\bindebted\b|\bcreditor|\bloan|\bi\.?o\.?u\b",
    paid=r"(?<!be )\b(?:paid|repaid|settled|cleared|forgiven|squared|quits)\b",
    over=r"\b(?:over|ended|finished|done|closed|resolved|completed?)\b",
    settled="settled",
    gives=(
        r"(?P<giver>\S.*?)\s+(?:gives|gave|hands|handed|passes|passed)\s+(?P<item>\S.*?)\s+to\s+(?P<receiver>\S.*?)\.?",
        r"(?P<item>\S.*?)\s+from\s+(?P<giver>\S.*?)\s+to\s+(?P<receiver>\S.*?)\.?",
    ),
    tells_giving=r"\b(?:gives|gave|handed|hands)\b",
    statuses="dead|died|killed|slain|alive|captured|missing|unconscious|injured|wounded",
    unreal=(
        r"(?:(?:only|just|in|a|an|the|her|his|their|my|your|from|as|old|recurring|childhood|fever|bad|"
        r"[\w-]+['’]s) ){0,5}"
        r"(?:dreams?|dreamed|dreamt|dream sequence|dreamscape|nightmare|daydream|flashback|memory|memories|"
        r"remembered|recalled|recollection|vision|visions|hallucination|hallucinated|illusion|imagination|imagined|"
        r"imaginary|mind'?s eye|past|dream version)(?: only)?(?:[,;:].*)?"
    ),
    remote=(
        r"(?:(?:only|just|voice|heard|seen|speaking|talking|calling|present) ){0,3}"
        r"(?:over|by|via|through|from|across|using) (?:(?:the|a|an|his|her|their|your|my) )?(?:[\w-]+ ){0,2}"
        r"(?:radio|phone|telephone|cell|comms?|comlink|intercom|walkie[- ]?talkie|handset|line|call|video|videocall|"
        r"hologram|holo|screen|speaker|speakerphone|earpiece|headset|telepathy|text|message|letter|zoom|skype)"
        r"(?: only)?|voice(?: only)?|remote(?:ly)?|telepathic(?:ally)?|hologram|"
        r"absent|not (?:present|here|there)|off-?screen|elsewhere"
    ),
    calling=(
        r"(?:(?:talking|speaking) )?on (?:(?:the|a|his|her|their) )?(?:[\w-]+ )?(?:radio|phone|telephone|comms?|"
        r"intercom|"
        r"line|call|video|speaker|speakerphone|headset|screen)|calling|(?:phone|video|radio) call"
    ),
    well="ok okay fine normal healthy well recovered healed cured unharmed stable rested",
    gone="burn(?:ed|t)(?: (?:up|to ashes|down))?$|consumed|vanished",
    broken=r"destroyed|shattered|smashed|crumbled|demolished|wrecked|\bsunk\b|blown (?:up|apart)",
    dead="dead died deceased killed slain dies perished",
    supposed=(
        r"(?:unconfirmed|allegedly|reportedly|reported|presumably|presumed|supposedly|supposed|apparently|seemingly"
        r"|probably|possibly|likely|maybe|perhaps|believed|feared|thought|said|rumou?red|assumed|suspected|considered)"
        r"(?: to (?:be|have))?"
    ),
    averted=r"(?:given up|left) for|nearly|almost|half|not|never|as good as|playing|faked|feigned",
    alive="alive living revived resurrected",
)
