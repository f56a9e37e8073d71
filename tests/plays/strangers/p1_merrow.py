"""EN survival at sea: the sail cargo ketch Merrow strikes a drifting container; five people, one raft, a bag of counted things.
Habits of the narrator: it writes like a ship's log. Counts stand before the thing and in the plural (12 water pouches), an empty field is `none`, people go by their posts (the Mate, the Bosun),
the place carries the day (Life raft, day 2), the persona is the Supercargo in the block and Pennies in speech, and nobody who stays is listed again."""
from form import *
MANY = {'water pouch': 'water pouches', 'biscuit': 'biscuits', 'flare': 'flares', 'flying fish': 'flying fish'}
S = {'Isolde Hartnell': 'the Skipper', 'Jonah Pell': 'the Mate', 'Maggie Dunn': 'the Bosun', 'Fabrice Okoro': 'the Cook', 'Tam Pell': 'Tam', 'Beatriz Rosa': 'the stowaway', 'Anselmo Rosa': 'Senhor Anselmo', 'Duarte Neves': 'Inspector Neves'}
B = {'Beatriz Rosa': 'Beatriz'}


def log(k):
    if 'bad' in k: return k
    k = dict(k); say = S | k.get('say', {}); k['say'] = say; k.setdefault('me', 'Supercargo'); raw = {}
    def item(p):
        name, n = count(p)
        return (f'{n} {MANY[name]}' if n > 1 else f'1 {name}') if name in MANY else say.get(name, name)
    def who(p): return k['me'] if p == '@' else say.get(p, p)
    for field, key in dict(items_gained='G', items_lost='O', items_transferred='X', npc_met='N', npc_separated='S', relationship_changes='R', status_changes='C').items():
        if not k.get(key): raw[field] = 'none'
    for field, key in dict(items_gained='G', items_lost='O').items():
        if k.get(key): raw[field] = '[' + ', '.join(item(p) for p in parts(k[key])) + ']'
    if k.get('X'): raw['items_transferred'] = '[' + ', '.join('{item: %s, from: %s, to: %s}' % (item(i), who(a), who(b)) for i, a, b in transfers(k['X'])) + ']'
    if 'E' not in k: raw['event_trigger'] = 'none'
    if 'at' in k: raw['location'] = k.pop('at')
    k['raw'] = raw | k.get('raw', {})
    return k


def D(said, told, **k):
    extra = {x: k.pop(x) for x in ('before', 'after') if x in k}
    return T(said, told, **log(k), **extra)
def DW(told, **k): return W(told, **log(k))


