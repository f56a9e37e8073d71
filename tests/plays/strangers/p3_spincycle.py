"""EN superhero / vampire: a night paramedic who can stop blood, a vampire who runs a launderette, a thief of faces.
Habits of the narrator: lists everybody in the scene in every npc_met, `you` among them; restates the place in every block (moved: false); Title Case items with counts in brackets (Blood Bag (x2));
nothing is `none`; gives a reason behind every number (-12 (cracked rib)); mask names in costume, civil names out of it, the police by rank."""
from form import *
NOW = dict(L='', N=[])


def habit(k, stay=True, now=None):
    now = now if now is not None else NOW
    k, raw, say = dict(k), dict(k.get('raw', {})), k.get('say', {})
    me = k.setdefault('me', 'you')
    dead = [a for a, s in statuses(k.get('C', '')) if s == 'dead']
    out = parts(k.get('S', '')) + parts(k.get('gone', '')) + parts(k.get('unsure', '')) + dead
    company = [p for p in ([] if 'L' in k else now['N']) + [p for p in parts(k.get('N', ''))] if p not in out]
    company = list(dict.fromkeys(company)); k['moved'] = 'L' in k
    k.setdefault('L', now['L']); k['N'] = '; '.join(['@'] + company)
    if stay: now.update(L=k['L'], N=company)
    def item(i):
        base, n = count(i); base = say.get(base, base)
        base = ' '.join(w[:1].upper() + w[1:] for w in base.split())
        return f'{base} (x{n})' if n > 1 else base
    def who(p): return me if p == '@' else say.get(p, p)
    for field, key in (('items_gained', 'G'), ('items_lost', 'O')):
        raw.setdefault(field, '[' + ', '.join(map(item, parts(k[key]))) + ']' if key in k else 'none')
    raw.setdefault('items_transferred', '[' + ', '.join('{item: %s, from: %s, to: %s}' % (item(i), who(a), who(b)) for i, a, b in transfers(k['X'])) + ']' if 'X' in k else 'none')
    for field, key in (('npc_separated', 'S'), ('relationship_changes', 'R'), ('status_changes', 'C'), ('event_trigger', 'E')):
        if key not in k: raw.setdefault(field, 'none')
    return k | dict(raw=raw)


def t(said, told, **k): return T(said, told, **habit(k))
def w(told, **k): return W(told, **habit(k, False))
def drop(said, told, **k): return DROP(said, told, **habit(k, False))
def cont(told, **k): return CONT(told, **habit(k))
SIDE = dict(L='Spin Cycle', N=['Vesper'])
def bt(said, told, **k): return T(said, told, **habit(k, True, SIDE))


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


PLAY = dict(id='3-spincycle', char='Vesper', user='Theo Marsh', hp=True, unique=['biscuit tin', 'rosary', 'grapnel', 'opera mask'],
    card='Vesper has kept the roofs of Port Carrow quiet since 1911. She is a vampire, she drinks from bags, and she cheats at cards. By day (curtains drawn) she is Ada Lisle, who runs the Spin Cycle, a launderette on Tallow Street. '
         'In costume everybody calls {{user}} Tourniquet; out of it, Theo. Two women called Ruth matter to the story and they have never met: Detective Sergeant Ruth Okafor, who hunts masks for a living, and Ruth Bell, whom all the world calls Ruthie, '
         'a waitress at the Golden Hour diner. Father Anselm of St Brendan\'s finds the blood. The enemy is the Understudy, born Julian Crane, an actor who can wear any face that he has touched.',
    persona='Theo Marsh, 27, night paramedic on Ambulance 12. When he lays a hand on a wound the bleeding stops, and he loses what it would have cost. Calls himself Tourniquet only because a newspaper did.',
    greeting='*Three in the morning. One dryer turns in the Spin Cycle with nothing in it. The woman at the counter does not look up from her crossword.* "You are dripping on my floor, and it is not rain. Yours, or somebody else\'s?"',
    me=['Theo', 'Marsh', 'Tourniquet', 'you'], two=['Ruth Okafor', 'Ruth Bell'],
    forms={'Vesper': ['Ada', 'Ada Lisle', 'Miss Lisle'], 'Ruth Okafor': ['DS Okafor', 'Detective Sergeant Okafor', 'Sergeant Okafor', 'Okafor', 'Detective Sergeant Ruth Okafor', 'DS Ruth Okafor'],
           'Ruth Bell': ['Ruthie', 'Ruthie Bell'], 'Anselm': ['Father Anselm', "Father Anselm of St Brendan's"], 'Understudy': ['the Understudy', 'Julian Crane', 'Crane'], 'Halcyon': ['Magnus Field', 'Magnus', 'Old Magnus'],
           'Spin Cycle': ['the Spin Cycle', 'the Spin Cycle launderette', 'Spin Cycle launderette', 'The Spin Cycle, Tallow Street'], 'Golden Hour': ['the Golden Hour', 'the Golden Hour diner', 'Golden Hour diner'],
           "St Brendan's": ["St Brendan's church", "the crypt of St Brendan's"], 'Carrow Bridge': ['the Carrow Bridge', 'Carrow Bridge, north tower'], 'Alhambra': ['the Alhambra', 'the Alhambra theatre', 'Alhambra theatre'], 'Ambulance 12': ['ambulance 12', 'the back of Ambulance 12'],
           'laundry token': ['laundry tokens'], 'blood bag': ['blood bags'], 'silver dart': ['silver darts']})
