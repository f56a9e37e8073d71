"""EN tabletop fantasy as a group chat: a bard and a dwarf priest take turns; a village pays its dragon.
Habits of the narrators: class instead of name (the Ranger), number before the noun and in the plural (12 gold pieces), `none` for nothing, the place in every block, everybody who is there listed
each time with title or nickname (Tess, Brother Borrick, Reeve Crane)."""
from form import *
import form
CALL = {'Thessaly Roake': 'Tess', 'Borrick Underhew': 'Brother Borrick', 'Aldous Crane': 'Reeve Crane', 'Isolde Vane': 'Captain Vane', 'Vysserane': 'Widow Pell'}
MANY = {'gold piece': 'gold pieces', 'healing draught': 'healing draughts', 'silver arrow': 'silver arrows'}
at = ['the Gilded Eel']
def amount(p):
    b, n = count(p)
    return f'{n} {MANY[b]}' if n > 1 else f'1 {b}' if b in MANY else b
def h(k, stay=True):
    raw = dict(k.get('raw', {})); me = k.setdefault('me', 'the Ranger'); k['say'] = CALL | k.get('say', {})
    for key, f in (('G', 'items_gained'), ('O', 'items_lost')):
        raw.setdefault(f, '[' + ', '.join(amount(p) for p in parts(k[key])) + ']' if k.get(key) else 'none')
    who = lambda x: me if x == '@' else k['say'].get(x, x)
    raw.setdefault('items_transferred', '[' + ', '.join('{item: %s, from: %s, to: %s}' % (amount(i), who(a), who(b)) for i, a, b in transfers(k['X'])) + ']' if k.get('X') else 'none')
    if not k.get('S'): raw.setdefault('npc_separated', 'none')
    if not k.get('C'): raw.setdefault('status_changes', 'none')
    if not k.get('R'): raw.setdefault('relationship_changes', 'none')
    if not k.get('E'): raw.setdefault('event_trigger', 'none')
    if k.get('L'):
        if stay: at[0] = k['L']
    else: raw.setdefault('location', at[0])
    k['raw'] = raw
    return k
def t(said, told, by, **k): return T(said, told, by=by, **h(k))
def g(told, by, **k): return form.G(told, by, **h(k))
def w(told, **k): return W(told, **h(k, False))
TESS, BOR = 'Thessaly Roake', 'Borrick Underhew'
PLAY = dict(id='3-wyrmgeld', char=TESS, user='Wren Ashdown', hp=True, group=[TESS, BOR], unique=['iron tribute chest', 'brass locket', 'rusted sword', 'Wyrmbite', 'black scale'],
    card={TESS: 'Thessaly Roake, half-elf bard, 27, called Tess by everyone who has ever lent her money. Quick tongue, quicker feet, a lute with one string missing. Travels with {{user}}, whom the party calls the Ranger, and with Brother Borrick. {{char}} narrates in the third person and hands out wounds fairly.',
          BOR: 'Borrick Underhew, dwarf, 143, lay priest of the Anvil Mother; Brother Borrick to all. Gruff, devout, cannot swim. Travels with Tess and with {{user}}, the Ranger. {{char}} narrates in the third person and keeps count of the coin.'},
    persona='Wren Ashdown, 29, ranger out of the Hollin Woods, best shot of the party and worst liar. Tess and Borrick seldom use the name; it is "the Ranger" for everything.',
    greeting='*Rain comes in sideways off the marsh and follows you through the door of the Gilded Eel. At the corner table Tess has already spread her cards, and Brother Borrick has already lost.* "Ranger! Sit down before he prays for a better hand."',
    me=['the Ranger', 'Ranger', 'Wren', 'Ashdown'], two=['Old Harl', 'Young Harl'], disguised=['Vysserane'],
    forms={TESS: ['Tess', 'Thessaly'], BOR: ['Brother Borrick', 'Borrick'], 'Marra Quist': ['Marra', 'Mistress Quist'], 'Aldous Crane': ['Reeve Crane', 'Reeve Aldous Crane', 'the Reeve', 'Crane'],
           'Vysserane': ['Widow Pell', 'the Widow Pell', 'Pell', 'the dragon Vysserane', 'the dragon'], 'Old Harl': ['Old Harl Dunmore', 'Miller Dunmore', 'the miller'], 'Young Harl': ['Young Harl Dunmore', 'Harl the Younger'],
           'Isolde Vane': ['Captain Vane', 'Captain Isolde Vane', 'Vane'], 'the Gilded Eel': ['Gilded Eel', 'the Eel'], 'Saltmarrow market': ['the market', 'market'], 'Dunmore mill': ['the mill', 'Dunmore Mill', 'the Dunmore mill'],
           'the causeway': ['causeway'], 'drowned chapel': ['the drowned chapel'], "Hag's Tooth": ["the Hag's Tooth"], 'lower cavern': ['the lower cavern'], 'hoard hall': ['the hoard hall'],
           'gold piece': ['gold pieces', 'gold'], 'healing draught': ['healing draughts'], 'silver arrow': ['silver arrows'], 'iron tribute chest': ['tribute chest', 'the tribute chest', 'the iron tribute chest']})