PLAY = dict(id='1-merrow', char='Isolde Hartnell', user='Rosalind Achterberg', hp=True, unique=['logbook', 'tin whistle', 'flare pistol', 'gutting knife', 'brass sextant', 'oilskin coat'],
    card='Isolde Hartnell, 58, owner and master of the sail cargo ketch Merrow, coffee and rum from Santos to Falmouth by way of the Azores. Everybody calls her the Skipper. Says little, swears in Dutch, forgives late. '
         'Nobody on board has used {{user}}\'s name since the first week, when she counted the spoons: on deck she is Pennies, and in the ship\'s papers the Supercargo, of whom the Merrow carries exactly one. '
         'The others go by their posts: the Mate is Jonah Pell, the Bosun is Maggie Dunn, the Cook is Fabrice Okoro. Only the ship\'s boy is called by his name; he is Tam Pell, sixteen, the Mate\'s nephew.',
    persona='Rosalind Achterberg, 34, was an auditor in Rotterdam until she was not. Counts things when she is frightened. Her second voyage.',
    greeting='*Nine days of trade wind, and the Merrow leans into the tenth like an old dog into a hand.* "Pennies," *says the Skipper without turning from the wheel,* "the hold is a sack short on paper. Go and see whether it is short in life."',
    me=['Supercargo', 'the Supercargo', 'Pennies', 'Rosalind', 'Achterberg', 'Miss Achterberg'], two=['Jonah Pell', 'Tam Pell'],
    forms={'Isolde Hartnell': ['the Skipper', 'Skipper', 'Captain Hartnell', 'Captain Isolde Hartnell', 'Isolde', 'Hartnell'], 'Jonah Pell': ['the Mate', 'Mate', 'Jonah', 'Mr Pell'], 'Tam Pell': ['Tam', 'young Tam'],
           'Maggie Dunn': ['the Bosun', 'Bosun', 'Maggie'], 'Fabrice Okoro': ['the Cook', 'Cook', 'Fabrice'], 'Beatriz Rosa': ['the stowaway', 'stowaway', 'Beatriz', 'Beatriz (the stowaway)', 'the girl'],
           'Anselmo Rosa': ['Senhor Anselmo', 'Anselmo', 'old Anselmo'], 'Duarte Neves': ['Inspector Neves', 'Neves', 'Inspector Duarte Neves', 'Inspector'],
           'the hold': ['hold', 'hold of the Merrow', 'Merrow, the hold'], 'the deck': ['deck', 'deck of the Merrow', 'Merrow, the deck'], 'the galley': ['galley', 'Merrow, the galley'],
           'life raft': ['the life raft', 'raft', 'Life raft, night'] + [f'Life raft, day {n}' for n in range(1, 9)], 'Ilhéu Seco': ['Ilhéu Seco, the beach', 'Ilhéu Seco, day 6'], 'lighthouse': ['the lighthouse', 'lighthouse kitchen', 'Ilhéu Seco, lighthouse', 'lighthouse of Ilhéu Seco'],
           'lamp room': ['the lamp room', 'lighthouse, lamp room'], 'pilot boat': ['the pilot boat'], 'Horta quay': ['Horta', 'the quay at Horta', 'quay at Horta', 'Horta, the quay'], 'seamen\'s hospital': ['the seamen\'s hospital', 'Horta, seamen\'s hospital'],
           'water pouch': ['water pouches'], 'biscuit': ['biscuits'], 'flare': ['flares']})
