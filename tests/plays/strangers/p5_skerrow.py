"""EN lighthouse relief crew, 1908: a hired keeper on a rock light, a letter, a knife that comes home, a castaway.
Habits of the narrator: the block is a station log. What there is none of is "nil"; people go by their post (the Principal, the First Assistant, Bosun Flett);
the place is written every time, whether anyone moved or not; numbers stand before the thing and make a plural (6 candles, 1 candle); the mood is weather; the player is entered among those met."""

from form import *
import form

PLURAL = {"candle": "candles", "shilling": "shillings", "tin of beef": "tins of beef", "half coil": "half coils"}
POSTS = {
    "Angus Gunn": "the Principal",
    "Sandy Flett": "the First Assistant",
    "Erlend Flett": "Bosun Flett",
    "Davie Mowat": "Davie",
    "Cathcart": "Superintendent Cathcart",
    "Magnus Rendall": "Nils Lund",
    "kitchen": "Skerrow Rock, kitchen",
    "lantern room": "Skerrow Rock, lantern room",
    "the Gut": "Skerrow Rock, the Gut",
    "Skerrow landing": "Skerrow Rock, landing",
}
HERE = [None]


def log(k, stay=True):
    """the habits, written into `raw`"""
    if "bad" in k:
        return k
    say = k["say"] = POSTS | k.get("say", {})

    def thing(t):
        base, n = count(t)
        return f"{n} {PLURAL[base] if n > 1 else base}" if base in PLURAL else say.get(base, base)

    raw = {}
    for field, key in (("items_gained", "G"), ("items_lost", "O")):
        raw[field] = "[" + ", ".join(map(thing, parts(k[key]))) + "]" if k.get(key) else "nil"
    for field, key in (
        ("npc_met", "N"),
        ("npc_separated", "S"),
        ("relationship_changes", "R"),
        ("status_changes", "C"),
        ("event_trigger", "E"),
        ("hp_change", "hp"),
        ("items_transferred", "X"),
    ):
        if not k.get(key):
            raw[field] = "nil"
    place = k.get("L") or HERE[0]
    if stay and k.get("L"):
        HERE[0] = k["L"]
    raw["location"] = say.get(place, place)
    k["raw"] = raw | k.get("raw", {})
    return k


def T(said, told, **k):
    x = {a: k.pop(a) for a in ("before", "after") if a in k}
    return form.T(said, told, **log({"me": "the Occasional"} | k), **x)


def W(told, **k):
    return form.W(told, **log({"me": "the Occasional"} | k, False))


def DROP(said, told, **k):
    return form.DROP(said, told, **log({"me": "the Occasional"} | k, False))


def CONT(told, **k):
    return form.CONT(told, **log({"me": "the Occasional"} | k))