OPS = [
t('"Somebody else\'s. Mostly." I lean on a washing machine so that I don\'t fall over. "You Vesper?"',
  '"At this hour I am Ada, and I am closed." She fills in seven across. Then her nostrils move, once, and the pencil stops. "Type O, and you are holding it in with your bare hand. How interesting." Ada Lisle comes round the counter without seeming to cross the floor between. She turns your wrist up to the light as a jeweller would. "The paper calls you Tourniquet. I thought that you would be taller."',
  L='Spin Cycle', N='Vesper', R='Vesper>@:curious+1', mood='wry unease', n='Three in the morning. Theo came to the launderette bleeding.', me='you', say={'Vesper': 'Ada Lisle', 'Spin Cycle': 'the Spin Cycle'}, hp=-5, raw={'hp_change': '-5 (blood loss)'}),
t('"The other guy\'s alive. He said a cop did it. A cop who smiled with too many teeth."',
  'She locks the street door and turns the sign. "Not a cop. An actor." From the drawer with the soap powder come two blood bags, hospital label, which she weighs in her hand and then, to your surprise, hands to you. "Father Anselm sends me these on Sundays. You need them more than I do tonight, and that I do not say often." With them she gives you four laundry tokens, brass, for the dryer. Your jacket steams.',
  G='blood bag x2; laundry token x4', mood='guarded warmth', n='Father Anselm supplies the blood on Sundays. The attacker was an actor with a policeman\'s face.', say={'Vesper': 'Ada', 'Anselm': 'Father Anselm', 'Spin Cycle': 'the Spin Cycle'}),
t('*I feed a token to the dryer and put my jacket in.* "An actor. Right. Got a name?"',
  'The drum begins to turn. "The Understudy. He needs only to touch you, and by the curtain he is you." She sits on the folding table, ankles crossed, a hundred and some years old and looking thirty. "He took Halcyon\'s face five years ago, the night that Halcyon went off the bridge. The city gave a dead hero a statue. I gave him a card every Christmas. There was no one to send it to."',
  O='laundry token', C='Halcyon=dead', mood='old grief', n='Halcyon went off the Carrow Bridge five years ago and is dead; the Understudy wore his face.', say={'Vesper': 'Ada', 'Understudy': 'the Understudy', 'Spin Cycle': 'the Spin Cycle'}, R='Vesper>Halcyon:mourning+2'),
t('"Teach me to fight him. I\'m sick of only turning up after."',
  '"No," says Ada. She looks at the crossword. She looks at you. "Yes. But first a rule. In my house nobody dies of pride." She unhooks a grapnel from behind the ironing press, black, folding, far too elegant for a thing that breaks windows, and lets it drop into your hands. "The roof of the Carrow Bridge, tomorrow, midnight. Wear something that you do not mind burying."',
  X='grapnel:Vesper>@', R='Vesper>@:amused+1', mood='anticipation', n='Lesson on the Carrow Bridge tomorrow at midnight.', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'},
  before=[w('"Teach you? I would sooner drink you." Her mouth opens wider than a mouth should, and the lights go. When they come back you are on the tiles with two holes in your throat, and she is dabbing her lips with your sleeve. "There. Now you belong to Tallow Street," says Ada. "Thrall."',
            C='@=enthralled', hp=-30, R='Vesper>@:ownership+3', mood='horror', n='Ada bit Theo and made him her thrall.', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'}, lies=['thrall', 'ownership'])]),
t('*Breakfast at the Golden Hour after shift. I slide into the booth by the window.* "Ruthie. Coffee. All of it."',
  'The Golden Hour is all chrome and bacon. You left Ada behind her curtains; up here it is inconveniently morning. "Whole pot for the man who looks like a crime," says Ruthie, and sets it down. Ruth Bell has a pencil in her hair and another in her hand. "You said you\'d take me to the pictures. Three Thursdays ago." You wince, and swear upon the pancakes: this Thursday.',
  L='Golden Hour', N='Ruth Bell', S='Vesper', R='Ruth Bell>@:sweet-on-him+2', mood='homely', n='Theo promised Ruthie to take her to the pictures on Thursday.', debt=('film', ('Thursday', 'pictures'), 'Ruth Bell'), say={'Ruth Bell': 'Ruthie', 'Vesper': 'Ada', 'Golden Hour': 'the Golden Hour diner'}),
t('"Thursday. On my life. Who\'s the suit at the counter?"',
  '"Police. Asks about masks and tips in coppers." As if she had heard, the woman in the grey suit folds her paper and comes over. "Detective Sergeant Okafor. You are Marsh, Ambulance 12. You get to wounds very fast, Mr Marsh. Sometimes before they are reported." She lays a card beside the syrup and keeps her finger on it a second too long. "When you tire of luck, ring me."',
  N='Ruth Okafor', G='police card', R='Ruth Okafor>@:suspicious-1', mood='prickly', n='DS Okafor suspects Theo.', say={'Ruth Bell': 'Ruthie', 'Ruth Okafor': 'DS Okafor', 'Golden Hour': 'the Golden Hour diner'}),
t('*I pocket the card, smile, and leave by the kitchen. Midnight: the bridge.*',
  'The north tower of the Carrow Bridge has a roof the size of a tablecloth. Ruthie and the sergeant belong to daylight and the ground; up here there is only Vesper, in the long grey coat, standing on the wind as on a stair. "Tourniquet. You came. Good. Now jump." The grapnel bites on the third try. On the second you meet a girder. She laughs for the first time, a rusty and delighted sound.',
  L='Carrow Bridge', N='Vesper', S='Ruth Bell; Ruth Okafor', hp=-10, R='Vesper>@:fond+1', mood='exhilaration', n='First lesson on the bridge. Tourniquet hit a girder.', me='Tourniquet', say={'Ruth Bell': 'Ruthie', 'Ruth Okafor': 'DS Okafor', 'Carrow Bridge': 'Carrow Bridge, north tower'}, raw={'hp_change': '-10 (met a girder)'}),
t('"Again," I wheeze. "And tell me how you actually kill one of you. In case he wears you."',
  'She is quiet for the length of a barge. "Silver slows. Sun burns. For the rest, one needs the heart, and mine is not in me." The wind turns her collar. "A surgeon took it out in 1911. I keep it in a biscuit tin, under the boiler of the launderette. Now you know, and nobody else who breathes. If ever I am not myself, Tourniquet, you know what to open." You swear that you will never speak of it.',
  R='Vesper>@:trusting+2', mood='hushed', n='Secret, known only to Theo: Vesper\'s heart lies in a biscuit tin under the boiler.', secret=('under the boiler', ('only Theo', 'only to Theo', 'only Tourniquet', 'only you', 'only to you')), me='Tourniquet', say={'Carrow Bridge': 'the Carrow Bridge'}),
t('"Never. ...Do you hear that? Below. Somebody\'s in the water."',
  'You are down the cable before she can say that it is stupid. The man on the mud under the pier is sixty, bearded, coughing river. There is a knife wound in his side and your palm closes it; the price goes through you like cold wire. "Magnus," says Vesper behind you, in a voice that you have not met. "Magnus Field." The dead hero opens one blue eye. "Vesper. You stopped sending cards."',
  N='Halcyon', C='Halcyon=alive', hp=-15, E='Halcyon, believed dead, was found alive under the bridge', R='Halcyon>Vesper:old comrade+3', mood='disbelief', n='Halcyon is alive; he lived under the bridge for five years. Theo stopped his bleeding.', me='Tourniquet', say={'Carrow Bridge': 'the Carrow Bridge'}, raw={'hp_change': '-15 (the price of the hand)'},
  after=[w('It is only a shop-window dummy in a hero\'s cape, and pinned to its chest is a playbill: TONIGHT, THE DROWNED MAN. As you read it the dummy\'s head clicks and begins to tick. Vesper throws you forty feet. The pier goes up behind you like a curtain.',
           G='playbill', hp=-20, E='A bomb in a dummy destroyed the pier', mood='shock', n='The Understudy left a ticking dummy and a playbill.', me='Tourniquet', say={'Carrow Bridge': 'the Carrow Bridge'}, lies=['playbill', 'dummy'])]),
t('"Save it, sir. Lift him with me." We carry him to my rig.',
  'The back of Ambulance 12, blue light off. Vesper folds herself into the corner away from the oxygen; Magnus lies on the cot and fills it. You hang one of the blood bags for him, and watch him go from grey to merely old. One bag left. "He was in my shape when I went over," says Magnus. "Crane. He has been wearing people ever since, and I was ashamed. That is all. I was ashamed for five years."',
  L='Ambulance 12', N='Vesper; Halcyon', O='blood bag', R='Halcyon>@:grateful+2', mood='tender gravity', n='Magnus got one blood bag; one is left. The Understudy is Julian Crane.', me='Tourniquet', say={'Halcyon': 'Magnus Field', 'Understudy': 'Crane', 'Ambulance 12': 'the back of Ambulance 12'}),
t('"Church next. Father Anselm has a cot and no questions."',
  'St Brendan\'s smells of wax and damp hymnals. Vesper waits at the lychgate, as she must, and you take Magnus in by the vestry. Father Anselm is eighty and built like a coat stand. "The Lord gives," he remarks, looking at who it is, "and sometimes He gives back." He makes up the cot. Then he takes the rosary from his belt and hangs it about your neck. "Olive wood. It has worked upon worse than actors."',
  L="St Brendan's", N='Halcyon; Anselm', S='Vesper', X='rosary:Anselm>@', R='Anselm>@:blessing+1', mood='peaceful', n='Magnus is hidden at St Brendan\'s. Vesper waits outside.', me='Tourniquet', say={'Halcyon': 'Magnus', 'Anselm': 'Father Anselm'}),
t('"What can I do for you, Father?"',
  '"Sunday\'s cooler comes in at the docks and my knees do not. Fetch it for me, will you, before evensong?" You say that you will. Magnus has closed his eyes, but his hand finds the leg of the cot, the wall, a small tobacco box; out of it he counts six silver darts into your palm. "Threw the last lot at Crane. Missed. Do not wait for him to stop talking, as I did. He never does stop talking."',
  G='silver dart x6', mood='resolve', n='Theo promised Father Anselm to fetch the cooler from the docks before evensong on Sunday. Magnus gave him six darts.', debt=('cooler', ('cooler', 'evensong'), 'Anselm'), me='Tourniquet', say={'Halcyon': 'Magnus', 'Anselm': 'Father Anselm', "St Brendan's": "St Brendan's"}),
t('*I go back to the Spin Cycle before dawn, to sleep on the folding table.*',
  'Magnus and the priest are left to snore in Latin. At the launderette Ada is in shirtsleeves, hair down, playing patience and cheating. "He is alive," she says without raising her head. "I have said it eleven times. It does not wear out." There is a knock on the glass. Detective Sergeant Okafor stands under the awning with her collar up. Ada\'s eyebrow asks you whether one lets it in.',
  L='Spin Cycle', N='Vesper; Ruth Okafor', S='Halcyon; Anselm', mood='contentment, then alarm', n='DS Okafor came to the launderette before dawn.', me='Theo', say={'Vesper': 'Ada', 'Ruth Okafor': 'DS Okafor', 'Halcyon': 'Magnus', 'Anselm': 'Father Anselm', 'Spin Cycle': 'the Spin Cycle'}),
t('"Sergeant. Little early to wash your smalls."',
  '"I have come round to you, Mr Marsh," says Okafor, and smiles. She takes off her gloves to shake hands with you, and then with Ada, warmly, holding on. "I want to help against this Crane. You will have something of his, surely? Something I could send to the lab?" On the dryer lie the darts. You pick out two and give them to her. She thanks you twice. Her teeth are very even.',
  X='silver dart x2:@>Ruth Okafor', R='Ruth Okafor>@:friendly+1', mood='odd ease', n='DS Okafor offered her help and took two darts for the lab.', me='Theo', say={'Vesper': 'Ada', 'Ruth Okafor': 'DS Okafor', 'Spin Cycle': 'the Spin Cycle'}),
t('"Hang on. I never said the name Crane to you."',
  'The smile stays precisely where it is, while the face beneath it runs like wax. Taller. A man. Ada\'s cheekbones for an instant, then his own, a handsome ruin. "Notes, always notes," sighs the Understudy. He throws one of your own darts. It takes Ada under the collarbone and she goes down hissing into the laundry. He is out through the window before the glass has landed. It was never Okafor.',
  C='Vesper=silver-poisoned', unsure='Ruth Okafor', S='Understudy', E='The Ruth Okafor who came was the Understudy in disguise', hp=-4, mood='betrayal', n='The false sergeant was the Understudy. He touched Theo and Ada, so he can wear both faces. He fled.', me='Theo', say={'Vesper': 'Ada', 'Understudy': 'the Understudy', 'Spin Cycle': 'the Spin Cycle'},
  raw={'hp_change': '-4 (flying glass)'}),
EDIT(1, 'a handsome ruin', 'a handsome and well-lit ruin'),
drop('*I run out into the street after him.*',
  'He is waiting round the corner, in Ruthie\'s apron and with Ruthie\'s face. "You said Thursday, Theo," he says in her voice, and drives a skewer through your hand. You fall against a hydrant. When you look up there are two of you, and one of them is walking off with your keys and whistling.',
  hp=-25, O='grapnel', n='The Understudy pinned Theo\'s hand with a skewer and took his keys.', mood='agony', me='Theo', say={'Spin Cycle': 'the Spin Cycle'}, lies=['skewer', 'took his keys']),
t('"Stay still. Ada. ADA. Look at me." *Hand on the wound.*',
  'Your hand does nothing for silver. You have to dig it out with eyebrow tweezers while she recites the football results of 1923 through her teeth. When the dart rings in the sink she takes the last blood bag out of your fingers and empties it without a glass. "Undignified," says Ada faintly. Her skin has the look of paper that has been near a fire. "He shook my hand, Theo. He will come as me."',
  O='blood bag', R='Vesper>@:dependent+1', mood='desperate care', n='The dart is out of Ada but the poison works on. No blood bags left.', me='Theo', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'}),
t('"Then we need a test. Something he can\'t know."',
  '"The first thing that you said to me," says Ada. "Not my name. The other." You think. Somebody else\'s. Mostly. She nods. "That, then. Whoever cannot say it gets a dart." She falls asleep upright in the middle of the word evening, grey as a dishcloth. You have four darts, three tokens and a cop\'s card that may have been printed by a murderer. You ring it all the same.',
  mood='grim humour', n='The password is "somebody else\'s, mostly": who cannot say it is the Understudy.', me='Theo', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'}),
t('"Sergeant? Where have you been since yesterday?" I put it on speaker.',
  'A long scrape. Then a voice like gravel, hardly there. "Boiler room... of the Alhambra... Marsh, if that is you, bring a bolt cutter." The line fills with applause, recorded, tinny, and dies. So the real Okafor never left the theatre. Ada opens her eyes. "He will expect you to run there," she says. "Therefore walk. And eat something." You make toast on the ironing press.',
  mood='dread', n='The real DS Okafor is held in the boiler room of the Alhambra theatre.', me='Theo', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'}),
t('*Mask on. I leave her sleeping and go to the Alhambra by the roofs.*',
  'The Alhambra has been dark since the war; tonight there is a bulb burning over the stage door. Ada you left under three duvets. In the boiler room, chained to a pipe, sits a woman in a grey suit with a split lip, and she spits at you accurately. "Prove it," she croaks. You show her your hand, and lay it on the lip. The bleeding stops. "Hell," says Detective Sergeant Okafor. "So it was luck after all."',
  L='Alhambra', N='Ruth Okafor', S='Vesper', hp=-3, R='Ruth Okafor>@:grudging respect+2', mood='tense relief', n='Tourniquet found the real Okafor chained in the theatre.', me='Tourniquet', say={'Ruth Okafor': 'Sergeant Okafor', 'Vesper': 'Ada', 'Alhambra': 'the Alhambra theatre'}, raw={'hp_change': '-3 (a split lip, paid for)'}),
t('"Hold the chain tight." I wedge the grapnel in the link and pull the trigger.',
  'The link goes with a noise like a dropped piano, and so does the grapnel, in three pieces. It has bitten its last. Okafor rubs her wrists. On a nail by the boiler hangs an opera mask, white, the inside printed with somebody\'s sweat. "He wears that in between," she says. "When he is nobody." She takes it down and gives it to you with two fingers. "Take it. I want him to come looking."',
  O='grapnel', X='opera mask:Ruth Okafor>@', mood='nerve', n='The grapnel broke. The Understudy needs the opera mask between faces.', me='Tourniquet', say={'Ruth Okafor': 'Sergeant Okafor', 'Alhambra': 'the Alhambra'}),
t('"Can you walk? St Brendan\'s. There\'s a man you think is dead."',
  'The church door is open, which it never is. Okafor sees the altar first and puts an arm across you. Magnus kneels there on his bad side, with the old priest\'s head in his lap. "He came in your face, lad," says Magnus. "Anselm gave him absolution before he noticed." Father Anselm has been dead an hour. The cot, the candles and the poor box are all in order. Nothing was taken except him.',
  L="St Brendan's", N='Ruth Okafor; Halcyon', C='Anselm=dead', E='The Understudy murdered Father Anselm wearing Theo\'s face', R='Ruth Okafor>Halcyon:awed+1', mood='grief', n='Father Anselm was murdered while Theo was at the theatre.', me='Tourniquet', say={'Ruth Okafor': 'Sergeant Okafor', 'Halcyon': 'Magnus', 'Anselm': 'Father Anselm'}),
t('*I take the rosary off and wind it round his hands.*',
  'The olive beads go round twice. You find that you cannot make the knot, and Magnus makes it for you. Okafor stands bareheaded and says, to nobody, that she will need statements; then that she will not. "By rights I arrest the pair of you," she says. "I am going to go out and look at the gravestones, and count to a thousand." She goes out. You hear her start, aloud, at one.',
  X='rosary:@>Anselm', S='Ruth Okafor', R='Halcyon>@:fatherly+2', mood='mourning', n='The rosary was laid in Father Anselm\'s hands. Okafor let them go.', me='Theo', say={'Ruth Okafor': 'Sergeant Okafor', 'Halcyon': 'Magnus', 'Anselm': 'Father Anselm'}),
t('"She\'s alone. Magnus, Ada\'s alone." I run.',
  'The shutters of the Spin Cycle are up, and sun lies along the floor like a blade. Magnus stayed with the dead; there is nobody at your back. Ada stands at the counter in broad daylight, doing the crossword. "Theo. You are dripping," says Ada, pleasantly. On the tiles by the boiler another Ada lies curled in the one strip of shadow, smoking, and says nothing at all.',
  L='Spin Cycle', N='Vesper; Understudy', S='Halcyon', mood='terror', n='There were two Adas in the launderette; one is the Understudy.', me='Theo', say={'Vesper': 'Ada', 'Understudy': 'the Understudy', 'Halcyon': 'Magnus', 'Spin Cycle': 'the Spin Cycle'}),
BRANCH(8,
  bt('*I stay with Ada and let him run.* "He\'ll keep. You won\'t." ', '"Practical," says Ada through her teeth. She makes you fetch the sewing box, and in it, under the bobbins, lies a bone needle as long as your hand. "Dig. Deeper. That is not deeper." When it is over she presses the needle on you. "Whale. It was my mother\'s. It finds metal. Keep it." The street outside is full of ordinary rain.',
    X='bone needle:Vesper>@', C='Vesper=healed', R='Vesper>@:obliged+1', mood='exhaustion', n='Ada was freed of the dart and gave Theo a bone needle.', me='Theo', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'}, lies=['bone needle', 'obliged']),
  bt('"Who else might he have touched? Ruthie. Hell. The diner."', 'The Golden Hour is shut, chairs on tables. Only the cook, Lorcan Pike, sits on the step with an ice pack. "She went off with you," he says, puzzled. "Ten minutes back. You said Thursday had come early." He holds out a pencil, bitten through. Ada stayed in the dark; there is no one to ask.',
    L='Golden Hour', N='Lorcan Pike', S='Vesper', G='bitten pencil', mood='panic', n='The Understudy led Ruthie away in Theo\'s shape.', me='Theo', say={'Vesper': 'Ada', 'Golden Hour': 'the Golden Hour diner'}, lies=['Lorcan', 'bitten pencil', 'led Ruthie']),
  spoil=['boiler room', 'opera mask', 'password']),
t('"Ada," I say to the one at the counter, "what was the first thing I ever said to you?"',
  '"You asked whether I was Vesper, darling." Wrong. The dart is out of your hand before you have decided. It takes the Understudy in the throat, where a laugh was coming, and Ada\'s face slides off him on to the crossword. He staggers over the true one in the shadow, and in his fist is a sharpened broom handle; and he falls on her with all his weight. The wood goes in. It goes all the way in.',
  O='silver dart', C='Vesper=dead', E='The Understudy staked Vesper', mood='devastation', n='The Understudy failed the password and drove a stake through Ada. Three darts left.', tell=[("somebody else's",)], me='Theo', say={'Vesper': 'Ada', 'Understudy': 'the Understudy', 'Spin Cycle': 'the Spin Cycle'},
  before=[w('"You asked for change for the dryer," says the one at the counter, and that is right, you did. You turn the dart on the other. She lifts her burnt face and looks at you with such patience that you understand too late. The shadow empties. A little heap of soot is all that Ada Lisle leaves on the tiles.',
            C='Vesper=dead', O='silver dart', R='Understudy>@:gleeful+2', mood='ruin', n='Theo killed the wrong Ada; only soot is left of her.', me='Theo', say={'Vesper': 'Ada', 'Understudy': 'the Understudy', 'Spin Cycle': 'the Spin Cycle'}, lies=['soot', 'gleeful'])]),
t('*I don\'t scream. I put the opera mask on the floor and my boot over it.* "Crane! This is yours, isn\'t it?"',
  'He drops everything, even the pose. "Don\'t. Without it I can\'t..." You step. It breaks like a plate. Something goes out of his features and does not return: no nose to speak of, no age, a thumbprint of a man. He gropes for the door with his hands in front of him, and out into the sunlight, weeping. You let him. Ada does not move. There is ash in the corners of her mouth.',
  O='opera mask', S='Understudy', E='Theo broke the opera mask and the Understudy lost his faces', R='Understudy>@:terrified-3', mood='hollow victory', n='The Understudy fled faceless. He can wear nobody any more.', me='Theo', say={'Understudy': 'Crane', 'Spin Cycle': 'the Spin Cycle'}),
t('"You said I\'d know what to open." I go down on my knees under the boiler.',
  'Behind the lagging is a tin with a picture of Balmoral on the lid. What lies inside, in tissue paper, is small, dark, and beating. One beat for every four of yours. You lift the tin down and hold it against your ribs to keep it warm. It quickens. Across the floor the ash in the corner of her mouth moves, as though somebody had breathed on it.',
  G='biscuit tin', mood='awe', n='Theo took the tin with Vesper\'s heart from its hiding place. It still beats.', me='Theo', say={'Spin Cycle': 'the Spin Cycle'}, tell=[('heart',)]),
t('*I pull the stake. I put my hand where it was. "Take whatever it costs."*',
  'It costs. You feel it leave by the arm, years perhaps, the taste of every breakfast. The washing machines swim. Then a cold hand closes on your wrist and lifts it off, firmly, as one takes a glass from a drunk. "That," says Ada, "is quite enough of that." She is sitting up. There is a hole in her second-best blouse and none in her. "You opened it," she says. "No. You only carried it. Good."',
  N='Vesper', C='Vesper=alive', hp=-20, E='Vesper came back to life', R='Vesper>@:beloved+3', mood='miracle', n='Ada lives again; Theo paid for it with his strength.', me='Theo', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'}, raw={'hp_change': '-20 (the price of the hand)', 'status_changes': '[{name: Ada, status: alive}]'}),
t('"Here. It\'s yours. Put it somewhere better." I hold out the tin.',
  'She takes it on her knees, and for a time just sits there with her palm on Balmoral. "A hundred and eleven years, and I have never let anyone carry it." Then she gets up, a little unsteadily, draws the blinds, and makes tea for one, and drinks none of it, and pushes it across to you with all the sugar in the house. You feel better by inches. Somewhere a siren is going the other way.',
  X='biscuit tin:@>Vesper', hp=10, mood='quiet joy', n='Ada has her tin again.', me='Theo', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'}, raw={'hp_change': '+10 (sweet tea)'}),
cont('She adds, to the teapot: "I shall want it known that I was unconscious, and did not see you cry."', mood='quiet joy', n='Ada saw Theo cry and will not mention it.', me='Theo', say={'Vesper': 'Ada', 'Spin Cycle': 'the Spin Cycle'}),
t('"What day is it?"',
  '"Thursday," says Ada, looking into the paper. You say a word that makes her blink. Then she begins to laugh, and has to hold the place where the hole was. "Go. Go! I survived a stake, I shall survive an evening. And wash your neck." She throws you a clean shirt from the pile of things that nobody ever collected. It belonged, by the label, to an alderman. It nearly fits.',
  bad='\n\n```state\nlocation: the Spin Cycle\nlocation_moved: false\nhp_change: 0\nitems_gained: none\nitems_lo'),
t('*I burst into the Golden Hour at ten to eight.* "Am I too late?"',
  'Ruthie is at the door with her coat on and both pencils out of her hair, which falls further than you would have guessed. Ada you left to her crossword. "By three Thursdays and forty minutes," she says, looking you up and down, the alderman\'s shirt, the plaster on your jaw. "You smell of fabric softener." And she takes your arm as if it had been lying about unclaimed all this while.',
  L='Golden Hour', N='Ruth Bell', S='Vesper', R='Ruth Bell>@:smitten+1', mood='giddy', n='Theo met Ruthie on Thursday evening.', me='Theo', say={'Ruth Bell': 'Ruthie', 'Vesper': 'Ada', 'Golden Hour': 'the Golden Hour diner'}),
t('"So what are we seeing?"',
  '"Whatever has the most explosions and the least kissing. I like to bring my own." It is the late show at the Ritz, and you sleep through all of it on her shoulder. She lets you. You are back in the booth by midnight, with pie. "That counted," says Ruthie. "You\'re paid up, Theo Marsh." The bell over the door rings. It is Detective Sergeant Okafor, with her hat in her hands.',
  N='Ruth Okafor', paid='film', settled=(('promised Ruthie',), ('paid up', 'kept', 'took Ruthie', 'settled', 'fulfilled', 'done')), R='Ruth Bell>@:sweetheart+2', mood='cosy', n='Theo kept his promise and took Ruthie to the pictures.', me='Theo', say={'Ruth Bell': 'Ruthie', 'Ruth Okafor': 'DS Okafor', 'Golden Hour': 'the Golden Hour diner'}),
t('"Sergeant. What did you tell them about Father Anselm?"',
  '"That a man without a face did it; and that at noon he walked into my station and asked to be locked up. Crane is in the cells. He keeps asking who he is." Okafor accepts coffee from Ruthie. The two of them exchange names, both say "Ruth", and shake hands on it, laughing. "The file on Tourniquet," the sergeant tells her cup, "has gone through the wash. Hot. With a red sock."',
  E='The Understudy gave himself up', R='Ruth Okafor>@:ally+2', mood='relief', n='The Understudy is in the cells. Okafor destroyed the file on Tourniquet. The two Ruths met.', me='Theo', say={'Ruth Bell': 'Ruthie', 'Ruth Okafor': 'DS Okafor', 'Understudy': 'Crane', 'Anselm': 'Father Anselm', 'Golden Hour': 'the Golden Hour diner'}),
t('*Sunday. I do what I promised Father Anselm, because I said I would, and go in by the vestry.*',
  'One cooler from the docks, an hour before evensong, with four blood bags in it, and no one in the vestry of St Brendan\'s to sign for it. Ruthie is on shift and the sergeant off it. Magnus, shaved, in a borrowed cassock that stops at his shins, is ringing the bell because nobody else knew how. He comes down the ladder backwards. "You kept your word to him," he says. "That is more than most of us managed while he lived. Leave her two and keep two, he would say."',
  L="St Brendan's", N='Halcyon', S='Ruth Bell; Ruth Okafor', G='blood bag x4', mood='solemn', n='Theo fetched the cooler with four blood bags and so kept his promise to the priest.', paid='cooler', settled=('before evensong', ('kept', 'fetched the cooler', 'fulfilled', 'done')), tell=[('cooler',)], me='Theo', say={'Ruth Bell': 'Ruthie', 'Ruth Okafor': 'DS Okafor', 'Halcyon': 'Magnus Field'}, raw={'location': "St Brendan's church"}),
t('"Come with me and give her two yourself, Halcyon. You owe her five Christmas cards."',
  'The Spin Cycle, after dark, all dryers turning. Ada opens the door and there he is, cassock and all, with two blood bags in a hymnal. Neither finds a word. In the end Magnus holds out the bags, she takes them, and then she takes hold of him, so hard that a rib speaks. You count your tokens for something to do with your eyes. Three. You put one in the nearest machine, and it starts.',
  L='Spin Cycle', N='Vesper; Halcyon', X='blood bag x2:@>Vesper', O='laundry token', R='Vesper>Halcyon:reunited+3', mood='joy', n='Magnus and Ada met again. Ada got two blood bags.', me='Theo', say={'Vesper': 'Ada', 'Halcyon': 'Magnus', 'Spin Cycle': 'the Spin Cycle'}),
]
PLAY['known'] = names(PLAY, OPS)
