"""EN regency ghost romance: a librarian, an abbey with a walker in its walls, a captain who fell at Badajoz.
Habits of the narrator: it is formal and calls the persona "Miss Arden" (only the man in the wall ever gets "Cecily" into a block), writes "none" for an empty list, puts numbers before plurals (5 guineas),
repeats the location in every block, gives titles to everybody, and writes moods as small phrases."""
from form import *
PLAY = dict(id='5-hallowmere', char='Jasper Lorne', user='Cecily Arden', unique=['silver key', 'lantern', 'miniature', 'manuscript', 'duelling pistol', 'carpet bag'],
    card='Yorkshire, November 1813. Captain Jasper Lorne of the 95th Rifles fell at Badajoz, and ever since something walks at night in Hallowmere Abbey. His cousin Gervase Lorne has the title now and is addressed as Lord Hallowmere; '
         'Gervase\'s sister, Miss Mary Lorne, is lame and seldom leaves the library. The housekeeper is Mrs Tabitha Crewe, the housemaid Mary Pell (in the house they say Pell, so as not to confuse her with Miss Lorne). '
         'Dr Phineas Blount calls daily. Old Toby Ames drives the carrier\'s cart. There is also a Grey Lady, Lady Isolde, who has been seen in the west gallery since the Civil War and who has never spoken. {{char}} is dry, scarred, gentle, and cannot bear to be pitied.',
    persona='Miss Cecily Arden, 26, a clergyman\'s orphan, engaged to catalogue the library at Hallowmere. Sensible shoes, insensible curiosity.',
    greeting='*The carrier\'s cart sways up the last of the hill, and there, black against a green evening, is Hallowmere: more chimneys than windows, and only one window lit.* "Yonder," says the carrier, without enthusiasm.',
    me=['Cecily', 'Miss Arden', 'Miss Cecily Arden', 'Arden', 'Miss Cecily'], two=['Mary Pell', 'Mary Lorne'],
    forms={'Jasper Lorne': ['Captain Lorne', 'Captain Jasper Lorne', 'Captain Jasper', 'Jasper', 'the Captain', 'the captain'], 'Gervase Lorne': ['Lord Hallowmere', 'Gervase', 'his lordship', 'Lord Gervase'],
           'Mary Lorne': ['Miss Lorne', 'Miss Mary Lorne'], 'Mary Pell': ['Pell'], 'Tabitha Crewe': ['Mrs Crewe', 'Mrs Tabitha Crewe'], 'Phineas Blount': ['Dr Blount', 'Dr Phineas Blount', 'the doctor'],
           'Toby Ames': ['Toby', 'Old Toby', 'Mr Ames', 'Old Toby Ames'], 'Grey Lady': ['the Grey Lady', 'Lady Isolde', 'Isolde'], 'Nightingale': ['Mr Nightingale'], 'Humphrey Vane': ['Sir Humphrey', 'Sir Humphrey Vane', 'Vane'],
           'great hall': ['the great hall', 'Hallowmere, great hall'], 'library': ['the library'], 'west gallery': ['the west gallery'], "priest's hole": ["the priest's hole"], 'chapel': ['the chapel'],
           'The Plough': ['the Plough', 'Plough'], 'moor road': ['the moor road'], 'ice house': ['the ice house'], 'lake shore': ['the lake shore'], 'guinea': ['guineas'], 'letter': ['letters'], 'candle': ['candles']})
PLURAL = {'guinea': 'guineas', 'letter': 'letters', 'candle': 'candles'}
SAY = {'Gervase Lorne': 'Lord Hallowmere', 'Mary Lorne': 'Miss Lorne', 'Tabitha Crewe': 'Mrs Crewe', 'Phineas Blount': 'Dr Blount', 'Grey Lady': 'the Grey Lady', 'Nightingale': 'Mr Nightingale',
       'Jasper Lorne': 'Captain Lorne', 'Humphrey Vane': 'Sir Humphrey Vane'}