PLAY = dict(
    id="5-skerrow",
    char="Angus Gunn",
    user="Thomas Rendall",
    hp=True,
    unique=["blue letter", "brass lamp key", "horn-handled knife", "silver watch", "carved seal"],
    card="Angus Gunn, 58, Principal Keeper of Skerrow Rock, eleven miles west of Hoy; slow of speech, exact, fonder of his men than of the sea. On the Rock nobody is called by name if he has a post: Gunn is the Principal, "
    "Sandy Flett is the First Assistant, Davie Mowat, nineteen, is the Second, and {{user}}, hired by the month to stand a sick man's watches, is simply the Occasional. The tender Hesper brings the relief once a fortnight when she can: "
    "Captain Isbister commands her, and her boat is steered by Bosun Erlend Flett, who is no kin to the First Assistant that either Flett will own to. In Gunn's log, what there is none of is entered as nil, and weather stands for feelings.",
    persona="Thomas Rendall, 28, of Birsay, a fisherman until two winters ago, when the smack Girl Ina never came home and his elder brother Magnus with her. Nobody was ever found. Thomas carries the horn-handled knife that Magnus had left on the table that morning; M.R. is cut in the horn.",
    greeting='*November, 1908. Stromness pier in a thin rain. The tender Hesper has steam up, and her boat knocks against the steps.* "You will be the Occasional for Skerrow," *says somebody behind you.* "Have you ever been on a rock, man?"',
    me=["the Occasional", "Occasional", "Rendall", "Thomas", "Mr Rendall", "Tom"],
    two=["Sandy Flett", "Erlend Flett", "Jessie Flett"],
    disguised=["Magnus Rendall"],
    forms={
        "Angus Gunn": ["the Principal", "Principal", "Gunn", "Mr Gunn", "Principal Gunn", "the Principal Keeper"],
        "Sandy Flett": ["Sandy", "the First Assistant", "First Assistant", "First Assistant Flett", "the First"],
        "Erlend Flett": ["Bosun Flett", "the bosun", "the Bosun", "Bosun", "Bosun Erlend Flett", "Erlend"],
        "Jessie Flett": ["Jessie", "Mrs Flett", "Mrs Jessie Flett"],
        "Davie Mowat": ["Davie", "the Second", "the Second Assistant", "Mowat"],
        "Captain Isbister": ["Isbister", "the Captain"],
        "Magnus Rendall": ["the castaway", "castaway", "Nils Lund", "Lund", "Magnus"],
        "Cathcart": ["Superintendent Cathcart", "the Superintendent", "Mr Cathcart"],
        "kitchen": ["Skerrow Rock, kitchen", "the kitchen"],
        "lantern room": ["Skerrow Rock, lantern room", "the lantern room"],
        "the Gut": ["Skerrow Rock, the Gut", "Gut"],
        "Skerrow landing": ["Skerrow Rock, landing", "landing", "the landing"],
        "tender Hesper": ["the Hesper", "Hesper", "the tender Hesper"],
        "Stromness pier": ["the pier at Stromness"],
        "candle": ["candles"],
        "shilling": ["shillings"],
        "tin of beef": ["tins of beef"],
        "half coil": ["half coils"],
    },
)
OPS = [
    T(
        '"Never slept on one. Fished round plenty." I heave my kitbag on to the other shoulder. "Rendall."',
        '"Not out there, you are not. Out there you are the Occasional, and you answer to it." The man in the boat has a beard like a doormat and a voice to match: Erlend Flett, bosun of the Hesper. A woman in a grey shawl has come down the wet steps, past the fish boxes, straight to you, as though she had been counting the men on the pier and you were the right number. "I am Jessie Flett," she says. "My husband is on the Rock." The bosun spits. "No kin of mine," he says to nobody.',
        L="Stromness pier",
        N="@; Jessie Flett; Erlend Flett",
        R="Jessie Flett>@:hopeful+1",
        mood="drizzle, light airs",
        n="4 Nov. The Occasional reported at Stromness for the Skerrow relief.",
    ),
    T(
        '"What can I do for you, Mrs Flett?"',
        'She looks round before she takes it from under the shawl: a blue letter, folded small, sewn shut with thread instead of sealed. "Nine weeks he has written me nothing. Sandy, that wrote every relief for eleven years. Put this in his own hand. Not on the table, not with the post. And do not open it, even if he asks you what is in it." You give her your word, and she presses the letter into your palm and keeps her cold fingers on it a moment longer than she needs.',
        X="blue letter:Jessie Flett>@",
        mood="drizzle",
        n="The Occasional promised Jessie to put the blue letter unopened into Sandy Flett's own hand.",
        debt=("letter", ("unopened", "promised Jessie", "own hand"), "Sandy Flett"),
    ),
    T(
        'I button it inside my jersey, next to the knife. "Any tobacco to be had in that boat, bosun?"',
        'Your hand stays on the horn-handled knife a second; M.R., says the horn under your thumb. "There is tobacco," the bosun allows, and throws you a twist of it, black as tar. You feel for coin. "Keep it in your breeks. Silver paid before a crossing goes to the bottom and takes you for company. Two shillings, and you may settle at some relief when I can see your face and the sea both." Jessie Flett has not moved from the steps.',
        G="horn-handled knife; twist of tobacco",
        R="Erlend Flett>@:gruff+1",
        mood="drizzle, backing south",
        n="The Occasional owes Bosun Flett two shillings for a twist of tobacco.",
        debt=("baccy", ("two shillings", "2 shillings"), "Erlend Flett"),
    ),
    T(
        "I step down into the boat and do not look back at the shawl.",
        'Aboard the Hesper it is all paint and steam. Jessie has shrunk to a grey thumb on the pier. Captain Isbister receives you in the chartroom with his cap on and a ledger open, and counts six shillings on to the page, your advance, one by one, as if each had a mother. "Sign for it. If you drown, the Commissioners will want it back from somebody." Through the window the bosun is lashing down the boat and singing a psalm at it.',
        L="tender Hesper",
        N="@; Captain Isbister; Erlend Flett",
        S="Jessie Flett",
        G="shilling x6",
        R="Captain Isbister>@:correct+1",
        mood="fresh, sea getting up",
        n="Six shillings advance signed for.",
        before=[
            W(
                'Aboard the Hesper nobody is sober. Captain Isbister lies under the chart table with a fiddle on his chest, and the bosun is trying to steer by the smell of Scapa. "The Skerrow men are mutinied," the captain tells the lamp. "They have hoisted a petticoat." He gives you a pistol and tells you to be a brave laddie.',
                L="tender Hesper",
                N="@; Captain Isbister; Erlend Flett",
                S="Jessie Flett",
                G="pistol",
                R="Captain Isbister>@:drunk+1",
                mood="hilarious",
                n="The keepers of Skerrow have mutinied under a petticoat.",
                lies=["petticoat", "mutinied", "pistol"],
            )
        ],
    ),
    T(
        '"Did you know the Girl Ina, Captain?"',
        '"I passed her. Off the Kame, the night she was lost, carrying more sail than sense." He shuts the ledger. Then the ship puts her shoulder into the first real sea and you lose your breakfast over the rail, and the next, and bark your ribs on a stanchion. When you can stand, he hangs a coil of rope on your arm, new manila, forty fathom. "Gunn asked for it. I knew your brother to nod to," says Isbister. "He had a good nod."',
        G="coil of rope",
        hp=-6,
        mood="strong breeze, rough",
        n="Captain Isbister saw the Girl Ina on her last night, off the Kame of Hoy.",
    ),
    T(
        "I wait for the bosun's shout and jump for the ladder.",
        'You get it with one hand and one knee. Above you the landing is a shelf of wet granite cut like a slice out of a cheese; two men haul you on to it by the belt. The tall one with the grey chin is the Principal, Angus Gunn. The other cannot be twenty and grins as if you were his birthday. "Davie," he says. The bosun holds the boat off with an oar and passes up four tins of beef; Captain Isbister is a cap on a bridge, a cable off.',
        L="Skerrow landing",
        N="@; Angus Gunn; Davie Mowat; Erlend Flett",
        gone="Captain Isbister",
        G="tin of beef x4",
        R="Davie Mowat>@:merry+1",
        mood="strong breeze, heavy swell",
        n="Landed on Skerrow at ten past two.",
    ),
    T(
        '"Thomas Rendall, sir. Relief for the sick man."',
        '"The Occasional," says the Principal, which settles it. He watches the boat away until the bosun has lifted a hand from beside the ship and been hoisted in; only then does he turn. Off his own neck he takes a brass lamp key on a lanyard and puts it round yours. "This opens the lamp and the oil. There is one. It is always on the man whose watch it is, or on me. You may lose your life here, but not that."',
        S="Erlend Flett",
        X="brass lamp key:Angus Gunn>@",
        R="Angus Gunn>@:stern+1",
        mood="strong breeze, glass falling",
        n="The boat went back to the Hesper. The lamp key is to be on the man of the watch.",
    ),
    T(
        "I touch the key and follow them up the rock.",
        'A hundred and twelve steps, and then a round room like the inside of a loaf: bunks, range, a table bolted to the floor. The Principal hangs up his oilskin by the collar, exactly. Davie puts the kettle on and talks at it. In the chair by the range sits the First Assistant, Sandy Flett, a broad fair man with his hands on his knees. He turns his face to the door when you come in, a little to the left of where you are. "That is a new step," he says.',
        L="kitchen",
        N="@; Angus Gunn; Davie Mowat; Sandy Flett",
        R="Sandy Flett>@:guarded+1",
        mood="close, damp",
        n="The First Assistant sat by the range and knew the new man by his step.",
    ),
    T(
        '*I crouch by his chair and put the blue letter in his hand.* "From your wife. Sewn, not opened."',
        'His thumb goes along the thread and finds every stitch. Something in the broad face comes undone and is done up again. "That is her thread," says the First Assistant. He slips the letter inside his shirt without looking at it, and his other hand finds your sleeve and grips it hard. Davie stops talking. The Principal, at the table, has begun to rule a line in the log, and rules it very slowly.',
        X="blue letter:@>Sandy Flett",
        R="Sandy Flett>@:grateful+2",
        paid="letter",
        settled=(("unopened into",), ("delivered", "handed", "kept", "fulfilled", "done", "gave")),
        mood="close",
        n="The Occasional kept his promise to Jessie: the letter is delivered.",
    ),
    T(
        '"First watch is ours, they tell me." I climb to the lantern with him.',
        'Only the two of you go up; below, the hatch shuts on Davie\'s chatter and the Principal\'s pen. The lantern room is a cage of light, hot as a bakehouse, the great lens turning on its bath. Sandy Flett sits down with his back to it. He takes out the blue letter and holds it out to you. "Read it me." You say that it is not for you. "I know whose it is. I cannot see it, man. It is a cataract in each eye. I have been tending by ear since August."',
        L="lantern room",
        N="@; Sandy Flett",
        gone="Angus Gunn; Davie Mowat",
        R="Sandy Flett>@:trusting+1",
        mood="hot calm",
        n="Secret, known only to the Occasional: the First Assistant has a cataract in each eye and tends the lamp by ear.",
        secret=(
            "cataract",
            (
                "only to the Occasional",
                "only the Occasional",
                "only to Thomas",
                "only Thomas",
                "only to you",
                "only you",
            ),
        ),
        debt=("sight", ("secret", "silent", "silence", "cataract"), "Sandy Flett"),
        before=[
            W(
                'Sandy Flett goes straight through the lantern room and out on to the gallery, and before you can reach him he has torn the letter to confetti and given it to the wind. "She is with the grocer at Finstown," he says. "Two years now." He laughs until he has to sit. The lens goes round.',
                L="lantern room",
                N="@; Sandy Flett",
                R="Sandy Flett>Jessie Flett:jealous-3",
                mood="cyclone",
                n="Jessie is with the grocer at Finstown; the letter went to the wind.",
                lies=["grocer", "Finstown", "jealous"],
            )
        ],
    ),
    T(
        '*I cut one stitch and read it to him, low. Then I hang the brass key on his neck.* "Your watch, First. I\'ll be your eyes. Nobody hears it from me."',
        'It is a short letter: is he angry, is he ill, the roof is mended, she will wait. He makes you read the last line twice. Then he feels his way along the wall by the rivets, unlocks the oil with the brass key, and you see how well he does it, how he listens to the wick. From the locker he brings you six candles for your own bunk. "For a man who can use them," says the First Assistant, and it is nearly a joke.',
        X="brass lamp key:@>Sandy Flett",
        G="candle x6",
        R="Sandy Flett>@:devoted+1",
        mood="hot calm, gale outside",
        n="The Occasional promised the First Assistant to keep silent about what he told him.",
    ),
    T(
        "When my watch is out I go below for tea.",
        'The First Assistant stays with his lamp and his key. In the kitchen the stove-pipe is howling. Davie has been carving by the range; he blows the dust off and sets a seal the size of a hen\'s egg before you, whale ivory, looking surprised. "For luck. It is my eleventh. Ten drowned," he says, and the Principal tells him to mind his tongue on a night like this. You burn two of the candles to see the chessboard by. Then, out in the dark, flat and small, a gun.',
        L="kitchen",
        N="@; Angus Gunn; Davie Mowat",
        S="Sandy Flett",
        O="candle x2",
        X="carved seal:Davie Mowat>@",
        R="Davie Mowat>@:chummy+1",
        mood="whole gale",
        n="A distress gun was heard at half past nine.",
    ),
    T(
        '"A ship! Bring the rope!" I am already on the steps.',
        'The landing is under water every third sea. By the flash of your own light you see her, a barque on her side, two cables off, with her masts pointing at you like fingers. The Principal has to put his mouth to your ear. "She is past help. Boats, man. Look for boats." Davie has seen one: a white scrap, oars, heads. He ties the end of the coil round his waist without being told to, and looks at you over the knot.',
        L="Skerrow landing",
        N="@; Angus Gunn; Davie Mowat",
        mood="whole gale, very high sea",
        n="A barque is wrecked two cables off Skerrow.",
    ),
    T(
        "\"It won't run as one, it's fouled on the ringbolt!\" *I saw it through with Magnus's knife.*",
        'The manila parts with a bang and you have two ends in your hands where there was one coil. You make one half fast to Davie. The other you keep, wet and heavy, over your shoulder. "Twenty fathom is plenty!" shouts Davie, who has never in his life thought that anything was too little, and he goes down the iron rungs towards the white scrap, hand under hand, as into his own cellar.',
        O="coil of rope",
        G="half coil x2",
        X="half coil:@>Davie Mowat",
        mood="whole gale",
        n="The coil of rope was cut into two half coils; Davie has one.",
    ),
    DROP(
        "I throw off my boots and go in after the boat myself.",
        "The cold shuts like a door. You see, under the water, quite clearly, a piano with a drowned woman sitting at it, and she plays three notes. Then the Principal has you by the hair. You have left two toes on the ringbolt, and Davie, weeping, ties them up in his neckerchief.",
        hp=-35,
        G="neckerchief",
        n="A piano and a drowned woman were seen under water; the Occasional lost two toes.",
        mood="delirium",
        lies=["piano", "two toes", "neckerchief"],
    ),
    T(
        'I brace my feet and pay out. "Davie! The big one\'s coming! DAVIE!"',
        "You never see it break. You are lifted and laid down on the granite twenty feet away with your mouth full of blood and your palms skinned: Davie's half of the rope has run out through them, all twenty fathom, over the edge and gone. The rungs are empty. There is no white scrap. The Principal stands to his thighs in the water with the lantern held out, and calls a name, and goes on calling it, long after there is any sense in it.",
        S="Davie Mowat",
        C="Davie Mowat=feared drowned",
        hp=-18,
        mood="whole gale, visibility nil",
        n="Davie was swept from the rungs. Nobody saw him again that night.",
        raw={"npc_separated": "[the Second]", "status_changes": "[{name: the Second, status: feared drowned}]"},
    ),
    T(
        "I get the old man under the arm and bring him up out of it.",
        'In the kitchen he sits down in his wet things before the log and does not write. You build up the range. The chessmen have rolled to the wall. After an hour the Principal goes to the medicine chest and brings you, because it is the only thing he can think of that is an order, a flask of rum. "He had his mother\'s address inside his cap," he says. "So it would be handy. He thought that was funny." Overhead the lens is turning: the First Assistant has not missed a beat.',
        L="kitchen",
        N="@; Angus Gunn",
        G="flask of rum",
        R="Angus Gunn>@:leaning+1",
        mood="gale moderating",
        n="The Principal did not write the log that night.",
    ),
    T(
        "\"It's light, sir. The sea's down. I want to look in the Gut.\"",
        'It is a crack on the east side, where seals lie up. The Principal goes before you on his hands, at fifty-eight, like a boy. And there on the weed, in among a dozen fat indignant seals, sits Davie, blue as slate, his left arm held in his right, and propped against him, breathing, a long bearded man in half a shirt. "I untied," says Davie through his teeth. "The rope was fouled, and he was too far. I had to untie." The Principal says nothing at all and takes off his coat.',
        L="the Gut",
        N="@; Angus Gunn; Davie Mowat; Magnus Rendall",
        C="Davie Mowat=broken wrist",
        mood="clearing, sea falling",
        n="5 Nov. Davie was found living, and with him a castaway.",
        E="Davie found alive in the Gut",
        say={"Magnus Rendall": "the castaway"},
    ),
    T(
        '*Rum into the one, then into the other.* "What ship, friend? What\'s your name?"',
        'They empty it between them; the flask rings hollow when you cork it. Colour comes into the stranger\'s lips. He has a scar through one eyebrow, salt in all his wrinkles, and eyes that go to your face and away from it. "Freya," he says, hoarse. "Of Arendal. Lund. Nils Lund." It takes him longer to find the name than the ship. A seal coughs. "All the rest?" you ask, and he turns his hand over on the weed, empty side up.',
        O="flask of rum",
        G="empty flask",
        R="Magnus Rendall>@:watchful+1",
        mood="clearing",
        n="The castaway gave his name as Nils Lund of the barque Freya; no other hands were saved.",
    ),
    T(
        '"Up with you both. There\'s a fire."',
        'The First Assistant has the kettle on before you are through the door; he has counted the steps. "Five," he says, "and one of them is Davie," and has to hold on to the range. The Principal splints the wrist with two rulers. You open two tins of beef, and hand the stranger your horn-handled knife to eat with. He holds it as if it were hot. Then he begins to turn it, slowly, over, and over, and over.',
        L="kitchen",
        N="@; Angus Gunn; Davie Mowat; Magnus Rendall; Sandy Flett",
        O="tin of beef x2",
        X="horn-handled knife:@>Magnus Rendall",
        mood="fair intervals",
        n="All hands fed. Two tins of beef left.",
        after=[
            W(
                'When the door shuts, the stranger straightens, and there is a razor in his hand. "Kapitan Rausch, Imperial Navy," he says. "Your lamp will go out tonight, gentlemen." The Principal laughs at him, and is cut across the cheek for it. Sandy Flett throws the kettle.',
                L="kitchen",
                N="@; Angus Gunn; Davie Mowat; Magnus Rendall; Sandy Flett",
                C="Angus Gunn=cut cheek",
                hp=-5,
                mood="thunder",
                n="Kapitan Rausch of the Imperial Navy wants the lamp out.",
                lies=["Rausch", "Imperial Navy", "cut cheek"],
            )
        ],
    ),
    T(
        '"Good knife, that. It was my brother\'s."',
        '"Ja," says Lund. "Good." His thumb has stopped on the horn, on the two letters there, and rests on them like a man\'s on a pulse. He gives it back to you handle first, without having cut anything. Davie is asleep with his cheek in his plate. "The brother is where?" asks the stranger. Lost, you say, with the Girl Ina, two winters back. He nods for a long time, looking at the beef.',
        X="horn-handled knife:Magnus Rendall>@",
        mood="fair, uncertain",
        n="Lund asked after the brother of the Occasional.",
    ),
    EDIT(1, "looking at the beef", "with his eyes on the beef"),
    T(
        'I fill the Principal\'s pipe for him with the last of my tobacco. "You should sleep, sir."',
        'He thanks you, takes the twist, all of it, and gets as far as the second match. Then the pipe is on the floor and the Principal is on one knee beside it with a hand spread on his waistcoat, looking annoyed. It passes. His lips are grey. "A trifling matter," he says, "I have had it since Candlemas," and the First Assistant, who cannot see his face, says across the room in a dreadful voice: "Angus. That is no trifle. I can hear it from here."',
        X="twist of tobacco:@>Angus Gunn",
        C="Angus Gunn=weak heart",
        R="Angus Gunn>@:fatherly+1",
        mood="glass falling again",
        n="The Principal had a seizure of the heart.",
    ),
    T(
        '"We hoist the flags for a doctor. Now."',
        "It takes four days, because the sea will not have it. Davie teaches the stranger draughts with his good hand. The First Assistant stands two watches in three. You boil beef tea and read the barometer to everybody like the news. On the fifth morning there is smoke to the east, and Davie is at the window with the glass, shouting something with no words in it.",
        bad="\n\n```state\nlocation: Skerrow Rock, kitchen\nlocation_moved: false\nhp_change: nil\nitems_gained: nil\nitems_lost: nil\nitems_transferred: nil\nnpc_met: [the Occasional, the Princ",
    ),
    T(
        "I carry the old man down the hundred and twelve steps on my back.",
        'He weighs less than the rope did. On the landing he asks to be set on his feet, so that the boat shall see him standing. Davie comes after with both kitbags; Lund and the First Assistant have stayed up at the light, the one because no one has asked him to come, the other because it is his watch. The boat rides up on the swell, and there is Bosun Flett in the stern with his doormat of a beard. "No time!" he bawls. "Hand him down between two seas!"',
        L="Skerrow landing",
        N="@; Angus Gunn; Davie Mowat; Erlend Flett",
        gone="Sandy Flett; Magnus Rendall",
        mood="moderate, heavy swell",
        n="10 Nov. The Hesper came for the Principal.",
    ),
    T(
        '"Sir. What shall I write in the log?"',
        '"The truth, and short." He fumbles, and puts his silver watch into your hand, chain and all, still warm. "She loses four minutes in the day. Wind her at eight bells. You will give her back to me yourself." You promise. Between two seas you hand him down like crockery. Davie jumps after him, one-armed; the bosun fends off; and the oars take all three away over the back of a swell, the Principal bolt upright under a blanket, facing the light.',
        X="silver watch:Angus Gunn>@",
        S="Angus Gunn; Davie Mowat; Erlend Flett",
        mood="moderate",
        n="The Principal and the Second went ashore to the infirmary. The Occasional is to wind the silver watch at eight bells and give it back.",
    ),
    CONT(
        "You stand there until the smoke is gone. Then you notice that in all the hurry the bosun never had his money, and that you are the only man on the whole of the landing.",
        mood="moderate, falling light",
        n="The Occasional was left alone on the landing.",
    ),
    T(
        "I climb back up to the two who are left.",
        'The kitchen is far too large. The First Assistant is laying the table for three by touch, a fork, a fork, a fork. Lund has found the broom. When you have told it all, Sandy Flett says: "Then I am in charge here, God help the shipping," and hears how that sounds in front of a stranger, and goes red to the ears. You give Lund four hours in the bunk that was Davie\'s and put a candle by it, and he asks you why. For the dark, you say.',
        L="kitchen",
        N="@; Sandy Flett; Magnus Rendall",
        X="candle:@>Magnus Rendall",
        mood="overcast, calm",
        n="The First Assistant has charge of the light. Three men are on the Rock.",
    ),
    T(
        '"First, you sleep. Lund and I will take her till four." I wind the watch and go up.',
        'Sandy Flett is snoring before the hatch is shut. In the lantern room the tall man stands with his back to the lens, and the beam goes round behind him like the hand of a clock. "You still hum when you wind a thing," he says, in Birsay, in your own mother\'s Birsay. "You did it with the cheese press." You have to hold on to the rail. The beard, the scar, the salt. Magnus. There was never any Nils Lund but on a forecastle list. Your brother says your name.',
        L="lantern room",
        N="@; Magnus Rendall",
        S="Sandy Flett",
        R="Magnus Rendall>@:brother+3",
        E="Nils Lund is Magnus Rendall",
        mood="thunder without rain",
        n="The castaway Nils Lund is Magnus Rendall, the brother of the Occasional. He lives.",
        say={"Magnus Rendall": "Magnus Rendall"},
    ),
    T(
        'I hit him. Then I hold on to him. "Two years, Magnus. TWO YEARS."',
        'He lets you do both. His lip has split, and your knuckles too. "She was scuttled, Tom. Old Corrigall that owned her had her insured twice over, and paid the mate to open her. Five men. I saw it done, and swam, and a Norwegian picked me up, and I thought: if I am dead he cannot finish it, nor start upon you." He wipes his mouth. "Not a word of who I am to anybody in a braided cap. Not till I have stood before the Sheriff. Swear it." You swear.',
        hp=-2,
        R="Magnus Rendall>@:ashamed+1",
        mood="rain at last",
        n="Corrigall had the Girl Ina scuttled for the insurance. The Occasional swore to Magnus to name him to no official before he has stood before the Sheriff.",
        debt=("sheriff", ("Sheriff",), "Magnus Rendall"),
        say={"Magnus Rendall": "Magnus Rendall"},
    ),
    BRANCH(
        8,
        T(
            'I fill a pipe, but for Lund, not for the Principal. "Tell me about the Freya."',
            'He lights it, and tells you in forty words of English and both hands. Timber, for Liverpool. A captain who prayed. And in the after hold, nailed shut, eleven crates of Mauser rifles that were on no paper. "Now the fishes have them," says Lund. The Principal has put down his pen. The tobacco is gone to the last shred.',
            L="kitchen",
            moved=False,
            X="twist of tobacco:@>Magnus Rendall",
            R="Magnus Rendall>@:confiding+1",
            n="The Freya carried eleven crates of Mauser rifles.",
            mood="fog",
            lies=["Mauser", "rifles", "confiding"],
        ),
        T(
            '"Then somebody will come for them. Sir, may I go down and look what has washed in?"',
            "The Principal gives his leave and Davie his good wishes. In the Gut there is timber, a shoe, a hymn book in Norwegian; and wedged high and dry a crate with rope handles. You prise up one slat. Oiled paper, blue steel. Behind you a seal slides off its ledge with a noise like a laugh.",
            L="the Gut",
            N="@",
            gone="Angus Gunn; Davie Mowat; Magnus Rendall; Sandy Flett",
            G="Norwegian hymn book",
            n="A crate with rope handles lies in the Gut.",
            mood="fog, thick",
            lies=["hymn book", "rope handles"],
        ),
        spoil=["silver watch", "weak heart", "Corrigall", "Sheriff"],
    ),
    T(
        '*I hold out the horn-handled knife.* "You forgot this on the table, the day you drowned."',
        'It makes him laugh, and then it does something else to him, and he turns to the glass until he is done. When the beam comes round again he has the knife shut in his fist. "I had it back a minute, that first day," says Magnus. "I was eating beef with it and I could not swallow." Far down in the south-east, low on the dark, a speck of light has begun to wink. It is not a star. It is the shore lamp on Hoy, and it is calling Skerrow.',
        L="lantern room",
        moved=False,
        X="horn-handled knife:@>Magnus Rendall",
        R="Magnus Rendall>@:loving+2",
        mood="clear, cold",
        n="The shore lamp on Hoy began to call.",
        say={"Magnus Rendall": "Magnus"},
    ),
    T(
        '"Read it out to me. I\'ll write."',
        "He reads Morse as he reads everything, with his lips. G, U, N, N. You write it down a letter at a time in the lamp log and do not put the letters together until the winking has stopped. GUNN DIED INFIRMARY TUESDAY. DAVIE WITH HIM. HESPER BRINGS SUPERINTENDENT FRIDAY. In your waistcoat the silver watch goes on, losing its four minutes. It is some time before you find that you have taken your cap off, and that so has Magnus.",
        C="Angus Gunn=dead",
        E="Death of the Principal signalled from Hoy",
        mood="clear, cold, dead calm",
        n="Principal Gunn passed away in the infirmary at Stromness. A Superintendent comes on Friday.",
        say={"Magnus Rendall": "Magnus", "Angus Gunn": "Mr Gunn"},
        raw={"status_changes": "[{name: Mr Gunn, status: deceased}]"},
    ),
    T(
        'I go down alone and wake the First Assistant. "Sandy. It\'s the Principal."',
        'Magnus stays with the light. The First Assistant sits on the edge of the bunk in his shirt and hears you to the end. He does not ask how. "He taught me to listen to a wick," says Sandy Flett. "Twenty-two years ago, in this room, with a wet thumb." Then he lifts the brass key off his neck and feels for your hand with it. "You have the log, and you have her. I will do the rest. Friday! They will put a card of letters in front of me."',
        L="kitchen",
        N="@; Sandy Flett",
        gone="Magnus Rendall",
        S="Magnus Rendall",
        X="brass lamp key:Sandy Flett>@",
        R="Sandy Flett>@:kindred+1",
        mood="dead calm",
        n="The First Assistant fears the letters that the Superintendent will make him read.",
        say={"Magnus Rendall": "Magnus", "Sandy Flett": "Sandy"},
    ),
    T(
        "Friday. I go down to the landing in a clean collar.",
        'Magnus and Sandy Flett keep to the tower. The boat comes in on a sea like a pewter dish. First up the ladder is a pair of yellow gloves with Superintendent Cathcart in them, then Davie, both arms as good as new and his face ten years older. "He was not alone," Davie says to you, quickly, before anything. "I read him the shipping news." Below, Bosun Flett rests on his oar and considers the sky, and then, at some length, considers you.',
        L="Skerrow landing",
        N="@; Cathcart; Davie Mowat; Erlend Flett",
        gone="Sandy Flett; Magnus Rendall",
        C="Davie Mowat=healed",
        R="Cathcart>@:frosty-1",
        mood="calm, bright, very cold",
        n="Superintendent Cathcart landed to inspect the light.",
        raw={"status_changes": "[{name: Davie, status: fit for duty}]"},
    ),
    T(
        '"I can see your face and the sea both, bosun. What was I due you?"',
        '"You know fine." You lean down and put two shillings into a palm like a plank. He bites neither of them. "He would not lie down in the boat, old Gunn," says Erlend Flett. "I told him to lie down. He sat up and looked at the light till it went under." He shoves the coins into his boot. "Quits. I am for the ship; she is to lie off till four." And he pushes away with one stroke. You have four shillings left, and a Superintendent tapping his foot.',
        O="shilling x2",
        S="Erlend Flett",
        paid="baccy",
        settled=(("owes Bosun Flett two shillings",), ("paid", "settled", "quits", "repaid")),
        R="Erlend Flett>@:square+1",
        mood="calm",
        n="The Occasional paid Bosun Flett for the tobacco; they are quits.",
    ),
    T(
        '"This way, Mr Cathcart. Mind the twelfth step."',
        'In the kitchen the First Assistant stands at attention beside the range. Davie drops the bags and begins on the kettle, from habit. Magnus is at the sink with his sleeves rolled, and when the yellow gloves point at him you say, as easily as you can: a seaman of the Freya, sir, that we took off the rocks. "Name?" Lund, you say. Cathcart makes a tick. Then he takes a card out of his case, holds it up at six paces, and says: "Mr Flett. The bottom line, if you please."',
        L="kitchen",
        N="@; Cathcart; Davie Mowat; Sandy Flett; Magnus Rendall",
        mood="high glass, false calm",
        n="Cathcart put the First Assistant to the test with a card of letters.",
    ),
    T(
        "*I cough — a short one and a long one, the Morse we tap to each other on the pipe.* A. *Then the next.*",
        'Sandy Flett\'s chin comes up by a hair. "A," he says. You have a terrible cold this morning. "T. N." Davie looks from you to him and begins to understand something, and drops a saucepan in the one place where you had run out of breath. "And an E, sir." The card goes down. "Admirable," says Cathcart, cross at having nothing to write. "I wish to God that my own sight were as good." He goes up to find fault with the brass, and takes Davie with him.',
        S="Cathcart; Davie Mowat",
        R="Sandy Flett>@:indebted+2",
        mood="squall passed",
        n="The First Assistant passed the test because the Occasional coughed the letters.",
    ),
    T(
        '"Sandy. It can\'t be done twice. And you, Magnus? Who is going to believe you about Corrigall?"',
        '"No," he says. "I ken that." He has the blue letter out, gone soft as cloth, and folds it along its old folds. "I will tell him that I am tired. It is true. Eleven years, and a wife that sews her letters shut. You and the boy can keep her between you till they send a man." Magnus dries the last plate and hangs the cloth up straight. "And I am for the Sheriff," says your brother, "by the same boat. Come with me as far as the pier, Tom. Two hours. I do not want to do it by myself."',
        mood="steady, veering fair",
        n="The First Assistant means to resign. Magnus means to go ashore by the same boat.",
        me="Thomas",
        say={"Magnus Rendall": "Magnus"},
        tell=[("insurance", "scuttled")],
    ),
    T(
        'I hang the lamp key on Davie\'s neck before we go. "There is one. You may lose your life here, but not that."',
        "He does not grin. He puts his hand flat on it, as you did. And so Davie stays with the light and with a Superintendent who can be put to polishing; and it is three of you that come up the wet steps at Stromness, in the dusk, you and Magnus with the First Assistant between you. The grey shawl has been waiting, by the look of the fish boxes, since noon. She does not say a word. She walks straight up to him and takes his face and turns it until it is looking at her.",
        L="Stromness pier",
        N="@; Magnus Rendall; Sandy Flett; Jessie Flett",
        gone="Davie Mowat; Cathcart",
        S="Davie Mowat; Cathcart",
        X="brass lamp key:@>Davie Mowat",
        R="Jessie Flett>@:thankful+2",
        mood="fair, light airs",
        n="Davie keeps the light with the lamp key. The First Assistant came home to Jessie.",
        say={"Magnus Rendall": "Magnus"},
    ),
    T(
        '*I look at the watch. Eight bells.* "He wanted it back from my own hand. The Principal. Where do I go with it now?"',
        'It is Jessie who answers, over her husband\'s shoulder. "He has a sister in Victoria Street. But she would only put it in a drawer." You wind it all the same. Sandy Flett puts his head on one side and listens. "Four minutes slow," he says. "Leave it so. It is how he had it." Magnus stands under the lamp at the corner with your knife in his belt and his collar turned up, waiting until you are ready to walk with him to the Sheriff\'s door.',
        mood="fair, stars",
        n="The silver watch stays with the Occasional.",
        say={"Magnus Rendall": "Magnus"},
    ),
]


def names(ops, out):
    for o in ops:
        for w in o.get("before", []) + o.get("after", []):
            names([w], out)
        names(o.get("turns", []), out)
        k = o.get("facts", {})
        out |= {count(p)[0] for key in "LNSGO" for p in parts(k.get(key, ""))} | set(k.get("say", {}).values())
        for i, a, b in transfers(k.get("X", "")):
            out |= {count(i)[0], a, b}
        for a, b, *_ in relations(k.get("R", "")):
            out |= {a, b}
        out |= {a for a, _ in statuses(k.get("C", ""))}
    return out


PLAY["known"] = sorted(names(OPS, set()) | {f for fs in PLAY["forms"].values() for f in fs} | set(PLAY["forms"]))