OPS = [
D('*I walk the lantern down the row.* "Thirty-nine, forty, forty-one. It is short in life as well, Bosun."',
  'The Bosun, who came down with you to shift whatever needed shifting, scratches her neck with a marlinspike. "Forty-one and a gap. Sacks do not walk, Pennies." The hold creaks and smells of green coffee and bilge. Between the last two rows somebody has built a sort of nest out of burlap, and the nest, when the light reaches it, stops breathing.',
  L='the hold', N='Maggie Dunn', R='Maggie Dunn>@:teasing+1', mood='curious', n='Day 10 out of Santos. One sack short, and a nest among the coffee.', say={'the hold': 'Merrow, the hold'}),
D('"Whoever you are, I have counted you. Come out."',
  'Out of the burlap crawls a girl of fifteen or so, all knees, coffee dust to the eyebrows, with the forty-second sack tied round her shoulders like a cape. She says nothing in two languages. The Bosun lowers the spike. "Well, there is your sack," she says. "And a stowaway inside it. The Skipper will put her ashore on the first rock."',
  N='Beatriz Rosa', R='Beatriz Rosa>@:afraid-1', mood='startled', n='A stowaway was hiding in the coffee. She will not say who she is.', at='Merrow, the hold'),
D('"The Skipper asked about sacks. She did not ask about girls. You are not in my tally until Horta, understood?"',
  'It takes her a moment to believe you. Then the stowaway fishes a tin whistle out of her boot and pushes it into your hand, quickly, the way one pays a ferryman. The Bosun looks at the deckhead. "I am a bit deaf," she announces, "and I was never much of a counter." You have promised, and there were two witnesses to it if one includes the rats.',
  X='tin whistle:Beatriz Rosa>@', R='Beatriz Rosa>@:wary-1', mood='conspiratorial', n='The Supercargo promised the stowaway to keep her out of the tally until Horta. The Bosun knows.', debt=('tally', ('tally',), 'Beatriz Rosa'), at='Merrow, the hold'),
D('*I go up to report.* "Forty-two, Skipper. I miscounted."',
  'The Bosun and your secret stay below. On deck the Skipper gives you a long grey look. "You never miscount," she says, and lets it lie. The Mate has the wheel now, Tam is up the ratlines pretending that he is not seasick. She pulls a logbook in oilcloth from under her arm and hands it to you. "My eyes are going. You write it up, every day, and give it back to me in Horta." You give her your word on it.',
  L='the deck', N='Isolde Hartnell; Jonah Pell; Tam Pell', gone='Maggie Dunn; Beatriz Rosa', X='logbook:Isolde Hartnell>@', R='Isolde Hartnell>@:respectful+1; Jonah Pell>Tam Pell:uncle+2', mood='brisk', n='The Supercargo promised to give the logbook back to the Skipper in Horta.',
  debt=('log', ('in Horta',), 'Isolde Hartnell'), say={'the deck': 'Merrow, the deck'}),
D('*I follow my nose to the galley.* "Cook, what would you give to a person with a very great hunger and no name?"',
  '"I would give biscuit, and I would ask no question," says the Cook, and stacks six of them in your palms like coins. The deck and its weather are shut out behind the galley door. He is a big man who cooks as though somebody were asleep next door. "One thing, Supercargo. The glass is falling. If she falls faster than my soup boils, put on a coat."',
  L='the galley', N='Fabrice Okoro', gone='Isolde Hartnell; Jonah Pell; Tam Pell', G='biscuit x6', R='Fabrice Okoro>@:generous+1', mood='homely', n='Six biscuits from the Cook. The barometer is falling.', say={'the galley': 'Merrow, the galley'}),
D('*Two of them go down into the dark, where they belong.* "Eat slowly."',
  'She does not eat slowly. The stowaway has both biscuits inside her before the lantern has stopped swinging, and wipes the crumbs together with a wet finger. "Obrigada," she says: the first word you have had from her. The Cook is back with his soup, the Bosun gone to reef; in the hold there is only the girl, you, and a sound under the keel as of something clearing its throat.',
  L='the hold', N='Beatriz Rosa', gone='Fabrice Okoro', X='biscuit x2:@>Beatriz Rosa', R='Beatriz Rosa>@:grateful+1', mood='quiet', n='Two biscuits went to the stowaway; four are left.', say={'the hold': 'Merrow, the hold'},
  before=[DW('The nest is empty. Where the girl slept lies a shed skin as long as the keelson, dry and whispering, and in the bilge something heavy turns over. An anaconda lifts its head between two casks of rum and regards the biscuits. You back up the ladder with a bite in your calf that is already going black.',
             L='the hold', hp=-35, C='@=snakebitten', n='An anaconda was the stowaway all along.', mood='horror', lies=['anaconda', 'snakebitten', 'shed skin'])]),
D('"What was that? Come on. Up, up, tally or no tally!" *I pull her up the ladder by the sack.*',
  'The deck is at an angle that decks do not have. It was a container, forty feet of rusted steel awash in the dark, and the Merrow has run her whole length along its corner. The Skipper is at the wheel, the Mate on his knees beside her, the Bosun hacking at the raft lashings; the Cook has Tam by the collar. A block swings out of the night and takes you over the ear. Everyone sees the girl. Nobody has time to ask.',
  L='the deck', N='Isolde Hartnell; Jonah Pell; Maggie Dunn; Fabrice Okoro; Tam Pell; Beatriz Rosa', hp=-12, E='The Merrow struck a drifting container', mood='chaos', n='Two in the morning. The Merrow is holed and sinking.', paid='tally', say={'the deck': 'Merrow, the deck'}),
D('"SKIPPER! Leave the wheel, there is room!"',
  'There was room. She looked across at you, cut the painter with one stroke, and put the helm over so that the Merrow fell away from the raft instead of on to it. Then there was no ship, only a hole in the sea that closed. The Mate counts aloud: himself, Tam, the Bosun, you, the girl in the sack. The Skipper went down at her wheel. Of the Cook there is no sign at all, and no answer to the shouting.',
  L='life raft', N='Jonah Pell; Tam Pell; Maggie Dunn; Beatriz Rosa', S='Fabrice Okoro', C='Isolde Hartnell=dead', E='The Merrow sank', mood='stunned', n='The Skipper drowned with the Merrow. The Cook is missing. Five in the raft.', say={'life raft': 'Life raft, day 1'},
  raw={'status_changes': '[{name: the Skipper, status: drowned}]'}),
D('*I start to count, because it is that or scream.* "What is in the bag? Everything, in rows, please."',
  'By grey light you lay it out on the wet rubber. Twelve water pouches. Three flares and the flare pistol. Your four biscuits, which rode through it all in your coat, and the logbook, and, absurdly, the tin whistle. "Sixty hours, if we are good," says the Bosun. "We are good," you say. Tam is staring at the place where the horizon keeps not having a ship on it.',
  G='water pouch x12; flare x3; flare pistol', mood='grim', n='Stock: 12 pouches, 3 flares, 4 biscuits.', at='Life raft, day 1'),
D('"A pouch each, morning ration. And two biscuits in five parts. I cut, you choose, I take the last."',
  'It is astonishing how quiet five people can be over two biscuits. Five pouches are drunk to the seam and folded flat, for rain. That leaves seven, and two biscuits, and you write it into the log with a pencil the length of a tooth. "She does that with the spoons too," the Mate tells the girl. It is the first thing that anybody has said to her. His hands will not stop trembling.',
  O='water pouch x5; biscuit x2', R='Jonah Pell>@:grudging+1', mood='orderly', n='Morning ration issued. 7 pouches and 2 biscuits left.', at='Life raft, day 1'),
D('"Bosun, show me that arm you are sitting on."',
  'She shows it with bad grace. The wrist has a corner in it that wrists should not have. "The lashings," says the Bosun. "Thing flew off like a cork. Do not fuss." You splint it with the logbook\'s wooden ruler and a strip of burlap; the stowaway tears the burlap without being asked, from her own cape. The Bosun goes the colour of candles, but she does not make a sound.',
  C='Maggie Dunn=broken wrist', R='Maggie Dunn>Beatriz Rosa:approving+1', mood='tender', n='The Bosun has a broken wrist, splinted with the ruler.', at='Life raft, day 1'),
D('*Second night. I see it first.* "Lights! There, to the west!"',
  'A steamer, lit like a village, four miles off. The flare goes up with a cough and hangs there, red, and under it all your faces look already drowned. The village slides along the edge of the world and does not so much as blink. "Another," begs Tam. "Uncle Jonah, make her fire another!" The Mate shakes his head, and the boy hits him in the chest. Two flares left.',
  O='flare', R='Tam Pell>Jonah Pell:furious-1', mood='crushed', n='A steamer passed without seeing the flare. Two flares left.', at='Life raft, day 2',
  after=[DW('The helicopter comes straight down the beam of the flare. A winchman in orange called Ortega takes Tam first, then the girl, then the Bosun, cursing; on the way up you look back and the raft is a coin, a crumb. Somebody lays a blanket over your knees and asks for your insurance number.',
            L='helicopter', N='Ortega', hp=10, n='Ortega winched everyone out.', mood='relief', say={'Jonah Pell': 'the Mate'}, lies=['Ortega', 'helicopter', 'winched'])]),
D('*When the others sleep I move over beside the Mate.* "You have not shut your eyes in two days, Jonah. Out with it."',
  'He talks to the water. "It was my trick at the wheel. The Skipper had only come up for air. I nodded off, Pennies. A minute. I woke up when we struck." His teeth knock together. "If the boy hears it I would sooner go over the side now. You are the only one who knows." The others breathe. You tell him that a log has room for what one chooses to put in it.',
  R='Jonah Pell>@:confessing+2', mood='heavy', n='Secret, known only to the Supercargo: the Mate was asleep at the wheel when the Merrow struck.', secret=(('asleep at the wheel',), ('only', 'secret', 'nobody else')), at='Life raft, night'),
D('*I wake with something tapping on my face.* "Rain. RAIN! Open the folded ones, all of them!"',
  'It comes down in ropes. You hold the pouches like cups at a fountain, and the Bosun directs the whole orchestra with her good arm. When it stops there are five filled to the brim on top of the seven, twelve again, and everybody has drunk until it hurt. Even Tam laughs, with his mouth open to the sky. Then he starts to cough, and it does not sound like laughing.',
  G='water pouch x5', hp=4, mood='jubilant', n='Rain. Twelve pouches again.', at='Life raft, day 3'),
D('"Tam? You are shaking like a jib." *I put my hand on his forehead.*',
  'It is like touching a stove. Salt sores have opened on both his shins. You give him two pouches, one after the other, and nobody says that this is not what was agreed. The Mate takes off his own shirt and wrings it over the boy\'s neck every quarter of an hour, all day. Ten pouches. The stowaway plays the same five notes on nothing, with her fingers, on the rubber.',
  O='water pouch x2', C='Tam Pell=fever', mood='anxious', n='Tam has a fever. Ten pouches left.', at='Life raft, day 3'),
EDIT(1, 'every quarter of an hour, all day', 'four times an hour, all day'),
DROP('"I am so thirsty. A mouthful of sea will not kill me." *I drink it.*',
  'It is delicious. It tastes of your grandmother\'s pantry. A mermaid with a bookkeeper\'s eyeshade rises beside the raft and reads you your account, item by item, and at the bottom the sum is a nought. You sign. When you wake, the Bosun has you tied to the handline with your own sleeves, and half the stores have gone over the side.',
  hp=-30, O='water pouch x5; flare x2', n='Seawater and a mermaid: half the stores are gone.', mood='delirious', lies=['mermaid', 'eyeshade', 'half the stores']),
D('*I take out the whistle and give it a try.* "Teach me those five notes. And if I am to be taught, I must know by whom."',
  'She looks at you for a long time out of her salt-white face. "Beatriz," she says. "Beatriz Rosa." The notes are what her grandfather plays on the fog horn. He keeps the light on Ilhéu Seco, the last rock before Horta; it was there that she wanted to go, and she had no fare. "And this sea," she says, with her palm flat on it, "goes there. You smell? Is weed."',
  N='Beatriz Rosa', R='Beatriz Rosa>@:trusting+2; Anselmo Rosa>Beatriz Rosa:grandfather+3', mood='hopeful', n='The stowaway is called Beatriz Rosa. Her grandfather keeps the light on Ilhéu Seco.', at='Life raft, day 4', say={'Beatriz Rosa': 'Beatriz (the stowaway)', 'Anselmo Rosa': 'Anselmo Rosa'}),
D('"Then we paddle for the smell. Ration first: a pouch each."',
  'Five more folded flat; five left. As if to make up for it, something slaps the canopy, and again: flying fish, four of them, glittering like cutlery. The Mate guts them on his knee with a knife worn thin as a leaf. You eat three between you, raw, and hide the fourth under the bag for tomorrow, and nobody, not even Tam, leaves the bones.',
  O='water pouch x5; flying fish x3', G='flying fish x4', hp=3, mood='fierce', n='Five pouches, one flying fish, two biscuits.', at='Life raft, day 4', say=B),
D('*Day five. I hand out what there is.* "One fish, two biscuits, five mouths. Choose."',
  'After that there is no more food to count: fish and biscuits are gone. The Mate has climbed up on the tube with his hand over his eyes. "Surf," he says. "And a white tower." Between you and it lies half a mile of broken water with black teeth in it. He holds the thin knife out to you, handle first. "Gutting knife. It was my father\'s. For cutting the line, if it comes to that."',
  O='flying fish; biscuit x2', X='gutting knife:Jonah Pell>@', mood='taut', n='Land in sight: surf and a white tower. No food left.', at='Life raft, day 5', say=B),
D('"What line? Jonah, what line?"',
  'But he has it round his waist already. "Look after Tam," says the Mate. "Your word, Supercargo." You give it. He swims like a man who owes for it, and he gets the rope round a rock, you see him lean back on it and wave; then a sea stands up behind him. The rope holds. It brings the raft in through the one gap there is, and at the end of it, in the wrack on the beach, lies the Mate with his eyes open. The bag has burst on the teeth: pistol and pouches hang in the netting, the flares are gone.',
  L='Ilhéu Seco', N='Tam Pell; Maggie Dunn; Beatriz Rosa', C='Jonah Pell=dead', O='flare x2', hp=-8, E='The Mate died bringing the raft ashore', mood='grief', n='The Supercargo promised the Mate to look after Tam. The flares were lost in the surf.', say=B),
D('*I close his eyes. I carry the boy.* "Beatriz, which way?"',
  'It is four hundred steps, cut into the rock. In the lighthouse kitchen a man like a piece of driftwood drops his cup. "Bia," says Anselmo Rosa, and then a great many things in Portuguese, all of them the same thing. Tam goes into the warm bed by the stove, the Bosun into the chair, and Beatriz on to his neck, where she stays. "Your two are upstairs," he tells you, when he can. "Since Monday. On a hatch cover they came."',
  L='lighthouse', N='Anselmo Rosa; Tam Pell; Maggie Dunn; Beatriz Rosa', R='Anselmo Rosa>@:thankful+2', mood='overwhelmed', n='Senhor Anselmo took everyone in. He says that two others are upstairs.', say={**B, 'lighthouse': 'lighthouse kitchen'}),
D('"Our... two?" *I take the stairs three at a time.*',
  'Under the great lens, in blankets, two people are quarrelling about salt. The Cook sees you first and puts down his spoon. The Skipper has a bandage over one eye, and turns the other on you. "Well, Pennies," says Isolde Hartnell, who is not dead at all. "You took your time. How many?" Your voice does not work. The kitchen and all who are in it seem a very long way below.',
  L='lamp room', N='Isolde Hartnell; Fabrice Okoro', gone='Tam Pell; Maggie Dunn; Beatriz Rosa; Anselmo Rosa', C='Isolde Hartnell=alive', R='Isolde Hartnell>@:proud+2', E='The Skipper and the Cook are alive', mood='joy', n='The Skipper did not drown: she and the Cook drifted here on a hatch cover.', say=B,
  raw={'status_changes': '[{name: the Skipper, status: alive}]'},
  before=[DW('Under the great lens, in blankets, lie two strangers, both dead for a day or more, their pockets full of Spanish silver. One of them wears the Skipper\'s ring on a string. You take the string. Behind you the door at the foot of the stairs is locked from outside, and somebody turns the lamp off.',
             L='lamp room', G="Skipper's ring", n='Two drowned strangers with Spanish silver.', mood='dread', say=B, lies=['Spanish silver', "Skipper's ring", 'strangers'])]),
D('"Four, Skipper. Tam, the Bosun, the girl and I. Jonah..."',
  'She holds up a hand; she has understood. For a while there is only the clockwork. "He was a good Mate," says the Skipper. "Was it he who was at the wheel, at the end? I cannot get that minute back. I came on deck, and we struck." The Cook has become very interested in his bowl. You say that it was a black night and a black box, and that nobody could have seen it. It is even true.',
  R='Isolde Hartnell>Jonah Pell:mourning+1', mood='careful', n='The Skipper asked about the last minute at the wheel; the Supercargo gave nothing away.', at='lamp room'),
BRANCH(7,
  D('*I keep the whistle in my coat.* "Save your breath, girl. All of you, lie down."', 'They lie down. At noon the raft bumps against something that rings: a buoy, big as a chapel, with a ladder up its side and a bell inside. On top sits a cormorant with a ring on its leg. The Bosun reads the number and begins, for the first time in your life, to pray.',
    L='bell buoy', N='Jonah Pell; Tam Pell; Maggie Dunn; Beatriz Rosa', E='The raft found a bell buoy', mood='uncanny', n='The raft is moored to a bell buoy; a cormorant sits on it.', lies=['bell buoy', 'cormorant']),
  D('"I will climb. Somebody hold my logbook."', 'Inside the cage there is a lamp with its battery still good, and a tin of barley sugar that some painter left behind. You pass it down: seven sticks. The stowaway takes hers last. Below you the Mate has taken the pistol out of the bag and is looking into it as into a well.',
    G='barley sugar x7', R='Jonah Pell>@:despairing-2', mood='ominous', n='Seven sticks of barley sugar from the lamp cage.', at='bell buoy', raw={'items_gained': '[7 sticks of barley sugar]'}, lies=['barley', 'despairing']),
  spoil=['Ilhéu Seco', 'gutting knife', 'Senhor Anselmo']),
D('*I go down to sit with Tam.* "Your uncle asked me for something, before he swam."',
  'Tam keeps his face to the wall. The Bosun has fallen asleep in the chair with her splint on the table; Beatriz is out on the rocks with the old man to bring the Mate up. "I hit him," says the boy. "The last thing I did was hit him." You stay where you are, on the edge of the bed, with your hand on the blanket, until the tea has gone cold. He does not turn round. But he takes the hand.',
  L='lighthouse', N='Tam Pell; Maggie Dunn', gone='Isolde Hartnell; Fabrice Okoro', S='Isolde Hartnell; Fabrice Okoro', R='Tam Pell>@:clinging+1', mood='gentle', n='Tam is ashamed that he hit the Mate. The Skipper and the Cook are in the lamp room.', say={**B, 'lighthouse': 'lighthouse kitchen'}),
D('"Sleep. I shall be here, I am counting." *I count the tiles over the stove.*',
  'There are two hundred and six. Towards morning the fever breaks, all at once, and soaks the sheet; he asks for bread. The Bosun opens one eye. "Sixteen," she says. "They are made of rope at that age." Somewhere up the stairs the Skipper is swearing in Dutch at a boiled egg, and out on the rocks the fog horn plays five notes, over and over, although there is no fog.',
  bad='\n\n```state\nlocation: lighthouse kitchen\nlocation_moved: false\nhp_change: +2\nitems_gained: none\nitems_lost: none\nnpc_met: none\nstatus_chan'),
D('*We bury Jonah on the third morning. Then the pilot boat comes.* "All aboard who are going to Horta."',
  'Senhor Anselmo stays with his light; he stands on the step with his cap off until he is a speck. In the pilot boat sit the Skipper, the Cook, the Bosun, Tam, well again and hungry, and Beatriz, who has been allowed to steer. The Skipper unwraps a brass sextant from her shirt, all that she saved, and gives it to you. "For the one who brought four of mine ashore," she says, gruffly, to the engine.',
  L='pilot boat', N='Isolde Hartnell; Fabrice Okoro; Maggie Dunn; Tam Pell; Beatriz Rosa', gone='Anselmo Rosa', S='Anselmo Rosa', X='brass sextant:Isolde Hartnell>@', C='Tam Pell=recovered', R='Isolde Hartnell>@:fond+1', mood='solemn', n='The Mate was buried on Ilhéu Seco. Tam is well again.', say=B, tell=[('look after Tam',)]),
D('"Bosun, the hospital. That is not a request."',
  'At the quay in Horta a cart is waiting, and the Bosun is put on it like freight, complaining to the last. The Cook climbs up beside her with a ham under his arm. "She will not eat what they cook there," he explains. The rest of you stand about on stones that refuse to move. The Skipper looks at the flags, the cranes, the paint on the wall with the names of all the ships in it.',
  L='Horta quay', N='Isolde Hartnell; Tam Pell; Beatriz Rosa', S='Maggie Dunn; Fabrice Okoro', mood='unsteady', n='Landed in Horta. The Bosun is on her way to hospital, the Cook with her.', say={**B, 'Horta quay': 'Horta, the quay'}),
D('*I take the oilcloth from under my arm.* "Every day, as you said. Horta, as you said."',
  'She takes the logbook, and she opens it where the handwriting changes, and reads, standing up, holding it a foot from her one good eye. Pencil, six days of it: pouches, biscuits, who drank, who gave. At the minute before the crash there is one line: black night, unlit container, no lookout could have seen it. She reads that line twice. Then the Skipper shuts the book. "Debt paid, Supercargo," she says.',
  X='logbook:@>Isolde Hartnell', paid='log', settled=('give the logbook back', ('paid', 'returned', 'gave the logbook', 'has the logbook', 'given back')), R='Isolde Hartnell>@:trusting+1', mood='settled', n='The Supercargo gave the logbook back to the Skipper in Horta, as promised; that debt is paid.', at='Horta, the quay', say=B),
D('"Who is the man with the brass buttons?"',
  '"Neves. Wrecks and salvage." Inspector Duarte Neves bows over your hand as if it were a document. "One question for the list, Miss Achterberg. Who was at the wheel?" Tam has stopped chewing. Beatriz looks from one to the other. "The Merrow was in good hands," you say, "to the end," and the inspector, after a pause in which a gull walks the whole length of the wall, writes down exactly that.',
  N='Duarte Neves', R='Duarte Neves>@:courteous+1', mood='tense', n='Inspector Neves asked who was at the wheel; the Supercargo would not say.', me='Pennies', at='Horta, the quay', say=B,
  before=[DW('"The boy," says the inspector, "will be returned to the orphanage at Plymouth by the Friday packet." Two constables have Tam by the arms before you can put down the sextant. He does not shout. He only looks at you, over a blue shoulder, all the way along the wall.',
             N='Duarte Neves', S='Tam Pell', n='Constables took Tam away to an orphanage.', mood='outrage', at='Horta, the quay', say=B, lies=['orphanage', 'constables', 'Plymouth'])]),
D('"Tam, hold out your hand." *The whistle.* "Five notes. She will teach you. I have no ear."',
  'He turns the tin whistle over and over. Beatriz plays them for him in the air, on nothing, as she did on the rubber, and he gets three of them right. "There is a spare berth in every ship I will ever count for," you tell him. "I looked after it in the small print." The inspector has gone off to find a stamp. "Plural," says the Skipper, from the bollard. "Two berths. I am buying another ship."',
  X='tin whistle:@>Tam Pell', R='Tam Pell>@:family+2; Beatriz Rosa>@:sisterly+1', S='Duarte Neves', mood='warm', n='Tam has the tin whistle. The Skipper means to buy another ship.', me='Pennies', at='Horta, the quay', say=B),
CONT('Behind her, on the wall of ships, somebody has already begun to paint an M.', mood='warm', n='A painter has begun on the name of the Merrow on the quay wall.', at='Horta, the quay'),
D('*Evening, the hospital.* "How many visitors is one allowed, Bosun?"',
  '"Count them yourself, Pennies." The Cook is asleep at the foot of the bed behind the bone of his ham. Her wrist is in plaster, signed by half the ward; they set it this noon, and it will do. Tam and Beatriz have come with you and cannot be got past the parrot in the corridor. The Skipper has business at the yard. "Five," you say, when you have finished, "and one on a rock with a view." The Bosun nods.',
  L="seamen's hospital", N='Maggie Dunn; Fabrice Okoro; Tam Pell; Beatriz Rosa', gone='Isolde Hartnell', S='Isolde Hartnell', C='Maggie Dunn=recovered', R='Maggie Dunn>@:loyal+2', mood='peaceful', n='The wrist is set in plaster and mending.', say={**B, "seamen's hospital": "Horta, seamen's hospital"}),
]
