"""EN fantasy heist, a group chat: three members speak in turn, each with a card and habits of its own.
Brannoch: "Boss", counts in front (30 crowns), only people he can see. Ilvane: "Mistress Aldous", titles and surnames for everybody, long notes. Pim: "Wren", nicknames for everybody, `n/a` for nothing.
Nobody lists himself. Old Sal and Young Sal are two people. An egg becomes somebody, a plan becomes two halves, a key changes hands four times."""
from form import *
SAY = {'Brannoch': {'Ilvane': 'Sister Ilvane', 'Auberon Vex': 'Lord Vex', 'Hesper Dray': 'Captain Dray'},
       'Ilvane': {'Brannoch': 'Master Deepvault', 'Pim': 'Master Thistlewick', 'Old Sal': 'Salome Grieve', 'Young Sal': 'Salvator Grieve', 'Auberon Vex': 'Lord Auberon Vex', 'Hesper Dray': 'Captain Hesper Dray'},
       'Pim': {'Brannoch': 'Bran', 'Ilvane': 'Ilvy', 'Auberon Vex': 'Vex', 'Hesper Dray': 'Dray'}}
ME = {'Brannoch': 'Boss', 'Ilvane': 'Mistress Aldous', 'Pim': 'Wren'}


def habit(k):
    k, by = dict(k), k['by']
    k.setdefault('me', ME[by]); k['say'] = SAY[by] | k.get('say', {}); raw = dict(k.get('raw', {}))
    def who(p): return k['me'] if p == '@' else k['say'].get(p, p)
    if by == 'Brannoch':
        def item(i):
            base, n = count(i)
            return f'{n} {base}s' if n > 1 else k['say'].get(base, base)
        for field, key in (('items_gained', 'G'), ('items_lost', 'O')):
            if key in k: raw.setdefault(field, '[' + ', '.join(map(item, parts(k[key]))) + ']')
        if 'X' in k: raw.setdefault('items_transferred', '[' + ', '.join('{item: %s, from: %s, to: %s}' % (item(i), who(a), who(b)) for i, a, b in transfers(k['X'])) + ']')
    if by == 'Pim':
        for field, key in (('items_gained', 'G'), ('items_lost', 'O'), ('items_transferred', 'X'), ('npc_met', 'N'), ('npc_separated', 'S'), ('relationship_changes', 'R'), ('status_changes', 'C'), ('event_trigger', 'E'), ('location', 'L'), ('hp_change', 'hp')):
            if key not in k: raw.setdefault(field, 'n/a')
    return k | dict(raw=raw)


def t(by, said, told, **k): return T(said, told, **habit(k | dict(by=by)))
def g(by, told, **k): return G(told, **habit(k | dict(by=by)))
def w(by, told, **k): return W(told, **habit(k | dict(by=by)))
def drop(by, said, told, **k): return DROP(said, told, **habit(k | dict(by=by)))
def cont(by, told, **k): return CONT(told, **habit(k | dict(by=by)))


def names(play, ops):
    out = set()
    def walk(x):
        if isinstance(x, dict):
            if 'told' in x and 'facts' in x:
                k = x['facts']; out.update(p for key in 'NS' for p in parts(k.get(key, ''))); out.update(count(p)[0] for key in 'GO' for p in parts(k.get(key, '')))
                for i, a, b in transfers(k.get('X', '')): out.update((count(i)[0], a, b))
                for a, b, _, _ in relations(k.get('R', '')): out.update((a, b))
                out.update(a for a, _ in statuses(k.get('C', ''))); out.update(k.get('say', {}).values()); out.add(k.get('L', ''))
            for v in x.values(): walk(v)
        elif isinstance(x, list):
            for v in x: walk(v)
    walk(ops)
    for a, b in play['forms'].items(): out.update([a, *b])
    return sorted(out - {'', '@'})