OPS = [
t('I hang up my cloak and squeeze in beside them. "Who are we hiding from this time?"',
  '"Nobody! I am wounded." Tess deals you in without asking, and the card she gives you is warm from her sleeve. The landlady, Marra Quist, sets down a third tankard hard enough to make Borrick\'s beard jump. "Those two owe me for a window," Marra says to you, "so I hope that you are the one with sense." Behind her the fire spits, and somebody at the bar stops talking when he sees your bow.',
  TESS, L='the Gilded Eel', N=f'{TESS}; {BOR}; Marra Quist', R=f'{TESS}>@:teasing+1; Marra Quist>@:hopeful+1', mood='rowdy', n='Rainy evening at the inn. The party meets.'),
g('Borrick laid his cards down, face up, since he had never learned to hide anything. The man from the bar was already standing over them: Aldous Crane, Reeve of Saltmarrow, wet to the knees. He put an iron chest on the table, no longer than a loaf, and beside it forty gold pieces in four neat piles. "The wyrmgeld. It goes to the Hag\'s Tooth before the new moon, or she comes and fetches it." The chest he pushed to the Ranger, who seemed to be in charge.',
  BOR, N=f'{TESS}; {BOR}; Marra Quist; Aldous Crane', G='gold piece x40', X='iron tribute chest:Aldous Crane>@', R='Aldous Crane>@:courteous+1', mood='businesslike', n="Reeve Crane hired the party. The Ranger promised to bring the iron tribute chest to the Hag's Tooth before the new moon.",
  debt=('tribute', ('new moon',), 'Aldous Crane')),
t('"We leave at first light, then. Marra, three beds and something hot." I count out four of the coins.',
  'Marra bites one of the four, for form\'s sake, and sweeps them into her apron; thirty-six stay on the table until Tess helps you to put them away. "Beds and eel pie, that is paid. The stabling of your mule is not. Five gold, and I want it the day you come back." You give her your hand on it. "If you come back," says Reeve Crane pleasantly, takes his wet hat, and goes.',
  TESS, N=f'{TESS}; {BOR}; Marra Quist', O='gold piece x4', S='Aldous Crane', mood='cosy', n='The Ranger owes Marra Quist five gold for the stabling, to be paid on the day of return.', debt=('stable', ('five gold',), 'Marra Quist')),
g('When the pie was gone Borrick rummaged in his sack, past the hymnal and the socks, and found what he was looking for wrapped in a third sock. Two healing draughts, red as cough syrup. "From the Mother\'s own still," he said, and put them into the Ranger\'s hands. "You are the one who gets hit. I have watched." Tess laughed so much that she had to hold on to the table. Marra came to see whether it was another window.',
  BOR, N=f'{TESS}; {BOR}; Marra Quist', G='healing draught x2', R=f'{BOR}>@:fatherly+1', mood='warm', n='Brother Borrick gave the Ranger two healing draughts.'),
t('In the morning I drag Tess to the market for arrows. Borrick can finish his prayers.',
  'Brother Borrick was only at the second of nine hymns, so you leave him humming over his porridge in Marra\'s care. Saltmarrow market is four stalls and a goat. The last stall belongs to a little old woman in grey lace whose kettle steams without a fire under it. "Widow Pell, dears. Silver-tipped? Six for twelve gold." You pay; it leaves you twenty-four. She counts the coins twice, with great enjoyment.',
  TESS, L='Saltmarrow market', N=f'{TESS}; Vysserane', gone=f'{BOR}; Marra Quist', G='silver arrow x6', O='gold piece x12', R='Vysserane>@:amused+1', mood='curious', n='Bought six silver arrows of Widow Pell for twelve gold; 24 gold left. Brother Borrick stayed at the inn.'),
t('"You are not afraid of the dragon, Widow Pell?"',
  '"At my age, dear?" She pours three cups of tea. Tess sniffs hers, decides to live dangerously and empties it. "She has manners, for what she is. It is the people who carry the chest that never say good day." From under the lace she brings out a black scale as big as a playing card and tucks it behind your belt. "Show that, if anything wet stops you. And do say good day."',
  TESS, N=f'{TESS}; Vysserane', X='black scale:Vysserane>@', mood='uncanny', n='Widow Pell gave the Ranger a black scale to show on the way and advised to greet the dragon politely.',
  before=[w('"Afraid? I married one," says the widow, and her jaw comes unhinged like a snake\'s. The goat goes first, whole, bleating all the way down. Tess screams and throws the kettle. When the steam clears there is no stall, no widow, and your left boot has been bitten off at the ankle, with some of you in it.',
            C='@=foot bitten off', hp=-40, S='Vysserane', n='The widow swallowed a goat and bit off the left boot.', mood='grotesque', lies=['swallowed a goat', 'left boot', 'bitten off'])]),
t('I thank her, and we fetch the priest on the way to the mill.',
  'Brother Borrick catches up with you at the ford, mule and all, hymns complete. The widow waves from her stall until the lane bends. At Dunmore mill the wheel stands still. Old Harl sits on the step with flour in his eyebrows and does not get up. "Last year the lad carried the chest," he says. "My grandson. Young Harl, we call him, called him. She ate him. Reeve saw the boots." He looks at the chest on the mule as if it were a coffin.',
  TESS, L='Dunmore mill', N=f'{TESS}; {BOR}; Old Harl', S='Vysserane', C='Young Harl=dead', mood='sorrowful', n='Old Harl says that his grandson Young Harl was eaten by the dragon last year.'),
t('*I crouch down in front of him.* "Did Young Harl carry anything that you would want back?"',
  'It took the miller a long time to find the word. "Locket," said Old Harl. "Brass. His mother\'s picture in it." Borrick took his helmet off, and the Ranger swore then and there to bring it home, or to say honestly that it could not be found. Tess, who had a joke for every funeral, looked at the dead wheel and had none. The old man nodded. It was the nod of someone who has stopped expecting things.',
  BOR, N=f'{TESS}; {BOR}; Old Harl', R='Old Harl>@:grateful+1; Old Harl>Young Harl:grandfather+3', mood='solemn', n="The Ranger swore to Old Harl to bring back Young Harl's brass locket.", debt=('locket', ('locket',), 'Old Harl')),
g('"Wait." The old man had gone in, and he came out with something long in a flour sack. A sword, or it had been one before the rust: you could have grated cheese with it. "My grandad ploughed it up. Never sold it, never knew why." He gave it to the Ranger across both his palms. Tess tried the edge with her thumb and was not even scratched. "Well," she said, "we can always bore her to death with it."',
  TESS, N=f'{TESS}; {BOR}; Old Harl', X='rusted sword:Old Harl>@', mood='wistful', n='Old Harl gave the Ranger a rusted sword that his grandfather ploughed up.'),
t('Out on to the causeway, then, before the tide.',
  'The miller stayed on his step; they could see the white of his hair for a mile. Then the fog came. On the causeway the stones were slick and the water on both sides was full of faces, and the first of the drowned had the mule by the leg before Borrick could say the Name. The Ranger put two silver arrows into two wet skulls. Four were left. Cold fingers tore a sleeve, and the arm inside it, and let go.',
  BOR, L='the causeway', N=f'{TESS}; {BOR}', gone='Old Harl', O='silver arrow x2', hp=-14, mood='frightening', n='The drowned attacked on the causeway. 4 silver arrows left.'),
t('"The scale!" *I hold it up over my head and shout:* "Good day to you!"',
  'It is the stupidest thing that Tess has ever heard, and it works. The drowned look at the black scale, and at each other; then they let go, one by one, with an embarrassed sort of gurgle, and sink. The last has its teeth in Borrick\'s hand and has to be reminded. "Good DAY," says Tess. When it has gone the dwarf\'s fingers are already swelling, green at the nails. He looks at them with interest.',
  TESS, N=f'{TESS}; {BOR}', C=f'{BOR}=poisoned hand', R=f'{TESS}>@:impressed+1', mood='absurd', n="The black scale turned the drowned back. Brother Borrick's hand is poisoned."),
g('"It will keep until morning," said Borrick, who could no longer feel the thumb. "You first." He would not walk another step until the Ranger had drunk one of the draughts, and he stood there with his arms folded, one of them twice as thick as the other, and watched every swallow. That left one. The torn arm closed like a mouth that has thought better of it. The mule was gone; they carried the chest by turns.',
  BOR, N=f'{TESS}; {BOR}', O='healing draught', hp=10, mood='stubborn', n='One healing draught left. The mule is lost.'),
t('We need a roof. Is that a steeple?',
  'It is, and the rest of the drowned chapel is under it, more or less. Borrick plants himself outside the door with his hammer on his knees to keep the first watch. Inside there is a dry step before the altar, wide enough for two. Tess does not take out her lute. She looks at the burned beams overhead for such a long time that you forget that she can be silent. "I hate chapels," she says in the end.',
  TESS, L='drowned chapel', N=TESS, mood='quiet', n='Night in the drowned chapel. Brother Borrick keeps watch outside the door.'),
t('"You can tell me. Or not. I am awake anyway."',
  '"Corvale," says Tess to the beams. "The temple there. You sang about it with me, once, in the Eel. Nine priests. I was twelve, I was stealing candles, and I dropped one." She says it quickly, like someone pulling out a splinter. "He lost a brother in it. Borrick. He has forgiven whoever did it, every night, out loud, for fifteen years. You are the only one that I ever told. Swear." You swear.',
  TESS, N=TESS, R=f'{TESS}>@:trusting+2', mood='raw', n='Secret, known only to the Ranger: Tess caused the temple fire of Corvale in which Borrick\'s brother died. The Ranger swore to Tess to keep it.',
  secret=('Corvale', ('only to the Ranger', 'only the Ranger', 'only Wren', 'only you', 'Ranger only')), debt=('fire', ('Corvale', 'swore to Tess'), TESS)),
DROP('I wake up before dawn and try the lock of the tribute chest with my knife.',
  'The lock clicks. Purple smoke sighs out of the chest and takes the shape of a child with no eyes. "You looked," it says, and touches Tess on the forehead. She sighs and is dead before her head reaches the step. The child climbs back and pulls the lid shut after it.',
  by=TESS, C=f'{TESS}=dead', hp=-20, n='A smoke child came out of the chest and killed Tess.', me='the Ranger', say=CALL, raw={'location': 'drowned chapel', 'npc_met': 'none'}, lies=['smoke child', 'eyeless']),
t('"Morning, priest. Let me see that hand."',
  'Borrick came in with the grey light, and the hand came in before him. He let the Ranger hold it over the font while he sang all nine hymns and one that he would not translate, and at the last word the green ran out of his nails and away down the drain like pea soup. "There," he said, flexing. "Healed, and she did not even charge." Tess had her back to them both. She was tuning strings that were in tune.',
  BOR, N=f'{TESS}; {BOR}', C=f'{BOR}=healed', R=f'{BOR}>{TESS}:fond+1', mood='relieved', n="Morning. Brother Borrick's hand is healed."),
EDIT(1, 'like pea soup', 'like bad soup'),
t('On to the Tooth. Good boots, dry strings, nobody says anything about chapels.',
  'The Hag\'s Tooth sticks up out of the marsh black and hollow, with a stair cut round it. On the lowest step sits a woman in good mail, eating an apple off a dagger, and behind her a dozen crossbows lean over the rocks. "Isolde Vane. Captain Vane, if you mean to be buried by me." She points the core at the chest. "That is forty pounds of tribute, and you are three. I can count. Can you?"',
  TESS, L="Hag's Tooth", N=f'{TESS}; {BOR}; Isolde Vane', R='Isolde Vane>@:mocking-1', mood='threatening', n='Captain Vane and her crossbows want the chest.'),
t('"I can count. Twelve bolts, one neck." *I nock a silver arrow and aim at her apple.*',
  'It was a beautiful shot. The apple went; so, a moment afterwards, did the air, full of bolts, and one of them nailed the Ranger\'s cloak to the Ranger\'s side. Three silver arrows left. Captain Vane laughed till she coughed, walked up through her own people\'s fire and lifted the chest out of Borrick\'s arms as one takes a parcel from a child. "With thanks to Saltmarrow." Her boots went up the stair, and the crossbows after her.',
  BOR, N=f'{TESS}; {BOR}', O='silver arrow', X='iron tribute chest:@>Isolde Vane', S='Isolde Vane', hp=-20, R='Isolde Vane>@:entertained+1', mood='humiliating', n='Captain Vane took the tribute chest and went up the stair. 3 silver arrows left.',
  after=[w('The arrow took Captain Vane in the throat. She sat down, surprised, and her crossbowmen looked at one another and began to cheer. "Nine months without pay!" said their sergeant, a fat man called Hobb Tully, and he kissed the Ranger on both cheeks and pressed a jade whistle on him. "Blow, and we come."',
           N=f'{TESS}; {BOR}; Hobb Tully', C='Isolde Vane=dead', O='silver arrow', G='jade whistle', n='Hobb Tully and the crossbowmen changed sides.', mood='triumphant', lies=['Hobb Tully', 'jade whistle'])]),
t('"Not the stair. There was a draught from that crack below the waterline. Hold your breath, Borrick."',
  'He does not so much swim as sink in the right direction. The crack lets you out into a lower cavern lit by mushrooms, and there, by a driftwood fire, frying an eel on a shield, sits a lanky youth with flour-white hair. He drops the eel. "You are people," he says. "I am Harl. Young Harl, they say, on account of Grandad. Is it still Thursday?" He is very thin, and very much alive.',
  TESS, L='lower cavern', N=f'{TESS}; {BOR}; Young Harl', C='Young Harl=alive', mood='astonished', n='Young Harl is alive; he has been hiding in the lower cavern for a year.', say={'Young Harl': 'Young Harl'}),
g('"She never ate me," the lad said, with his mouth full of Tess\'s last biscuit. "She asked what was in the chest, and it was cobbles, and I told her so. So she said I might stay till somebody honest came. The boots I left on the stair so nobody else would try." He pulled a brass locket over his head and gave it to the Ranger. "If you get out and I do not. For Grandad." Borrick blew his nose. It echoed.',
  BOR, N=f'{TESS}; {BOR}; Young Harl', X='brass locket:Young Harl>@', R='Young Harl>@:hero-worship+2', mood='tender', n="Last year's tribute chest held cobbles instead of tribute. Young Harl gave the Ranger his brass locket."),
t('Cobbles. So the Reeve... *I need to think, and so I scrape at the rusted sword with the scale.*',
  'The rust comes off in one piece, like the shell of an egg. Under it the blade is blue. The black scale crumbles to soot between your fingers, and along the fuller, letter by letter, a word begins to burn: WYRMBITE. Tess reads it twice. "I take back the part about boring her." There is no rusted sword any more; what you hold weighs nothing and hums in the key of D.',
  TESS, N=f'{TESS}; {BOR}; Young Harl', O='rusted sword; black scale', G='Wyrmbite', E='The rusted sword turned out to be Wyrmbite', mood='awed', n='The rusted sword is Wyrmbite. The black scale crumbled to soot.'),
t('"Borrick, take the boy out the way we came and bring him home. Tess and I go up."',
  'He argues for as long as it takes to tie Young Harl to his back like a shield, and then the water closes over them both. You and Tess climb. The hoard hall is round and dim and smells of tea. Half-way across lies Captain Vane, on her back, with an expression of great politeness, and a hole through the mail that you could put a fist in. She is stone dead. The tribute chest has rolled out of her hand. You pick it up.',
  TESS, L='hoard hall', N=TESS, S=f'{BOR}; Young Harl', C='Isolde Vane=dead', X='iron tribute chest:Isolde Vane>@', mood='eerie', n='Brother Borrick brings Young Harl home. Captain Vane lies dead in the hoard hall; the Ranger has the chest again.'),
t('"Good day?" I say to the dark.',
  '"There, it does not hurt, does it?" On top of the gold, in a wicker chair, sits Widow Pell with her knitting. The needles are ribs. Behind her the shadow does not fit: it goes up the wall, and across the vault, and it has wings. "Vysserane, dear. Pell was my third husband. I like a stall, one hears things. The captain did not say good day." Tess curtsies. It seems to be the only thing left that her knees can do.',
  TESS, N=f'{TESS}; Vysserane', E='Widow Pell revealed herself as the dragon Vysserane', R='Vysserane>@:approving+1', mood='awestruck', n='Widow Pell is the dragon Vysserane.', say={'Vysserane': 'Vysserane'}),
t('*I set the chest down at her feet and step back.* "The wyrmgeld of Saltmarrow. Before the new moon, as promised. I think you should open it."',
  'She opens it with one fingernail. Cobbles, nine of them, wrapped in straw. "Eleven years," says Vysserane, quite softly, and the gold under the chair begins to run. "Eleven years he has sent me the street." She puts the chest on her lap like a cat. Then she looks at the blue thing in your hand, and for a moment she is much, much older. "And you bring that, and do not use it. Sit down, dear. I shall put the kettle on."',
  TESS, N=f'{TESS}; Vysserane', X='iron tribute chest:@>Vysserane', paid='tribute', settled=('before the new moon', ('deliver', 'fulfilled', 'kept', 'paid', 'done', 'brought')), R='Vysserane>@:respectful+2; Vysserane>Aldous Crane:wrathful-3', mood='tense',
  n='The Ranger delivered the tribute chest to Vysserane; the promise to Reeve Crane is fulfilled. It held cobbles: the Reeve has stolen the tribute for eleven years.', say={'Vysserane': 'Vysserane'}, raw={'location': 'The Hoard Hall'},
  before=[w('"Why would I open it?" says Vysserane. "I know what it is. It is lunch." She swallows the chest, and then, with a small cough of apology, the wicker chair. Tess begins to cry golden tears; they ring on the floor and you gather up eleven of them. "Keepsakes," says the dragon, and goes to sleep.',
            N=f'{TESS}; Vysserane', G='golden tear', n='Vysserane swallowed the chest; Tess wept golden tears.', mood='dreamlike', say={'Vysserane': 'Vysserane'}, lies=['golden tear', 'swallowed the chest'])]),
t('I sit. "Two sugars, if you have it."',
  'She has it, in a bowl that was the helm of a king. For a while nobody says anything; the spoons go round. Tess has found a harp with all its strings under a heap of crowns and is pretending not to stroke it. "Take it home with you or leave it alone, child," says Vysserane, "but do not fondle." Somewhere far down the water slaps against the rock, and the light from the crack in the roof creeps a hand\'s breadth over the gold.',
  TESS, bad='\n\n```state\nlocation: hoard hall\nlocation_moved: false\nhp_change: none\nitems_gained: none\nitems_lost: none\nitems_tr'),
BRANCH(8,
  T('"I will give you all my gold for the chest, Captain. And a song."', 'Vane weighed the purse on her palm, and then Tess, with her eyes. "The gold, and the singer for a year." Before the Ranger could speak Tess had stepped across. "It is only a year," she said over her shoulder. The captain threw the Ranger an onyx ring as a receipt.',
    by=BOR, N=f'{BOR}; {TESS}; Isolde Vane', X='gold piece x24:@>Isolde Vane; onyx ring:Isolde Vane>@', n='Tess sold herself to Captain Vane for a year; the Ranger kept the chest.', mood='bitter', me='the Ranger', say=CALL, raw={'location': "Hag's Tooth", 'items_transferred': '[{item: 24 gold pieces, from: the Ranger, to: Captain Vane}, {item: onyx ring, from: Captain Vane, to: the Ranger}]'}, lies=['onyx ring', 'sold herself']),
  T('I say nothing. I walk up the stair with the priest and the chest.', 'A hundred and eight steps. Borrick counted them aloud, in dwarvish, because it kept him from turning round. At the top a bronze gate stood open, and a blind porter named Oswin bowed to the sound of their feet.',
    by=BOR, L='bronze gate', N=f'{BOR}; Oswin', S=f'{TESS}; Isolde Vane', n='The blind porter Oswin keeps the bronze gate.', mood='hollow', me='the Ranger', say=CALL, lies=['Oswin', 'bronze gate']),
  spoil=['Wyrmbite', 'cobbles', 'hoard hall']),
t('"What happens to the village now?"',
  '"To the village? Nothing, dear, it is full of customers." Vysserane pushes a drift of coin towards you with her slipper: sixty gold pieces, which makes eighty-four. "Wages. For manners. But I should sleep better with that thing on my own wall." She means the sword. You think of the old man holding it out on both palms, and then you think of sleeping, and lay Wyrmbite across her knees. It stops humming.',
  TESS, N=f'{TESS}; Vysserane', G='gold piece x60', X='Wyrmbite:@>Vysserane', R='Vysserane>@:friendly+1', mood='peaceful', n='Vysserane paid 60 gold pieces, 84 now. The Ranger gave her Wyrmbite. She will spare Saltmarrow.', say={'Vysserane': 'Vysserane'}),
t('We bow, we say good day, and we go down. I want to be over the water before dark.',
  'Vysserane sees you to the top of the stair, in lace again, and waves with her knitting. On the causeway the drowned stand in two rows like footmen. None of them touches you; one hands Tess a shoe that she lost on the way out. "Nobody will believe this," she says, hopping. "I shall have to change it so that it is less true." The lights of the mill come up out of the mist, and the wheel is turning.',
  TESS, L='the causeway', N=TESS, S='Vysserane', mood='light-hearted', n='The drowned let the two pass.', say={'Vysserane': 'Vysserane'}),
t('*I knock at the mill door.*',
  'Three people were at the table when the Ranger and Tess came in: Borrick, who had flour on his nose; Young Harl, asleep with his cheek in a bowl; and Old Harl, who could not stop touching the boy\'s hair. The Ranger laid the brass locket on the table. The miller opened it, and looked at the one face and then at the other. "You brought the wrong thing first," he said at last, crying and laughing. "I only asked for this."',
  BOR, L='Dunmore mill', N=f'{TESS}; {BOR}; Young Harl; Old Harl', X='brass locket:@>Old Harl', paid='locket', settled=('swore to Old Harl', ('kept', 'fulfilled', 'done', 'returned', 'gave', 'brought it')), R='Old Harl>@:devoted+2', mood='joyful',
  n='The Ranger gave the brass locket to Old Harl; that oath is kept. Young Harl is home.'),
CONT('He hung it round the sleeping boy\'s neck, very carefully, the way one puts a bell on something that has been lost once.', by=BOR, X='brass locket:Old Harl>Young Harl', mood='joyful', n='Old Harl hung the locket round Young Harl\'s neck.', me='the Ranger', say=CALL,
     raw={'location': 'Dunmore mill', 'items_gained': 'none', 'items_lost': 'none'}),
t('"Come on, you two. There is a landlady I shook hands with."',
  'Both Harls stay by their fire. The Eel is packed and oddly hushed. "They pulled the Reeve out of the millpond an hour ago," says Marra across the bar. "Crane. Dead as mutton, and his pockets full of gold that nobody knew he had. He must have seen something on the road and run." Tess stares into her beer. "A little old lady, perhaps," she says. Borrick makes the sign of the Anvil, and orders pie.',
  TESS, L='the Gilded Eel', N=f'{TESS}; {BOR}; Marra Quist', S='Old Harl; Young Harl', C='Aldous Crane=dead', mood='hushed', n='Reeve Crane drowned in the millpond, his pockets full of gold.'),
t('"And this is for the mule that we no longer have." *I count it out for Marra.*',
  'Five coins, one after the other; seventy-nine are left. Marra does not bite any of them this time. "The day you came back," she says. "I would have lost a bet on that." She chalks something off a slate, and, after a look at Tess and a sigh, chalks off the window as well. "That one is on the house. Do not tell anyone that I am going soft." The whole bar has heard it.',
  BOR, N=f'{TESS}; {BOR}; Marra Quist', O='gold piece x5', paid='stable', settled=('five gold', ('paid', 'settled', 'cleared')), R='Marra Quist>@:fond+2', mood='merry', n='The Ranger paid Marra Quist for the stabling; the debt of five gold is settled. 79 gold left.', raw={'location': 'the Eel'}),
t('"Thirds. Twenty-six each, and I keep the odd one. Captain Vane gets nothing."',
  'You deal the coins like cards. Tess builds hers into a tower; Borrick\'s vanish, twenty-six at one go, into a sock. That leaves you twenty-seven and a clear conscience, more or less. The priest clears his throat. "I will say my evening prayer now," he says, as on every evening, "for the one who lit the fire, whoever it may be." Under the table Tess gets hold of your hand and squeezes until the bones creak.',
  TESS, N=f'{TESS}; {BOR}; Marra Quist', X=f'gold piece x26:@>{TESS}; gold piece x26:@>{BOR}', R=f'{TESS}>@:needing+1', mood='heavy', n='The gold is split; the Ranger keeps 27.'),
g('He prayed as he always did, gruffly and without ornament, and when he had done he did not put his helmet on again. "I had a thought, at the bottom of that water," said Borrick into the fire. "With the lad on my back. I thought that a child is a small thing to have been so angry with." He did not look at anyone in particular. Marra refilled his mug without being asked. The tower of coins in front of Tess fell over.',
  BOR, N=f'{TESS}; {BOR}; Marra Quist', R=f'{BOR}>{TESS}:forgiving+2', mood='tender', n='Brother Borrick spoke of children and forgiveness.'),
t('I squeeze back. Not my tale to tell. "Another round, Marra. On the Ranger."',
  'Three more of your coins cross the bar, and twenty-four are left. Tess wipes her face with her sleeve, reaches for the lute, and notices something stuck behind the bridge: a new string, coiled, wrapped in a scrap of grey lace. She shows it to you and to nobody else. Then she strings it, tunes it, and for once in her life plays something slow. Outside it has stopped raining.',
  TESS, N=f'{TESS}; {BOR}; Marra Quist', O='gold piece x3', R=f'{TESS}>@:devoted+1', mood='peaceful', n='24 gold left. Vysserane left Tess a new lute string.', say={'Vysserane': 'Vysserane'}),
]