class Formal(dict):
    """`none` for an empty list, `5 guineas` for guinea x5."""
    def __ror__(self, fields):
        out = dict(fields) | dict(self)
        for a, v in out.items():
            if a.startswith('items_'):
                for s, p in PLURAL.items(): v = re.sub(rf'(?<=[\[ ]){s} x(\d+)(?=[,\]])', rf'\1 {p}', v)
            out[a] = 'none' if v == '[]' else v
        return out


def formal(t, k):
    k.setdefault('me', 'Miss Arden'); k['say'] = SAY | k.get('say', {})
    if 'bad' in k: return fold(t, k)
    after = fold(t, k)
    k['raw'] = Formal(({} if 'L' in k else {'location': after['place']}) | k.get('raw', {}))
    return after


OPS = [
T('I climb down over the wheel before anyone can help me. "Is this the front, or have we come to the stables?"',
  '"It\'s front," says Toby Ames, and hands down your carpet bag. A tall woman with a bunch of keys has come out on the step: the housekeeper, Mrs Crewe, to judge by the keys and the sniff. "The carriage is two guineas from Ravensford," says Toby. You have not got two guineas until your first quarter\'s pay, and say so. "Then tha owes me," he says comfortably, and carries the bag in as far as the great hall.',
  L='great hall', N='Toby Ames; Tabitha Crewe', G='carpet bag', R='Toby Ames>@:amused+1; Tabitha Crewe>@:disapproving-1', mood='damp but undaunted', n='Miss Arden arrived at Hallowmere and owes Toby Ames two guineas for the carriage.', debt=('toby', ('two guineas',), 'Toby Ames'), say={'Toby Ames': 'Old Toby'}),
T('"And whose portrait is that, with the crape on it?"',
  'Mrs Crewe looks at it as one looks into a draught. "Captain Jasper, miss. He\'d have been master here. He fell at Badajoz in the spring of last year, God rest him, in the breach, with all his company." Toby takes his hat off to the picture. The painted young man in rifle green goes on looking amused. Then the housekeeper works a silver key off her ring. "Library. You will find it locked. See that you leave it so."',
  X='silver key:Tabitha Crewe>@', C='Jasper Lorne=dead', mood='a chill from the chimney', n='Captain Jasper Lorne fell at Badajoz in 1812. Mrs Crewe gave Miss Arden the silver key of the library.', say={'Jasper Lorne': 'Captain Jasper Lorne'}),
T('*I go to see the books before I have seen my bed.*',
  'Toby\'s cart is already rattling away. The library is sixty feet of calf and neglect. By the one good fire sits a young lady with a stick across her knees, and on the hearthrug, as if he had been ordered with the furniture, stands Lord Hallowmere. "Miss Arden. My sister Mary, who will not trouble you. The books will. My late cousin arranged them by how much he had enjoyed them." Miss Lorne hides a smile in her shawl.',
  L='library', N='Gervase Lorne; Mary Lorne', gone='Toby Ames', R='Gervase Lorne>Mary Lorne:brother+1; Gervase Lorne>@:condescending-1; Mary Lorne>@:shy+1', mood='dust and firelight', n='Lord Hallowmere and his sister Miss Lorne received Miss Arden.'),
T('"Then I shall begin with the least enjoyed, my lord. And the terms?"',
  '"Thirty pounds a year, and five guineas now, so that you need not look at my table as though you were counting the spoons." He lays the five guineas on a folio one upon the other, and bows himself out to his billiards. He has not a bad face, until one notices that it is always listening for something behind the wainscot.',
  X='guinea x5:Gervase Lorne>@', S='Gervase Lorne', mood='civil, with a draught in it', n='Lord Hallowmere paid five guineas in advance.'),
T('"Miss Lorne, is he always so cordial?"',
  '"Gervase? That was cordial." She has a low voice, surprisingly merry. "He was quite another person when Jasper was alive. We all were. Jasper used to carry me up the gallery stairs on his back and neigh." The stick taps once. "You will hear somebody walking, Miss Arden. It is said to be the house settling. I am glad that you are here; I have had nobody to be silly with for a year and a half."',
  R='Mary Lorne>@:confiding+1; Mary Lorne>Jasper Lorne:mourning+2', mood='wistful', n='Miss Lorne says that somebody walks at night.', say={'Jasper Lorne': 'Captain Jasper'}),
T('I ring for a light and bid her good night.',
  'Miss Lorne goes off on her stick. It is a freckled girl who answers the bell, Mary Pell, out of breath, with a horn lantern and a bundle of four candles. "Mrs Crewe says one a night and no more, but I can\'t count, miss, not when she\'s looking elsewhere." She glances over her shoulder. "And don\'t you go by the west gallery. I went by it. I\'m not saying what I saw, but it were looking for summat."',
  N='Mary Pell', S='Mary Lorne', X='lantern:Mary Pell>@; candle x4:Mary Pell>@', R='Mary Pell>@:chatty+1', mood='a whisper on the stairs', n='Pell warned Miss Arden of the west gallery.'),
T('Naturally, I go by the west gallery.',
  'Forty Lornes look down their noses at your lantern. Pell would not come past the turn of the stair. Half way along, the flame lies over flat, and there she is at the window, in a gown the grey of rain: a lady with a lace collar and no reflection. The Grey Lady does not look at you. She raises one hand and lays it, flat, upon a panel carved with vine leaves. Then she turns her head, as one does who is waiting for a slow pupil.',
  L='west gallery', N='Grey Lady', gone='Mary Pell', mood='cold as a well', n='The Grey Lady pointed to the panel with the vine leaves.',
  before=[W('At the window stands a hound the size of a calf, and it has a man\'s hand in its mouth. It sets the hand down on the boards before you, politely. On one finger is a signet ring. You take it, because it would have been rude not to, and the hound bows its head and is a heap of ash.',
            L='west gallery', N='the hound', G='signet ring', gone='Mary Pell', mood='grotesque', n='A hound of ash brought Miss Arden a signet ring.', lies=['hound', 'signet'])]),
T('"I see. Thank you, my lady." I press the panel.',
  'It does not open. It says, "Push lower, and bring the light no nearer; I am not dressed for company." A man\'s voice, hoarse with want of use, an inch behind the oak. The Grey Lady is gone from the window as breath goes. "You are not a ghost," you tell the vine leaves. "I am the nightingale of the house," says the voice. "Mr Nightingale, then, if you are a lady who must have a Mister. I sing at night, behind walls, and nobody thanks me."',
  N='Nightingale', gone='Grey Lady', mood='absurd and tender', n='A man behind the panel calls himself Mr Nightingale.'),
T('"Prove it, Mr Nightingale. Ghosts cannot hand one things."',
  'A long silence, then a chink of dark between two leaves, and two fingers with something round in them. You take it. It is a miniature on ivory, a laughing lady in powder, warm from somebody\'s breast. "I ask you to keep that for me until I have a pocket fit for it," says Mr Nightingale. "There are people in this house who go through mine." When you hold up the lantern the chink has shut.',
  X='miniature:Nightingale>@', mood='hushed', n='Mr Nightingale gave Miss Arden a miniature of a laughing lady to keep.',
  after=[W('"Proof? Here." The panel flies open and a musket ball goes past your ear. A wild old man with straw in his beard falls out on the boards, shouts for King Charles, and runs the length of the gallery on all fours.',
           N='old cavalier', C='@=deaf in one ear', mood='farcical', n='A mad old cavalier lives in the wall.', lies=['cavalier', 'King Charles', 'deaf in one ear'])]),
T('*I burn one of my candles down to the socket, thinking, and come to breakfast with shadows under my eyes.*',
  'Three candles left, then, and a grey morning in the library. Miss Lorne is having her pulse taken by a plump man with beautiful cuffs, Dr Blount, who keeps hold of the wrist rather longer than the pulse requires. "And you sleep, Miss Arden? No visions? Young ladies see so much." Lord Hallowmere, at the window, does not turn round; but he has stopped stirring his chocolate.',
  L='library', N='Mary Lorne; Phineas Blount; Gervase Lorne', O='candle', R='Phineas Blount>@:prying-1', mood='polite suspicion', n='Dr Blount asks about visions.'),
T('I wait until the gentlemen have gone in to their rum. Then I lay the miniature in Miss Lorne\'s lap.',
  'The door shuts on his lordship and the doctor. Miss Lorne says nothing at all for a moment; she only closes her hand. "That is my aunt. Jasper\'s mother. He wore it round his neck at Corunna, he wore it when he said good-bye on these steps." She holds it to her cheek. "They sent us his sword and his watch, and they wrote that this was lost. Where, Miss Arden? No. Do not tell me. Let me have it for an hour."',
  X='miniature:@>Mary Lorne', S='Gervase Lorne; Phineas Blount', R='Mary Lorne>@:moved+2', mood='breathless', n='The miniature shows the mother of Captain Jasper Lorne, who wore it always.', say={'Jasper Lorne': 'Captain Jasper'}),
T('"An hour, and then I must have it back. I gave my word to a wall."',
  'She keeps it exactly the hour, by the clock, and gives it back wrapped in her own handkerchief. "A secret for a secret, then," says Miss Lorne, pink to the ears. "You have catalogued five novels by A Lady of Quality. Gervase thinks them trash. I wrote them. In bed, in the winters. Nobody knows it, not even the publisher." And from under her shawl she draws the sixth, a manuscript tied with garter ribbon. "Tell me by Sunday whether he should marry her."',
  X='miniature:Mary Lorne>@; manuscript:Mary Lorne>@', R='Mary Lorne>@:sisterly+2', mood='delighted', n='Secret, known only to Miss Arden: Miss Lorne is the novelist who signs A Lady of Quality. Miss Arden promised to give her opinion of the manuscript by Sunday.',
  secret=('Lady of Quality', ('only to Miss Arden', 'only Miss Arden', 'only Cecily', 'only you')), debt=('opinion', ('by Sunday', 'opinion of the manuscript'), 'Mary Lorne')),
T('Back to the shelves. Least enjoyed first: Fuller\'s sermons, in nine volumes.',
  'The seventh is too light. Somebody has cut the heart out of it with a penknife, and in the hollow lies a packet of letters sealed with black wax. Miss Lorne has dozed off over her sewing. The paper smells of tar and oranges; the direction is in a round, pleased, beautiful hand that you have seen this very morning, upon a prescription.',
  G='packet of letters', mood='pulse in the throat', n='A packet of letters lay hidden in Fuller\'s sermons; the hand is that of Dr Blount.'),
T('I break the seal. I am a clergyman\'s daughter; I know what sermons are for.',
  'The packet comes apart in your lap: seven letters. Dates, marches, the strength of picquets, the hour of the assault on Badajoz, everything, in English first and then in French, and under each a sum. The doctor wrote them; but it was G.L. who franked them. In the margin of the last, in another ink: *the cousin leads the storming party. So much the better.* Behind you the fire settles, and Miss Lorne sighs in her sleep.',
  O='packet of letters', G='letter x7', E='Miss Arden learned that the assault on Badajoz was betrayed', mood='horror, very quiet', n='The packet held seven letters: Dr Blount and G.L. sold the plans of Badajoz to the French.'),
DROP('I shake Miss Lorne awake and read them to her aloud.',
  'She listens to the third and then she slides out of the chair like a shawl. When Dr Blount comes running with his salts he sees the letters, and you, and draws the little scalpel out of its velvet. "Brain fever," he says. "I shall have to bleed you both." The blade is very cold in the crook of your arm.',
  C='@=bled white; Mary Lorne=brain fever', X='letter x7:@>Phineas Blount', mood='ghastly', n='Dr Blount bled Miss Arden and took the letters.', lies=['bled white', 'bled Miss Arden', 'brain fever', 'scalpel']),
T('I tuck them in my bodice and turn round. "Mary Pell. How long have you been at that keyhole?"',
  'Mary Pell comes out from behind the globe the colour of tallow. "I can\'t read, miss, but I can listen. My brother Ned were in the Captain\'s company." She wipes her nose on her wrist, fiercely. "Give us some on \'em. If they turn you out they\'ll not find the lot. There\'s a brick loose in the scullery nobody knows but me." You count three of the letters into her apron. Four remain with you.',
  N='Mary Pell', X='letter x3:@>Mary Pell', R='Mary Pell>@:sworn-ally+2', mood='conspiratorial', n='Pell hides three of the letters behind a brick in the scullery; her brother Ned fell at Badajoz.'),
T('That night I go to the panel with the vine leaves, and push lower.',
  'Six steps down, a crooked turn, and a priest\'s hole no bigger than a box bed, with a pallet, a jug, and a man. He has put on a coat for you. Half his face is the face of the portrait; the other half the breach has kept. "They pulled me out from under my company after two days," says Jasper Lorne. "By then I was on the list. It seemed to me that a dead man might find out more. No more Nightingale, Miss Arden. Pray do not look sorry."',
  L="priest's hole", N='Jasper Lorne', gone='Mary Lorne; Mary Pell', unsure='Nightingale', C='Jasper Lorne=alive', E='Mr Nightingale turned out to be Captain Jasper Lorne, who is alive', mood='the world tilting', n='Mr Nightingale is Captain Jasper Lorne. He lives, and hides in the priest\'s hole.', say={'Jasper Lorne': 'Captain Jasper Lorne'}),
CONT('He has to stoop under the vault; there is candle grease on his cuff, and he sees you see it, and very nearly smiles.', R='Jasper Lorne>@:guarded+1', mood='candle grease and courage', n='null', say={'Jasper Lorne': 'Captain Lorne'}),
T('"I am not sorry. I am furious. Read these." *I give him the light, not the letters; those I hold for him.*',
  'He reads all four over your thumb. At the margin of the last his breath stops, and starts. "Gervase," says Jasper. Not angrily. "He taught me to swim." Then he sets the thing out like an order of battle: Sir Humphrey Vane sits at Ravensford on Wednesday, and until Wednesday nobody must know that he breathes, not even little Mary, who could not keep it out of her face. "Give me your word, Cecily." He has not asked leave for the name. You give both.',
  R='Jasper Lorne>@:trusting+2; Jasper Lorne>Gervase Lorne:betrayed-3', mood='grave and very near', n='Cecily gave Captain Lorne her word to tell nobody before Wednesday that he lives. Sir Humphrey Vane sits at Ravensford on Wednesday.', me='Cecily', debt=('word', ('before Wednesday',), 'Jasper Lorne')),
T('"And you had better have your mother back. You have a pocket now."',
  'He takes the miniature as if it might still be too hot, and looks at it under the candle until you begin to study the jug. "She would have liked you. She would have been insufferable about it." It goes in at the neck of his shirt. In exchange he unrolls a flannel: a duelling pistol, one of a pair. "There is one ball in it. I should not like you to walk the moor with nothing but principles."',
  X='miniature:@>Jasper Lorne; duelling pistol:Jasper Lorne>@', R='Jasper Lorne>@:tender+1', mood='warm as a hand', n='Captain Lorne has his mother\'s miniature again, and lent Cecily a duelling pistol.', me='Cecily'),
EDIT(1, 'She would have been insufferable about it.', 'She would have been quite insufferable about it.'),
T('Tuesday. I walk the four miles to Ravensford and find Toby at the Plough. "Your two guineas, Mr Ames."',
  'The taproom goes quiet as for a christening. Toby bites each of the coins, spits, and shakes your hand. "Paid, and handsome. Three left in that purse, I\'ll be bound, and tha\'ll want \'em. Hast heard? They\'ve had Dr Blount out o\' the lake this morning, cuffs and all. Drowned. Dead as mutton, and a bruise on him like a billiard ball." Somebody laughs, and thinks better of it.',
  L='The Plough', N='Toby Ames', gone='Jasper Lorne', X='guinea x2:@>Toby Ames', C='Phineas Blount=dead', R='Toby Ames>@:respectful+1', mood='ale and dread', n='Miss Arden paid Toby Ames his two guineas; the debt is settled. Dr Blount was found drowned in the lake.', paid='toby', settled=(('owes Toby',), ('paid', 'settled')), say={'Toby Ames': 'Old Toby'}),
T('"Then I must be back before dark. Will you drive me?"',
  'He will, for nothing. The moor road is a pale string between two bogs, and at the gibbet stone a rider is waiting with his collar up. "A charming evening," says Lord Hallowmere. "You have been reading my sermons, Miss Arden." Toby swings the whip; his lordship rides him down, quite slowly, and you hear the arm go. Then the gloved hand comes in at your bodice as if into a drawer, and takes all four letters.',
  L='moor road', N='Toby Ames; Gervase Lorne', X='letter x4:@>Gervase Lorne', C='Toby Ames=broken arm', R='Gervase Lorne>@:murderous-3', mood='a wide cold sky', n='Lord Hallowmere took the four letters and broke Old Toby\'s arm.', say={'Toby Ames': 'Old Toby'}),
T('*I have the pistol out from under the rug.* "You will find, my lord, that I dislike being gone through."',
  'The ball takes his hat and the top of an ear. It is not enough; the horse shoulders the cart over, and the pistol goes end over end into black water, which shuts on it. When you have your breath there are two grooms holding your elbows. "The ice house," says Lord Hallowmere, with a handkerchief to his head. "It is cold, but then she is a cold young person. Leave the old man to the crows."',
  O='duelling pistol', C='Gervase Lorne=torn ear', E='Miss Arden shot at Lord Hallowmere', mood='smoke and fury', n='The duelling pistol sank in the bog. Toby lies on the moor road.', say={'Toby Ames': 'Old Toby'}),
T('They can lock me in wherever they like. I have a lantern. "Hello?"',
  'They have left Toby by the stone. The ice house is a brick egg under a mound, and the door booms like a lid. "Miss?" In the straw sits Mary Pell with her feet drawn up. "He found me counting bricks. He never found the letters, though; he thought I were stealing sugar." You share the lantern until it gutters, and then the last of the horn cracks with the frost and it is no lantern any more. You throw the pieces away and hold hands.',
  L='ice house', N='Mary Pell', gone='Toby Ames; Gervase Lorne', O='lantern', mood='black, with somebody breathing in it', n='Miss Arden and Pell are locked in the ice house. The lantern broke.'),
T('"Pell, light a candle. We have three. If I am to be a ghost I want to see to do it."',
  'Two catch and die in the wet air; the third stands up thin and blue. In its light there are three women in the ice house. The Grey Lady regards Pell, who has her apron over her head, and then you, with what in a living woman would be impatience. She walks into the door. On the other side of it, with a scrape that has two hundred years of rust in it, the bolt goes back.',
  N='Grey Lady', O='candle x3', E='The Grey Lady drew the bolt of the ice house', mood='awe', n='The Grey Lady opened the ice house. The candles are used up.'),
T('"Thank you, my lady. Again. Wait, Pell, not yet." I listen at the crack.',
  'There are boots outside, going by with a lantern and a grumble about the frost; you hold Pell by the apron strings until they have crossed the yard. The Grey Lady stands between the two of you and the crack, as a screen stands between one and a fire, only colder. Pell makes her a curtsey, and after a moment so do you. It has begun to snow. Far off, the clock over the stables says eleven.',
  bad='\n\n```state\nlocation: ice house\nlocation_moved: false\nhp_change: 0\nitems_gained: [wet gloves, a groom\'s lamp\nnpc_met: [Pell, two gro'),
BRANCH(7,
  T('"I will not wait for Wednesday on an empty stomach, and nor shall you. Come up those six steps with me this minute and have supper."', '"In this face?" says Jasper. But he comes. On the fourth step his knees give, and it is you who sit down on the stone with his head in your lap. He is burning. From his sleeve slides a phial of laudanum, nearly empty. "For the face," he says. "I had hoped that you would not count." You take the phial away from him.',
    G='phial of laudanum', C='Jasper Lorne=fever', R='Jasper Lorne>@:ashamed-1', mood='pity, which he hates', n='Captain Lorne takes laudanum; Cecily took the phial from him.', me='Cecily', lies=['laudanum', 'phial', 'ashamed']),
  T('I leave him wrapped in my cloak and fetch Mrs Crewe from her bed.', 'In the still-room Mrs Crewe puts down her candle and then, very carefully, herself. "I knew," she says. "I have set out a plate behind the vine leaves every night since Martinmas. Did you think that it was the mice?" She is already reaching for the bark and the brandy, and her hands shake.',
    L='still-room', N='Tabitha Crewe', gone='Jasper Lorne', R='Tabitha Crewe>@:accomplice+2', mood='a kettle at midnight', n='Mrs Crewe has fed the Captain since Martinmas.', lies=['Martinmas', 'accomplice', 'still-room']),
  spoil=['drowned', 'ice house', 'broken arm', 'The Plough', 'duelling pistol']),
T('"Wednesday in an hour. Come, Pell: the scullery brick, and then the great hall. We are going in by the front."',
  'She is gone and back in the time that it takes to scrape your boots. Three letters, a little sooty, go from her apron into your hand. In the great hall, they are at a late supper: Lord Hallowmere with a plaster on his ear, Miss Lorne, white, not eating, and a purple old gentleman with gout and a magistrate\'s snuff-box, who can only be Sir Humphrey Vane, snowed in on his way to the sessions. His lordship\'s fork stops in the air.',
  L='great hall', N='Mary Pell; Gervase Lorne; Mary Lorne; Humphrey Vane', X='letter x3:Mary Pell>@', unsure='Grey Lady', R='Humphrey Vane>@:astonished+1', mood='silver and silence', n='Pell gave the three letters back. Sir Humphrey Vane, the magistrate, is snowed in at Hallowmere.'),
T('"Sir Humphrey, forgive my hem. I have some sermons for you." I put all three beside his plate.',
  '"A hysterical female," says Lord Hallowmere; "I had her confined for her own good." Sir Humphrey reads the first with his spectacles up and the second with his spectacles down. The third he does not finish. "Your frank, my lord," he observes. "G.L. I have a hundred of \'em, asking me to dine." The great clock gathers itself. Miss Lorne is staring past all of you, at the stairs. It strikes twelve.',
  X='letter x3:@>Humphrey Vane', R='Humphrey Vane>Gervase Lorne:outraged-3', mood='a held breath', n='Sir Humphrey has the three letters and knows the hand of Lord Hallowmere.'),
T('"Wednesday," I say, to nobody, and turn round.',
  'He comes down without a candle, in rifle green, one hand on the rail. No one who had only seen the portrait would know him, and everyone knows him. "Good evening, Gervase," says Captain Lorne. "I believe you are in my chair." Miss Lorne drops her stick and crosses twenty feet of marble without it. His lordship has gone the colour of the cloth. Then he has gone altogether, out by the terrace door, and the snow blows in.',
  N='Jasper Lorne', S='Gervase Lorne', E='Captain Lorne showed himself in the great hall', R='Mary Lorne>Jasper Lorne:overjoyed+3', mood='every candle leaning one way', n='It is Wednesday; Cecily kept her word, and Captain Lorne showed himself. Lord Hallowmere fled.', me='Cecily', paid='word', settled=(('gave Captain Lorne her word',), ('kept her word',))),
T('"The lake. He will try the ice." I catch up somebody\'s cloak and go after Jasper.',
  'At the lake shore it is as bright as noon, without colour. Gervase is a hundred yards out, walking like a man on a shelf, the four letters held up in his fist to keep them dry. "Come back!" Jasper shouts. "You fool, come back, it never bears by the island!" It does not. There is no cry; only a black star in the white, and papers settling round it. Jasper has his boots off before you can get your arms about him. "He taught me to swim," he says, over and over.',
  L='lake shore', N='Jasper Lorne', gone='Mary Lorne; Mary Pell; Humphrey Vane', C='Gervase Lorne=dead', E='Lord Hallowmere went through the ice and drowned', mood='white and terrible', n='Lord Hallowmere is dead; he went through the ice with the four letters.', me='Cecily'),
T('I hold on until he stops fighting me. "Jasper. Come in. Come into the house by the door."',
  'They have built up the library fire until it roars. Miss Lorne and Pell have a chair each side of it, and between the two chairs there is no difference tonight; Mrs Crewe is giving brandy to Old Toby, who walked in out of the snow an hour ago with his arm in a bridle and swore at everyone. "It\'s set," says Mrs Crewe. "It was a clean break." Jasper stands on the hearthrug as though he had never seen one.',
  L='library', N='Jasper Lorne; Mary Lorne; Mary Pell; Tabitha Crewe; Toby Ames', C='Toby Ames=arm in a sling', R='Tabitha Crewe>Jasper Lorne:motherly+2', mood='thaw', n='Old Toby came in from the moor; his arm is set.', me='Cecily', say={'Toby Ames': 'Old Toby'}),
T('"Miss Lorne, it is not Sunday, but he should marry her. I was up all night with it. Page two hundred, especially."',
  'You put the manuscript in her lap with its garter ribbon. Miss Lorne laughs, and cries, and presses it to her black bodice. "Oh, I had forgotten that there were such things. You do like it? Truly? You are not being kind to the bereaved?" Mrs Crewe observes to the ceiling that some people\'s candle bills are now explained. "Who should marry whom?" asks Jasper. "Nobody," say two ladies at once.',
  X='manuscript:@>Mary Lorne', R='Mary Lorne>@:grateful+2', mood='laughter in mourning', n='Cecily gave Miss Lorne her opinion: he should marry her. The manuscript is with Miss Lorne again.', me='Cecily', paid='opinion', settled=(('by Sunday',), ('gave Miss Lorne her opinion', 'he should marry her'))),
T('I help Pell carry out the glasses, so that the cousins can talk. Then, a little later, alone, to the west gallery.',
  'The window is full of snow-light, and nobody stands at it. You wait; you had wished to say something suitable. Presently there is a step, a living one, with a limp. "She does not come when one is happy," says Jasper behind you. "I think that she is shy of it." The panel with the vine leaves stands wide open, airing, like any cupboard. He takes off the miniature and puts the chain over your head himself.',
  L='west gallery', N='Jasper Lorne', gone='Mary Lorne; Mary Pell; Tabitha Crewe; Toby Ames', X='miniature:Jasper Lorne>@', R='Jasper Lorne>@:devoted+3', mood='snow-light', n='Captain Lorne gave Cecily his mother\'s miniature for good.', me='Cecily'),
T('"Is this for keeping until you have a pocket fit for it?"',
  '"It is for keeping." He seems to find the wainscot absorbing. "I have half a face, Cecily, a house full of draughts, a title that I cannot hear without looking round for Gervase, and a lady in the wall. I do not know how one asks." You tell him that you were engaged to catalogue the least enjoyed first, and that you have reached the other end of the shelf. It takes him a moment. Then the portrait and the breach smile both together.',
  E='Captain Lorne asked for Cecily\'s hand', R='Jasper Lorne>@:betrothed+3', mood='joy, out of practice', n='Cecily and Captain Lorne are engaged.', me='Cecily'),
T('In the morning I give Mrs Crewe her silver key back. "I have left it open. I hope that you will bear it."',
  'In the great hall the crape has gone from the portrait. Mrs Crewe weighs the key in her palm, sniffs, and hangs it on the ring with the rest. "Open," she says. "With the price of coals." But she has laid two covers at the head of the table. Pell goes by with a scuttle, singing; Old Toby, by the fire, is telling Sir Humphrey how he beat off six. On the stairs, for an instant, there is a gown the grey of rain, going up.',
  L='great hall', N='Tabitha Crewe; Mary Pell; Toby Ames; Humphrey Vane', X='silver key:@>Tabitha Crewe', R='Tabitha Crewe>@:approving+2', mood='morning', n='Miss Arden gave the silver key back to Mrs Crewe. The library stays open.', say={'Toby Ames': 'Old Toby'}),
]
def run(ops):
    ts = [fresh()]
    for o in ops:
        t = ts[-1]
        for w in [*o.get('before', []), *o.get('after', [])]: formal(t, w['facts'])
        if o['op'] == 'turn':
            after = formal(t, o['facts'])
            if not o.get('dropped'): ts.append(after)
        elif o['op'] == 'continue': ts[-1] = formal(t, o['facts'])
        elif o['op'] == 'branch':
            b = ts[len(ts) - o['back'] - 1]
            for x in o['turns']: b = formal(b, x['facts'])
run(OPS)