PLAY = dict(id='3-lanternwick', char='Brannoch', user='Wren Aldous', group=['Brannoch', 'Ilvane', 'Pim'], hp=True, unique=['bone key', 'Tidestone', 'signet ring', 'speckled egg', "saint's finger"],
    card={'Brannoch': 'Brannoch Deepvault, dwarf, opens safes and distrusts stairs. Calls {{user}} Boss and nothing else. Sister Ilvane mends them, Pim hides them. He knows both Grieves: Old Sal (Salome), who buys what they bring, and her grandson Young Sal (Salvator), who carries it.',
          'Ilvane': 'Sister Ilvane was thrown out of the Order of the Drowned Saint for asking what the bank did with the alms. Formal to a fault: Mistress Aldous for {{user}}, Master Deepvault for Brannoch, Master Thistlewick for Pim. The fence is Salome Grieve (Old Sal to the others), her grandson Salvator Grieve (Young Sal).',
          'Pim': 'Pim Thistlewick, halfling, illusions and cheek. Gives everybody a short name: {{user}} is Wren, Brannoch is Bran, Ilvane is Ilvy. Never says what house he was born in. The bank belongs to Lord Auberon Vex; its guard is led by Captain Hesper Dray.'},
    persona='Wren Aldous, 34, draws the plans for other people\'s robberies. Once an architect; built half of the Bank of the Drowned Saint and was never paid for it.',
    greeting='*The back room of the Gilded Eel. Brannoch has taken the only chair with four legs.* "Shut the door, Boss. The candle is doing its best."',
    me=['Wren', 'Boss', 'the Boss', 'Mistress Aldous', 'Aldous'], two=['Old Sal', 'Young Sal'],
    forms={'Brannoch': ['Bran', 'Brannoch Deepvault', 'Master Deepvault'], 'Ilvane': ['Sister Ilvane', 'Ilvy'], 'Pim': ['Pim Thistlewick', 'Master Thistlewick'],
           'Old Sal': ['Salome Grieve', 'Old Sal Grieve', 'Salome'], 'Young Sal': ['Salvator Grieve', 'Young Sal Grieve', 'Salvator'], 'Auberon Vex': ['Lord Vex', 'Lord Auberon Vex', 'Vex'],
           'Hesper Dray': ['Captain Dray', 'Captain Hesper Dray', 'Dray'], 'Ember': [], 'Gilded Eel': ['the Gilded Eel', 'the Gilded Eel, back room'], "Grieve's pawnshop": ['the pawnshop', 'pawnshop', 'Grieve pawnshop'],
           'canal tunnel': ['the canal tunnel'], 'counting hall': ['the counting hall'], 'vault': ['the vault', 'the vault of the Drowned Saint'], 'roof garden': ['the roof garden', "Vex's roof garden"], 'barge Mudlark': ['the Mudlark', 'Mudlark', 'the barge Mudlark', 'the barge'],
           "Saint's Bridge": ['the Saint\'s Bridge'], 'crown': ['crowns'], 'smoke pellet': ['smoke pellets'], 'wax mask': ['wax masks'], "saint's finger": ["the saint's finger"], 'Tidestone': ['the Tidestone'], 'glass copy': ['the glass copy']})
OPS = [
t('Brannoch', '*I shut it and unroll nothing, yet.* "Everybody here? Then listen. Lantern Night. The Bank of the Drowned Saint."',
  'Brannoch whistles through the gap in his beard. "Eleven tumblers, two of them cursed. I like it." On the windowsill Sister Ilvane turns a page of her breviary as if she had heard the weather. Pim is upside down on a beam, eating somebody\'s plum. "Before you ask, Boss," says the dwarf, and slides a purse across the table, "that is what is left of the last job. Thirty crowns. Spend it on something that does not explode."',
  L='Gilded Eel', N='Ilvane; Pim', G='crown x30', R='Brannoch>@:loyal+1', mood='conspiratorial', n='The job: the Bank of the Drowned Saint on Lantern Night.', say={'Gilded Eel': 'the Gilded Eel, back room'}),
g('Ilvane', 'Ilvane closes the book on her thumb. "I took one thing with me when they put me out, Mistress Aldous." From her sleeve comes a key, long as a hand, yellow, carved out of a single rib. "The bone key. It opens the crypt door on the canal side, and it screams if it is turned by one who does not pray. I used to pray." She lays it in your palm. It is faintly warm. "In return I ask for the saint\'s finger that lies in that vault. It goes back into her grave. Swear."',
  N='Brannoch; Pim', X='bone key:Ilvane>@', R='Ilvane>@:hopeful+1', mood='solemn', n='Sister Ilvane asks that Mistress Aldous bring the saint\'s finger out of the vault and return it to the grave.'),
t('Pim', '"I swear it. The finger goes home." *I hang the key round my neck.* "Pim, what have you got for us?"',
  'Pim drops off the beam and lands on the word. "Masks! Three, Wren, best beeswax, hold a face for an hour if nobody sneezes." He fans them out like cards and then shoves the lot over. "And five smoke pellets, because I love you, Bran, and you run like a wardrobe." Brannoch throws the plum stone at him. Ilvane catches it without looking. "Finger\'s a promise, then," Pim adds. "She counts those."',
  N='Brannoch; Ilvane', G='wax mask x3; smoke pellet x5', R='Pim>@:cheeky+1', mood='playful', n='Wren swore to Ilvy to take the saint\'s finger back to its grave.', debt=('finger', ("saint's finger",), 'Ilvane')),
t('Brannoch', '"We still need the floor plan of the vault. The city burned mine." *I lead them to Grieve\'s.*',
  'The pawnshop has one lamp and four hundred clocks, all wrong. Old Sal sits under the lamp with a cat in her lap and a crossbow under the cat. Her grandson, Young Sal, leans on the ladder and grins at the sister, who does not grin back. "Wren Aldous," says the old woman. "I kept your drawing out of the fire. Forty crowns." Brannoch mutters in his beard that for forty he would eat it.',
  L="Grieve's pawnshop", N='Ilvane; Pim; Old Sal; Young Sal', R='Old Sal>@:shrewd+1; Young Sal>Ilvane:smitten+1', mood='haggling', n='Old Sal has kept the floor plan and wants 40 crowns for it.', say={"Grieve's pawnshop": 'the pawnshop'}),
t('Ilvane', '"Twenty now, Sal. The other twenty the morning after Lantern Night."',
  '"Twenty now," agrees Salome Grieve, to whom the coins seem to walk of their own will. "And the morning after, or I tell Captain Dray where the architect sleeps. Nothing personal. The cat eats fish." She draws the floor plan out from beneath the beast, warm and somewhat hairy. Ilvane observes that Salvator, on his ladder, has stopped grinning and is reading it over your shoulder with moving lips.',
  O='crown x20', X='floor plan:Old Sal>@', mood='uneasy', n='Mistress Aldous still owes Salome Grieve twenty crowns, due on the morning after Lantern Night.', debt=('twenty', ('twenty crowns', '20 crowns'), 'Old Sal'),
  before=[w('Ilvane', '"No credit," says Salome Grieve, and pulls the trigger through the cat. The bolt nails Master Thistlewick to a grandfather clock, which strikes. Salvator vaults the counter with a cudgel. It is Ilvane who drags you into the street by the hair, with the plan in her teeth, while behind you all four hundred clocks begin to ring.',
            C='Pim=dead', G='floor plan', hp=-10, mood='slaughter', n='Salome Grieve shot Master Thistlewick with the crossbow; he is nailed to a clock.', lies=['nailed', 'cudgel'])]),
g('Pim', 'Outside, under the eaves, Pim tugs your cuff. "Young Sal was learning it by heart, Wren. Tear it. Nobody can sell half a door." He is right; he generally is, it is the worst thing about him. You rip the sheet along the staircase: the left half goes into your boot, and the right half Bran folds up very small and puts in his beard. The Grieves have bolted the shop behind you. Ilvy is listening at the shutter.',
  N='Brannoch; Ilvane', S='Old Sal; Young Sal', O='floor plan', G='left half of the plan', mood='sneaky', n='The floor plan was torn in two: Wren has the left half, Bran the right half.'),
t('Brannoch', '"Back to the Eel. We go in through the canal on Lantern Night, crypt door, two levels up." *Three days pass.*',
  'Lantern Night. Every idiot in the city is on the water with a paper boat, and nobody looks at four people in a punt going the other way. The canal tunnel closes over you, dripping. Brannoch sits amidships and holds on to both sides. "Dwarves sink, Boss. It is the one thing that we do at once." Ahead, green with slime, is a little door with a face on it. Its mouth is the keyhole.',
  L='canal tunnel', N='Ilvane; Pim', mood='damp dread', n='Lantern Night: the four reached the crypt door by punt.'),
t('Pim', '"It screams if you don\'t pray. Anybody here pray?"',
  '"I do," says Pim, which makes all of you look at him. "What? Every night. Mostly for puddings." He holds out his hand, and you take the bone key off your neck and give it to him. He spits on it, mumbles something with butter in it, and turns it in the stone mouth. The door sighs like a fed baby. Ilvy has an odd look on her face. "Sixteen years in the Order," she murmurs, "and it liked the puddings."',
  X='bone key:@>Pim', R='Ilvane>Pim:humbled+1', mood='absurd hush', n='Pim prayed and opened the crypt door without a scream; he has the key now.'),
g('Brannoch', 'The crypt stairs come out behind a tapestry in the counting hall. Brannoch goes first on his belly, which is a way of going that suits him. Moonlight, forty desks, an abacus the size of a harp. And a voice: "Who left this open?" Captain Dray stands at the far end with a lamp and her helmet under her arm. Behind the tapestry Pim bites on his own sleeve, and the sister has her hand flat on your back.',
  L='counting hall', N='Ilvane; Pim; Hesper Dray', mood='breath held', n='Captain Dray is on her rounds in the counting hall.'),
t('Ilvane', '*Two smoke pellets, left and right.* "Go, go, stairs!"',
  'The hall fills with something that smells of violets and burnt hair. Captain Hesper Dray does not cough; she draws, walks straight into it, and cuts where she heard you. The blade opens your forearm. Then Ilvane\'s palm strikes the captain between the eyes, with a word that she was forbidden to use. Dray lies down on the marble as gently as a coat. "She will sleep for an hour," says Ilvane. "I shall be sorry for longer." Three pellets remain to you.',
  O='smoke pellet x2', hp=-12, C='Hesper Dray=asleep', R='Hesper Dray>@:hunting-1', mood='remorseful', n='Captain Dray was put to sleep for an hour by a forbidden word of Ilvane\'s.',
  after=[w('Ilvane', 'The smoke has scarcely risen when the abacus moves of itself. Bead by bead it counts you, four, and at four the floor opens. You fall into a cistern of ink. Ilvane alone is left above, at the brink, her hands out; "Hold on," she calls, and something underneath takes you by the ankle and pulls, in no haste at all.',
           O='smoke pellet x2', L='ink cistern', hp=-20, mood='nightmare', n='The abacus counted them and dropped them into an ink cistern.', lies=['cistern', 'abacus counted'])]),
t('Brannoch', '"Bind that for me, Sister, and on. Bran, the halves." *I pull mine out of my boot.*',
  'Edge to edge on the flagstones the two halves make a staircase again. Brannoch runs a thumbnail along it and counts. "Third landing, false wall, then her. Eleven tumblers." He hands his half over to you as well, since a man with both hands in a lock cannot read. The sister ties your arm with a strip of alb. He looks at it, and at you, and clears his throat like a quarry. "Do not bleed out before I am rich, Boss."',
  X='right half of the plan:Brannoch>@', hp=5, R='Brannoch>@:worried+1', mood='focused', n='The Boss holds both halves of the plan now. The arm is bound.'),
g('Pim', 'Third landing. Somebody has to stay here with Dray\'s lamp, waving it past the windows so the yard thinks that she is still on her rounds. "Me," says Ilvy before anyone can be brave. "I am the tallest." So Ilvy stays on the landing, wearing the captain\'s helmet, and you and Bran and Pim go through the false wall and down. The vault is round and cold and blue, like the inside of an eye. Pim\'s whisper comes back to him: pudding.',
  L='vault', N='Brannoch', S='Ilvane', gone='Hesper Dray', mood='spooked', n='Ilvy stayed on the landing with Dray\'s lamp to fool the yard.'),
t('Brannoch', '"She\'s all yours, Bran. How long?"',
  'He lays an ear to the iron and shuts his eyes. It takes as long as it takes. The tenth tumbler bites him and he thanks it. The eleventh goes over with a click that you feel in your teeth, and there it is, on a plain stone dish: the Tidestone, grey-green, with a sea moving about inside. Beside it lies the saint\'s finger in a silver thimble. "Ladies first," says Brannoch hoarsely. You take them, the one and the other.',
  G="Tidestone; saint's finger", C='Brannoch=cursed hand', E='Brannoch opened the vault', mood='triumph', n='The vault is open. The tenth tumbler cursed Brannoch\'s hand.'),
g('Pim', '"Wren." Pim has stopped being funny. In a nest of bank notes in the corner sits an egg, speckled, as large as his head, and it is humming. "That was not on the plan." He puts both his arms round it before you can say a word. "It\'s warm, Wren. They keep it in the dark with the money." Bran, nursing his hand, remarks that it is a bad idea. So you carry the egg, since Pim can\'t see over it, and he carries the opinion.',
  N='Brannoch', G='speckled egg', mood='wonder', n='Wren took a humming egg out of the vault.'),
EDIT(1, 'as large as his head', 'as large as his own curly head'),
drop('Brannoch', '"Put something on the dish, quick, before it notices." *I set a purse on it.*',
  'The dish notices. Spikes the length of a halfling come out of the round wall, in rings, one after the other, like a throat swallowing. Brannoch pushes you clear, and that is the last decent thing that he does with both legs. Somewhere a gong begins.',
  O='crown x10', C='Brannoch=lost a leg', hp=-30, mood='carnage', n='The dish set off rings of spikes; Brannoch lost a leg and a gong was struck.', lies=['spikes', 'lost a leg', 'gong']),
t('Pim', '"The dish is a scale. It wants the weight back. Pim, anything?"',
  'Pim turns out all of his pockets, which takes a while. Between a kazoo and a live newt there is a lump of bottle glass, blown green. "I made it in case! Glass copy. It looks right if you\'re stupid, and I weighed it with spoons." He reaches under your arm and sets it down himself, with two fingers. The dish considers. The dish settles. Bran lets out a breath with garlic in it. "You\'re a genius," you say, and Pim goes pink to the ears.',
  N='Brannoch', R='Pim>@:proud+1', mood='giddy', n='Pim\'s glass copy lies on the dish in place of the Tidestone.'),
g('Brannoch', 'Then the wall shuts. Not the false one, the other. Brannoch hits it once with the good hand, out of politeness. A speaking tube above the dish coughs. "Good evening, thieves," it says in an old, comfortable voice. "Auberon Vex. I have had a letter about you. It was signed by a certain S. Grieve. Do make yourselves at home; the air will last for an hour." There are two Grieves, Boss, and they both begin with S.',
  N='Pim', R='Auberon Vex>@:amused-1', mood='trapped', n='Lord Vex was warned by a letter signed S. Grieve. It is not known which Grieve wrote it.'),
t('Pim', '"Pim... why are you crying?"',
  'He draws you over to the far side, where Bran\'s ears don\'t reach. "Because I know that voice from the top of the stairs. It used to say, not in front of guests." Pim wipes his nose with a mask. "I\'m his. Wrong side of the blanket. A bastard of House Vex, Wren, that\'s me, and the wall knows my blood. I can open it. But Bran hates the Vexes for what they did to his brother. Don\'t tell. Please." You promise, little finger and all.',
  R='Pim>@:trusting+2', mood='raw', n='Secret, known only to Wren: Pim is a bastard of House Vex and his blood opens the wall. Wren promised not to tell.', secret=('bastard', ('only to Wren', 'only Wren', 'Wren only', 'only you', 'only to you')), debt=('hush', ('not to tell', 'secret'), 'Pim')),
g('Brannoch', '"Whatever the lad did over there, it worked," says Brannoch, as the wall rolls up like a tongue. He does not ask, and it costs him something. Beyond are stairs, a great many stairs, all going up; and at the top of them, of course, a garden. Orange trees in tubs, a long drop to the lanterns on the water, and Lord Vex in a wheeled chair, with a rug on his knees and a young man at his elbow. The young man is Young Sal.',
  L='roof garden', N='Pim; Auberon Vex; Young Sal', E='Young Sal turned out to be the traitor', R='Brannoch>Young Sal:furious-3', mood='bitter', n='The letter was Young Sal\'s: it was he who sold the crew to Lord Vex.', say={'roof garden': 'the roof garden'}),
t('Brannoch', '"Sal. Your grandmother know you write letters?"',
  '"She knew." Young Sal does not meet your eye. "She came at me with the crossbow when I told her. I... she fell. Down the shop stairs. This evening." The clocks, he says, had all stopped; he had not even touched them. Brannoch takes off his cap. Old Sal is dead, then, and the cat is out in the rain. "She would have sold you herself," the dwarf tells the boy, quietly, "but for more, and to your face."',
  C='Old Sal=dead', E='Old Sal died in a fall down the stairs of her shop', R='Young Sal>@:ashamed-1', mood='heavy', n='Old Sal died this evening when she fell down the shop stairs in a struggle with Young Sal.'),
g('Pim', 'Vex lifts one spotted hand. "The stone, architect. Then you may go. I even meant to pay you, once." He is not looking at you at all. He is looking at Pim, at the ears, at the hair, and the hand begins to tremble. Pim takes one step forward and says, "Hello. Is it all right now, in front of guests?" Nobody breathes. The old man pulls a signet ring off his finger, and it rolls over the flags, and stops against Pim\'s bare foot.',
  N='Brannoch; Young Sal; Auberon Vex', X='signet ring:Auberon Vex>Pim', R='Auberon Vex>Pim:shaken+2', mood='electric', n='Vex gave his signet ring to Pim.'),
t('Pim', '*Quietly.* "Pim. We can still walk. Decide."',
  '"Walk," says Pim, and his voice only cracks the once. He picks the ring up, looks at it, and tosses it to you. "You hold it, Wren, I\'d lose it." Then comes the key too, the bone one, out of his sock. "And that. I\'ve done enough praying." In your arms the egg has started to knock. Young Sal has begun to cry into an orange tree. Lord Vex turns his chair to face the water, and does not call the guard.',
  X='signet ring:Pim>@; bone key:Pim>@', N='Brannoch; Auberon Vex; Young Sal', mood='brittle', n='Vex let them walk. Wren has the ring and the bone key.'),
BRANCH(5,
  t('Brannoch', '"Sit tight. An hour of air is a long time if nobody sings." *I study the hinge.*',
    'Brannoch gets down on the floor beside you, knees cracking, and puts his lips to the crack. "There is a draught, Boss. Marsh gas." He has a file in his beard, it turns out; a file with a mother-of-pearl handle, his wedding present to nobody. He gives it to you to work the lower hinge with, because his hand has gone black as far as the wrist. Pim hums. You tell him to stop.',
    X='pearl file:Brannoch>@', C='Brannoch=blackened hand', R='Brannoch>@:confiding+1', mood='stifling', n='Brannoch lent the Boss a file for the hinge. His hand has gone black.', lies=['pearl', 'confiding', 'blackened']),
  g('Pim', 'It is the hinge that gives, not the door, and it drops you all down a coal chute on to a heap of clinker. A woman with a shovel stares. "Deliveries are Tuesdays," says Dorcas Wimpole, stoker. Pim sweeps her a bow and leaves half of his trousers on a nail. "We\'re early," he says.',
    L='boiler house', N='Brannoch; Dorcas Wimpole', mood='sooty', n='They fell down a coal chute on to Dorcas Wimpole\'s clinker heap.', lies=['Dorcas', 'clinker', 'boiler house']),
  spoil=['bastard', 'signet', 'roof garden']),
t('Ilvane', '"Sister! Down the ropes. We\'re leaving." *We collect her from the landing and make for the boat.*',
  'Ilvane had waved her lamp for two hours, and would have gone on until the Last Flood. She slides down after you all to the barge Mudlark, which noses out from under the orange trees with Master Deepvault already sick over the side. Lord Vex and Salvator Grieve are left among the tubs, growing small. "You have it?" she asks. You open your hand upon the thimble. She does not touch it. She bends down and puts her forehead against your knuckles.',
  L='barge Mudlark', N='Brannoch; Pim', S='Auberon Vex; Young Sal', R='Ilvane>@:grateful+2', mood='exaltation', n='All four are aboard the Mudlark. Lord Vex and Salvator Grieve were left behind on the roof.', say={'barge Mudlark': 'the barge Mudlark'}),
g('Pim', '"It\'s COMING," says Pim, and for once it isn\'t a joke about supper. The egg jumps in your lap. A crack, a puff of steam, a snout. What climbs out is wet, copper-coloured, and no longer than a cat, and it sneezes a spark into Bran\'s beard. "Ember," says Pim at once, in a voice of perfect love. "Her name is Ember." The bits of the shell go overboard. Ember turns round three times on your knees, and falls asleep.',
  O='speckled egg', N='Brannoch; Ilvane; Ember', E='The egg hatched: a copper dragon called Ember', R='Ember>@:imprinted+2', mood='adoring', n='The egg hatched. Ember is a copper dragon as small as a cat.'),
t('Brannoch', '"Nobody tell the harbourmaster. Bran, show me that hand."',
  'He would rather not, and shows it. The nails have turned to green glass, and the knuckle after them. "Does not hurt, Boss. That is what bothers me." The sister prays over it and it laughs at her. Ember wakes up, walks along the bench, and with great attention licks it from wrist to tip. There is a smell of hot pennies. The glass runs off like water. Brannoch opens his fist, and shuts it, and does not trust himself to speak.',
  N='Ilvane; Pim; Ember', C='Brannoch=healed', R='Brannoch>Ember:devoted+2', mood='wonder', n='Ember licked the curse off Brannoch\'s hand; it is whole again.'),
g('Ilvane', 'Ilvane has watched the bank through the fog, and it is she who sees the lantern: one rower, standing, a helmet. "Captain Hesper Dray is awake," she says. "I did tell you an hour." A crossbow bolt takes the tiller out of Master Deepvault\'s hand and goes on through your coat and some of you. "In the name of the Saint, heave to!" Ilvane stands up in the bow, makes herself as wide as she can, and waits to be recognised.',
  N='Hesper Dray', C='Hesper Dray=awake', hp=-15, mood='resigned courage', n='Captain Dray pursues the barge in a rowing boat and hit Mistress Aldous with a bolt.'),
t('Ilvane', '"Dray! Before you shoot again: what do you think that bank does with the alms?" *I throw her the thimble\'s worth of truth.* "Ask her."',
  '"They buy eggs," says Ilvane across the water. "Eggs, Captain, and they break them for the stone inside. Look." Ember puts her small snout over the gunwale and yawns. The oars stop. The captain looks for a very long time at the thing that she has guarded for nine years without being told. "I have seen nobody," she says at last, in a changed voice, and she turns her boat about. The fog takes her, helmet first.',
  S='Hesper Dray', R='Hesper Dray>@:conscience-stricken+1', mood='grace', n='Captain Dray saw Ember, understood what the bank does with the alms, and let them go.'),
t('Pim', '"Put us in at the Saint\'s Bridge, Pim. I owe somebody a burial." ',
  'Under the third arch there\'s a slab, and nobody on the crew but Ilvy ever knew whose. Bran stays with the Mudlark and says it\'s to mind the boat, and it\'s because of the stairs. Ember rides on Pim\'s hat. Ilvy kneels down in the mud in her only habit and clears the moss off a name with her nails. You can hear the last of the paper lanterns fizzing out, all along the water, one by one by one.',
  L="Saint's Bridge", N='Ilvane; Ember', S='Brannoch', mood='hushed', n='They went to the grave under the Saint\'s Bridge. Bran minds the boat.', tell=[("saint's finger",)]),
g('Ilvane', 'She does not take it from you; she only moves the stone aside, so that you may do what you have sworn. You lay the saint\'s finger, thimble and all, among what is left of the rest of her. Ilvane says eleven words, and this time they are not forbidden. "So," she says, rising with mud to the thigh. "You are the first, Mistress Aldous, who ever kept one. A promise, I mean. I had begun to think that they were a figure of speech."',
  O="saint's finger", N='Pim; Ember', paid='finger', settled=("asks that Mistress Aldous bring the saint's finger", ('kept', 'laid', 'returned', 'fulfilled', 'buried')), R='Ilvane>@:devoted+2', mood='peace', n='Mistress Aldous kept her oath: the saint\'s finger was laid back in the grave under the bridge.'),
t('Ilvane', '*I take the bone key from my neck and give it back to her.* "This is yours. You pray again, I noticed."',
  'Ilvane weighs it in her hand: the same yellow rib, a little spit still in the carving. "It liked the puddings best," she says, with a sidelong glance at Master Thistlewick, and threads it on her belt where the Order\'s cord used to be. It does not scream. It makes, rather, a small contented noise, like a cat in another room. "Where to? It is almost morning. I believe that there was something about the morning."',
  X='bone key:@>Ilvane', mood='tender irony', n='Ilvane wears the bone key on her belt again.'),
t('Brannoch', '"The pawnshop. I pay what I owe, even to the dead." *Back aboard, and on to Grieve\'s.*',
  'Dawn. The shop is unlocked, the clocks are stopped, and on the counter sits the cat, in a temper. Brannoch came up off the boat for this one; Old Sal had given him his first set of picks. The sister shuts the old woman\'s eyes and straightens her shawl. Pim has Ember buttoned inside his coat. You have ten crowns in the purse, and the debt was twice that. "I have a bit put by, Boss," says the dwarf to the ceiling. He counts out ten more into your hand.',
  L="Grieve's pawnshop", N='Ilvane; Pim; Ember', X='crown x10:Brannoch>@', R='Brannoch>@:brotherly+2', mood='sombre', n='Brannoch gave the Boss ten crowns towards what is owed to Old Sal.', tell=[('twenty', '20 crowns')], say={"Grieve's pawnshop": 'the pawnshop'}),
t('Pim', '*I lay all twenty on the counter in front of the cat.* "Paid, Sal. The morning after, like I said."',
  'The cat sniffs at the pile, sits down on it, and begins to purr, and somewhere at the back of the shop one clock starts to tick. Then another. Pim feels all the hair get up on his neck. "She took it," he breathes. "She actually took it, Wren." Bran is blowing his nose on a tapestry with a price on it. Inside the coat Ember has begun to purr as well, in thirds with the cat.',
  O='crown x20', N='Brannoch; Ilvane; Ember', paid='twenty', settled=('still owes', ('paid', 'settled', 'cleared')), mood='shivery', n='Wren paid Old Sal\'s twenty crowns on the counter; the debt is settled.'),
cont('Pim', 'The door opens about a hand\'s breadth. "Is it... am I allowed to come in?" asks Young Sal, soaked to the skin, from the step.', N='Young Sal', mood='shivery', n='Young Sal came back to the shop at dawn.'),
t('Ilvane', '"That depends. What do you want, Salvator?"',
  '"To bury her," says Salvator Grieve. "And then whatever you like." Ilvane looks him up and down, as one looks at a wall to see whether it will bear. Master Deepvault has gone the colour of brick, and Master Thistlewick has stepped in front of him, a good deal smaller. "He will dig," says Ilvane, "and I shall read, and Master Deepvault will hate him from the other side of the hole. It is how it is done." The boy nods, and weeps, and goes to find a spade.',
  R='Young Sal>@:penitent+1; Ilvane>Young Sal:stern mercy+1', S='Young Sal', mood='severe pity', n='Salvator Grieve came to bury his grandmother and went to fetch a spade.'),
g('Brannoch', 'They do it behind the shop, where the old woman grew leeks. Brannoch stands on the far side of the hole with his cap against his chest and hates as hard as he can. It is not easy; the boy digs well. The sister reads. When it comes to the earth, the dwarf goes first, a whole spadeful, and then he looks at the spade, and at Young Sal, and gives it him back handle foremost. "Square the corners," he growls. "She liked a square corner."',
  bad='\n\n```state\nlocation: the pawnshop\nlocation_moved: false\nhp_change: 0\nitems_gained: ['),
t('Pim', '"Pim. Outside a moment." *I hold out the signet ring on my palm.* "Yours, if you want it. I haven\'t told a soul."',
  'On the step the sun is just getting in among the chimneys. Pim looks at the ring for so long that Ember leans out of the coat and tries to eat it. "You didn\'t, did you?" he says. "Not even Bran, and he\'d have paid you in beer." He takes it, breathes on it, and puts it on his thumb, where it fits like a hoop on a broomstick. "I\'ll tell him myself. When he\'s had breakfast. Lots of breakfast." And he puts his small hand in yours.',
  X='signet ring:@>Pim', R='Pim>@:family+2', mood='sunrise', n='Wren gave Pim the ring. He means to tell Bran the truth himself after breakfast.', paid='hush', tell=[('bastard', 'House Vex')]),
t('Brannoch', '"Breakfast, then. All of us, the Eel, on the stone." *I pat the pocket with the Tidestone.*',
  'The Gilded Eel does kippers at that hour and no questions. The back room, one candle, the chair with four legs; this time he gives it to Ilvane. Ember has a kipper of her own. "A thing I should like to know, Boss," says Brannoch, watching the little sea go round in the stone that you have set down between the plates. "Who do we sell that to, with Old Sal gone?" Pim puts down his fork, and clears his throat, and holds up his thumb. "Bran," he begins.',
  L='Gilded Eel', N='Ilvane; Pim; Ember', mood='warm suspense', n='Breakfast at the Gilded Eel. Pim has something to tell Brannoch.', say={'Gilded Eel': 'the Gilded Eel, back room'}),
]
PLAY['known'] = names(PLAY, OPS)
