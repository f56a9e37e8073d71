"""EN dungeon crawl in the second person: a prison under a prison, two kobold brothers with one name, a purse that is counted coin by coin.
Habits of the narrator: a game-master's ledger. Counts stand in front and in the plural (3 torches), the trade of a person in brackets (Marrow (gnoll ranger)),
places with their depth, the HP total beside the change, stock-takings in the notes; the persona is Player or you."""
from form import *
PLAY = dict(id='6-undercellar', char='The Keeper', user='Wren Tolliver', hp=True, unique=['rusty key', "Warden's key", 'tin medal', 'bone whistle', 'bullseye lantern', 'shortbow', 'iron crown'],
    card='The Keeper runs the Undercellar, the old prison beneath the prison of Harrowgate, for one delver: {{user}}, who is addressed as "you" and entered in the ledger as Player. Light, food and arrows are counted. '
         'The party: Marrow, a gnoll ranger who laughs at the wrong things; Ilse Kantor, a cleric of the Lamp, whom everybody calls Sister Ilse. Below live the kobold brothers Big Nik and Little Nik, who must never be confused '
         '(they bite), and the goblin trader Mother Sump. Warden Oskar Voss has been at his post for a hundred years, which is sixty longer than he lived.',
    persona='Wren Tolliver, 22, debt-prisoner turned delver. Good with a bow, bad with heights. Counts everything twice.',
    greeting='*The last honest daylight lies on the top step like a dropped coin. Below it there are four hundred more. Somebody has scratched into the wall: COUNT YOUR TORCHES.*',
    me=['Wren', 'Player', 'Tolliver'], two=['Big Nik', 'Little Nik'],
    forms={'Marrow': ['Marrow (gnoll ranger)', 'Marrow the gnoll'], 'Ilse Kantor': ['Sister Ilse', 'Ilse', 'Ilse (cleric)', 'Sister Ilse (cleric)'], 'Big Nik': ['Big Nik (kobold)'], 'Little Nik': ['Little Nik (kobold)'],
           'Mother Sump': ['Mother Sump (trader)', 'Sump'], 'Oskar Voss': ['Warden Voss', 'Warden Oskar Voss', 'Voss', 'the Warden', 'Warden Voss (wight)'],
           'Stairhead Camp': ['Depth 0: Stairhead Camp'], 'Guardroom': ['Depth 1: Guardroom'], 'Broken Stair': ['Depth 1: Broken Stair'], 'Flooded Gallery': ['Depth 2: Flooded Gallery'], 'Fungus Garden': ['Depth 2: Fungus Garden'],
           'Goblin Market': ['Depth 3: Goblin Market'], 'Bone Chapel': ['Depth 3: Bone Chapel'], 'Cell Row': ['Depth 4: Cell Row'], 'Lower Vault': ['Depth 5: Lower Vault'],
           'torch': ['torches'], 'ration': ['rations'], 'arrow': ['arrows'], 'silver coin': ['silver coins', 'silver'], 'glowcap': ['glowcaps'], 'healing draught': ['healing draughts'], 'rope half': ['rope halves', 'half of the rope', 'half rope'],
           'coil of rope': ['rope']})
OPS = [
T('I check the packs before we go down. Twice.',
  'Six torches, tarred and dry. Eight rations, if you call oatcake a ration. Twelve arrows, the shortbow, and a coil of rope that smells of the ship it was stolen from. All of it is yours to carry, since you have the straightest back. Marrow, the gnoll, watches you count and yips with laughter at nothing. Sister Ilse trims her little lamp. "The Light keeps those who keep accounts," she says, and makes the sign over your pack.',
  L='Stairhead Camp', N='Marrow; Ilse Kantor', G='torch x6; ration x8; arrow x12; shortbow; coil of rope', R='Marrow>@:gruff+1; Ilse Kantor>@:kindly+1', mood='steady', n='Start of the delve. Torches 6, rations 8, arrows 12.', me='Player'),
T('"Breakfast first. What do you want out of this, Marrow?"',
  'You share out three rations, one apiece, and five go back into the oilcloth. Marrow swallows hers whole. "Sister wants a bell for her chapel. You want your debt burned. Me?" She licks oat from her whiskers. "Half of the first chest. Not a third. Half." It is robbery; she is also the only one of you who can smell a trap through stone. You spit in your palm and shake a paw like a warm brick. "Half of the first chest," you promise.',
  O='ration x3', R='Marrow>@:comradely+1', mood='bantering', n='Player promised Marrow half of the first chest. Rations 5.', debt=('half', ('half of the first chest',), 'Marrow'), me='Player'),
T('Down we go. I take the front with a torch in one hand and regret that I need two for the bow.',
  'The torch lasts exactly as far as the Guardroom, where two skeletons are still playing dice with their own knuckles. You drop the brand and shoot. Three arrows: the first goes through ribs and finds nothing to hurt, the second takes off a jaw, the third a head. The other one opens your forearm with a hooked bill before Marrow folds it up and puts it under the table. Sister Ilse has not even had time to raise her lamp.',
  L='Guardroom', N='Marrow; Ilse Kantor', O='torch; arrow x3', hp=-6, mood='quick', n='Two skeletons destroyed. Torches 5, arrows 9.', me='you'),
T('"Pockets," I say, and go through the bones. And my arrows back, please.',
  'Two of the three arrows are good; the third has gone to splinters in a spine. Eleven, then. Under the dice there is a drawer, and in the drawer fourteen silver coins with the head of a king nobody prays to any more, and one rusty key as long as your hand. The bow of the key is worn to a shape. A shield? A spade? It comes off on your thumb as red dust.',
  G='arrow x2; silver coin x14; rusty key', mood='greedy', n='Arrows 11, silver 14. A rusty key of unknown use.', me='Player'),
T('I count four silver into Marrow\'s paw. "On account. Not the chest, so do not start. Sister?"',
  'Marrow bites each coin and finds four to her taste; ten stay with you. Sister Ilse shakes her head at the money, and then, shyly, unpins something from inside her collar. "My mother wore it down here. She was a guard\'s daughter." It is a tin medal, an open eye over a lamp, thin as a leaf. She fastens it on your jerkin herself. "It does not do anything. I would only like to see it go in front of me."',
  X='silver coin x4:@>Marrow; tin medal:Ilse Kantor>@', R='Ilse Kantor>@:trusting+1', mood='gentle', n='Silver 10. Player wears the tin medal of Sister Ilse\'s mother.', me='Player',
  before=[W('Marrow looks at the four coins, and then at your throat. "On account," she repeats. It happens too fast to be a quarrel: the knife is under your ear, the purse is off your belt, and she is through the far door, laughing, laughing. Sister Ilse holds the cut shut with both hands. "She was never one of us," the cleric says. "Let the dark have her."',
            O='silver coin x14', S='Marrow', hp=-22, R='Marrow>@:treacherous-4', n='Marrow cut Player\'s throat shallowly and fled with the purse.', mood='betrayed', me='Player', lies=['treacherous', 'shallowly'])]),
T('Onward. What is that draught?',
  'It comes from where the stair used to be. For twenty feet there is only the idea of steps, and below it a sound of water thinking. You are bad with heights; you look anyway. Marrow squints across. "Rope is too short to go over and come back. Cut it. One half for the going, one for the returning." So you saw the coil in two on the edge of a flagstone, and have two halves, each of which looks shorter than half.',
  L='Broken Stair', N='Marrow; Ilse Kantor', O='coil of rope', G='rope half x2', mood='vertiginous', n='The rope was cut into two halves. A chasm where the stair was.', me='you'),
T('I throw Marrow one half and shut my eyes. "You first. You have claws."',
  'She ties the one half round her middle and keeps it; it has gnoll all over it now, she says, no one else would want it. Then she jumps, swings, swears, and hauls. The Sister crosses with her eyes on Heaven. You cross with yours closed, and the wall hits you in the shoulder like a bailiff. The remaining half is still on your back. On the far ledge somebody is patting your head, and it had better be Ilse.',
  X='rope half:@>Marrow', hp=-4, mood='dizzy', n='All three crossed. Marrow keeps one rope half, Player the other.', me='Player'),
T('"Never again. Is that water? Of course it is water."',
  'The Flooded Gallery is waist deep and cold as a verdict. Halfway along something without eyes bumps your hip, takes an interest, and you go under. When Marrow fishes you out by the hood, two of the torches are pulp. You squeeze them, as if that helped, and let them float away. That leaves three. Sister Ilse holds her lamp high; in its circle the water is perfectly smooth again, and much too near.',
  L='Flooded Gallery', N='Marrow; Ilse Kantor', O='torch x2', mood='clammy', n='Two torches ruined. Torches 3.', me='you'),
T('"Run for the arch! Now!"',
  'You run. The portcullis comes down with a century of rust behind it. Marrow is through, you are through, and Sister Ilse is a lamp on the wrong side of the bars, growing smaller, for the water is pulling her back along the gallery. "I will find another way!" she calls. "Keep it in front of me!" And then round a corner, and dark. You light a torch with hands that do not obey; two left. Around you, quite silently, a garden of mushrooms begins to glow.',
  L='Fungus Garden', N='Marrow', gone='Ilse Kantor', O='torch', mood='frantic', n='Sister Ilse was cut off behind the portcullis. Torches 2.', me='Player'),
T('I pull until my palms are skinned, then I lean on the bars and count. One gnoll. One me. Nine of these things by my boot that look edible.',
  '"Glowcaps," says Marrow. "Eat the blue, never the white." You pick the nine, all blue. She, sniffing ahead, puts her boot in a white one the size of a cushion, and it sighs a cloud straight up her muzzle. The laugh that comes out of her goes on and on. There is foam in it. She sits down among the stalks with great care and cannot get up; what you breathed of it burns all the way down.',
  G='glowcap x9', C='Marrow=poisoned', hp=-8, mood='alarmed', n='Marrow breathed white spores. Glowcaps 9.', me='Player'),
T('"Blue against white? Sister said like cures like. Open your mouth, you great dog."',
  'You chew the first to a paste, since she cannot, and push it in past teeth as long as your fingers. Then a second. After the third she gags, brings up something grey, and looks at you with both eyes at once. "Tastes like your cooking," says Marrow. She is well again, though she leans on the wall and is polite for nearly an hour. Six glowcaps are left; they shine through the cloth of your pocket like a small, bad conscience.',
  O='glowcap x3', C='Marrow=healed', R='Marrow>@:grateful+2', mood='relieved', n='Three glowcaps cured Marrow. Glowcaps 6.', me='you'),
T('Something is following us. I stop, break an oatcake so that it can be heard, and lay it on a stone.',
  'The stone grows a hand. Behind the hand there is a kobold no taller than a bucket, in a waistcoat. "Little Nik," he says with his mouth full. "Not Big Nik. Big Nik would have eaten the dog." In the end two rations go into him and three remain to you. He considers the matter of payment, blushing green, and takes from around his neck a bone whistle. "If lost, blow. If found, do not blow. I lead you to market. Mother Sump knows where water puts people."',
  N='Little Nik', X='ration x2:@>Little Nik; bone whistle:Little Nik>@', R='Little Nik>@:hopeful+1', mood='odd', n='Little Nik will lead them to the Goblin Market. Rations 3.', me='Player'),
T('"Lead on, Little Nik."',
  'Marrow stalks behind with her hackles up, and the kobold trots in front. The Goblin Market is a cistern hung with a thousand stolen spoons, and every spoon holds a wick. Under the largest umbrella in the world sits Mother Sump, who has no neck and three purses. Beside her another kobold, twice the size of the first and with the same waistcoat, cracks a beetle. "Big Nik," says Little Nik, very low. "My brother. Count your fingers."',
  L='Goblin Market', N='Marrow; Little Nik; Big Nik; Mother Sump', R='Big Nik>Little Nik:brother+1; Mother Sump>@:calculating-1', mood='glittering', n='Mother Sump trades here. Big Nik and Little Nik are brothers.', me='you',
  after=[W('There is no market. There are spoons on the floor, thousands of them, and a smell of frying; the umbrella lies inside out. In the middle sits a cockatrice on a heap of goblin statues, and one of the statues is Little Nik, whom it has just looked at. You see your own boots go grey.',
           L='Goblin Market', N='Marrow', C='Little Nik=petrified', hp=-15, n='A cockatrice has turned the market to stone.', mood='stony', me='you', lies=['cockatrice', 'petrified'])]),
T('"Four torches, and whatever you have that closes holes. I pay in dead kings."',
  'She weighs the coins on her tongue. Six silver go under the umbrella and do not return: you have four left, and for them you get four torches of honest pitch, six in all, and two healing draughts in bottles shaped like fish. "Water puts people in Cell Row," says Mother Sump. "It always did. That was the point of the water." Marrow has her nose in a barrel. Both brothers are pretending to watch each other.',
  O='silver coin x6', G='torch x4; healing draught x2', mood='bargaining', n='The flood carries people to Cell Row on depth 4. Silver 4, torches 6, draughts 2.', me='Player'),
EDIT(1, 'Marrow has her nose in a barrel.', 'Marrow has her nose in a barrel of eels.'),
T('I show her the rusty key. "And this?"',
  'She spits on it, and rubs it with the hem of her third skirt, and the shape comes up out of the rust: neither shield nor spade but an eye above a lamp. "Oh, my soup," says Mother Sump. It is the Warden\'s key, no less; it opens every door that he still locks. She gives it back rather quickly. "For going where that goes you want better than pitch." A bullseye lantern, brass, with oil for a week. You cannot pay. "Nine silver, when you come up," she says. "You look the sort that comes up." You promise it.',
  O='rusty key', G="Warden's key; bullseye lantern", R='Mother Sump>@:intrigued+1', mood='ominous', n='The rusty key is the Warden\'s key. Player owes Mother Sump nine silver for the lantern.', debt=('sump', ('nine silver',), 'Mother Sump'), me='Player'),
DROP('I put the key in my mouth and swallow it. Nobody steals it now.',
  'It goes down like a staircase. Mother Sump applauds; Marrow weeps with laughter; and then the key turns. You feel it, below your ribs, a quarter to the left, and something in you that has always been shut swings open upon a corridor lined with violet doors.',
  O="Warden's key", hp=-20, C='@=unlocked', n='Player swallowed the Warden\'s key and is unlocked.', mood='uncanny', me='Player', lies=['violet', 'swallowed']),
T('"A game, Big Nik. Two silver says that you cannot stay honest for three throws."',
  'He is honest for two. On the third a die goes up his sleeve and comes down as a six, and your two silver go with it; two are left you. But a winner talks. "The bars upstairs have a sluice," says Big Nik, rattling the coins. "A strong dog could turn it from the back. I show the dog, for fun." Marrow puts her ears flat, and looks at you, and nods. "I do the water. You do the cells. We meet here." Little Nik slips his claw into your hand.',
  X='silver coin x2:@>Big Nik', R='Big Nik>@:scornful-1', mood='wary', n='Plan: Marrow and Big Nik open the sluice, Player and Little Nik go by Cell Row; all meet again at the Goblin Market. Silver 2.', me='you'),
T('"Do not laugh at anything important," I tell Marrow. Then it is the lantern, the small kobold and me.',
  'The gnoll and Big Nik go off up a drain, bickering. Your way leads through the Bone Chapel: pews of femurs, a pulpit of backs, and at the altar, in a rotten blue coat with all of its buttons, a tall thing taking a roll-call. "One hundred and eight," it says. "One hundred and nine?" It turns. Under the iron crown there is almost a face. Little Nik has gone behind your knees. "Warden Voss," he breathes. "Do not answer to your number."',
  L='Bone Chapel', N='Little Nik; Oskar Voss', gone='Marrow; Big Nik; Mother Sump', S='Marrow; Big Nik; Mother Sump', mood='dread', n='Warden Voss, a wight in an iron crown, calls the roll in the Bone Chapel.', me='Player'),
T('I do not answer. I shoot.',
  'Four arrows; seven stay in the quiver. Each hits, and he counts each of them aloud. Then he lays one hand upon your chest, not hard, as one shuts a drawer. The cold of it throws you the length of the nave. But the palm has come down on the tin medal, and he looks at his own hand as though it had spoken to him. "Kantor," says the Warden slowly. He walks backward through his own altar and is gone.',
  O='arrow x4', S='Oskar Voss', hp=-18, E='Warden Voss fled from the tin medal', R='Oskar Voss>@:bewildered-1', mood='icy', n='The Warden knew the tin medal and said the name Kantor. Arrows 7.', me='you'),
CONT('When you can crawl, you crawl, and feel about under the pews. One arrow is whole. Eight. "You count in your sleep too?" asks Little Nik.', G='arrow', mood='shaky', n='One arrow recovered. Arrows 8.', me='you'),
T('I drink one of the fish.',
  'It tastes of pond and pennies, and it works from the feet upward; your heart, which had been trying to leave, sits down again. One draught remains. Little Nik has wiped your bow with his waistcoat, which was not the cleaner of the two. "Why did he stop?" he asks. "He never stops. He did not stop for Mama." You turn the medal to the lantern, and the tin eye looks back at you, thin as a leaf.',
  O='healing draught', hp=20, R='Little Nik>@:devoted+1', mood='thoughtful', n='Draughts 1. The Warden killed the mother of the two Niks.', me='Player'),
BRANCH(5,
  T('"Then keep your umbrella dry, Mother. Marrow? What have you smelled?"', 'She has smelled a pie. She has, in fact, eaten a pie, and the pie belonged to an ogre named Hubert, who is now standing up. It takes some time. "One of you works it off in my kitchen," says Hubert. "The one who tastes less." Everyone looks at you.',
    N='Hubert', R='Hubert>@:hungry-1', n='Hubert the ogre wants Player as a kitchen hand.', mood='farcical', me='Player', lies=['Hubert', 'ogre']),
  T('"I make a very good gravy," I say, and follow him.', 'The kitchen lies behind the eel barrels: a copper the size of a chapel, and in it, simmering, turnips. Only turnips. You are so relieved that you laugh. Marrow and the brothers stayed with Mother Sump. Hubert hands you a saffron apron. "Stir," he says.',
    L="Hubert's kitchen", N='Hubert', G='saffron apron', S='Marrow; Big Nik; Little Nik; Mother Sump', n='Player stirs turnips for Hubert.', mood='steamy', me='you', lies=['saffron', 'turnip']),
  spoil=['bullseye', 'Bone Chapel', 'iron crown']),
T('Down to the cells. Slowly. Lantern half shut.',
  'Cell Row is long and it drips. At the nineteenth grating a light the size of a grain of rice says, "Twelve, thirteen, oh, do be a person." Sister Ilse is sitting on a stone bench with her feet drawn up out of the wet, holding one wrist in the other hand. The wrist has a corner in it. The Warden\'s key goes round in the lock as if it had been greeted. She does not cry until she sees what you have on your jerkin, still in front of her.',
  L='Cell Row', N='Little Nik; Ilse Kantor', C='Ilse Kantor=broken wrist', R='Ilse Kantor>@:thankful+1', mood='tender', n='Sister Ilse was found in Cell Row.', me='Player'),
T('"Drink. No, all of it. I had mine." I hold the bottle, she has only the one hand.',
  'The last draught goes down in three swallows, and with a click that turns your stomach the corner goes out of her wrist. She flexes it and blesses the fish. Little Nik, presented to her, bows so low that he falls over. "Kantor?" she says, when you tell her of the chapel. "It was my mother\'s name, and her father\'s. He was a turnkey here, the legend goes, and let a whole row out one night, and was walled in." She looks along the row. Every other door is standing open.',
  O='healing draught', C='Ilse Kantor=healed', R='Ilse Kantor>Little Nik:charmed+1', mood='hushed', n='Sister Ilse\'s grandfather was a turnkey who set a whole row free. No draughts left.', me='you'),
T('I lay out what there is. Three of us, three oatcakes; it comes out so neatly that I am suspicious.',
  'Nobody reaches for one. It is a bad thing to be the person who empties a bag. Sister Ilse says grace over them all the same, and Little Nik says something in Kobold that is longer and has more teeth. Somewhere above you a great iron thing begins to groan, link by link. The water at the end of the row drops an inch, then a foot, and goes out with a gulp. "The dog did it," says Little Nik. "And Big Nik helped. He will want that told."', bad='\n\n```state\nlocation: Depth 4: Cell Row\nlocation_moved: false\nhp_change: 0 (HP 84/100)\nitems_gained: []\nnpc_met: [Little Ni'),
T('I put all three away again. "Back to market, then."',
  'At the Goblin Market half of the spoons are out. Marrow sits alone beneath the umbrella with her head wrapped in somebody\'s tablecloth, and for once she is not laughing. "Chain broke," she says. "It took my ear. It took him whole." Big Nik is dead; the wheel rolled over him when the water went. Mother Sump has put his beetle box on the counter. Sister Ilse kneels down to be of a height with Little Nik, who has not made a sound.',
  L='Goblin Market', N='Marrow; Mother Sump; Ilse Kantor; Little Nik', C='Big Nik=dead; Marrow=lost an ear', mood='grieving', n='Big Nik was crushed at the sluice wheel and is dead. Rations 3.', me='Player'),
T('I sit down by him. I give him the whistle back. "If lost, blow."',
  'He takes the bone whistle in both claws and he blows. It has no note that you can hear, but all over the cistern kobolds stand up, from under tables, out of jars, dozens of them, and each puts a hand to the throat and bows. Then they sit down. "So that he knows the way," says Little Nik. He hangs it around his neck. Marrow has taken hold of his tail, quite gently, like somebody holding on to a rail.',
  X='bone whistle:@>Little Nik', R='Little Nik>@:family+2', mood='solemn', n='Little Nik blew the bone whistle for Big Nik.', me='you'),
T('"The Warden still has your mother to answer for. And your brother. Show us the vault."',
  'Mother Sump will not come below her own floor; the rest of you go, the gnoll and the cleric and the kobold, down a stair so even that you distrust it. The Lower Vault has one door, and it knows your key. Inside stands one chest. Marrow sniffs the hinges for traps, all round, twice, and thumps her tail. Sixty silver coins lie in it, new as rain: sixty-two with yours. On top of them lies a handbell, green with age, its clapper wrapped in a rag.',
  L='Lower Vault', N='Marrow; Ilse Kantor; Little Nik', gone='Mother Sump', S='Mother Sump', G='silver coin x60; green handbell', mood='awed', n='The first chest: sixty silver and a green handbell. Silver 62.', me='Player'),
T('"Sister, I think that this is what you came for." I hand her the bell. "Do not ring it yet."',
  'She had no mind to. She unwinds the rag, and it is a strip of blue coat with one button on. "Thank you for your custody of it," says a voice like a drawer. The Warden is between you and the door, with his crown on and his list in his hand. "Four hundred and four. Four hundred and five. Kantor." Little Nik has bared every tooth that he owns. Marrow is laughing again, but quietly.',
  N='Oskar Voss', X='green handbell:@>Ilse Kantor', mood='trapped', n='Warden Voss has cornered the party in the Lower Vault.', me='you'),
T('Five arrows, as fast as I can draw. "Ring it NOW, Ilse!"',
  'You shoot him in the list. Five arrows, and three left, and each of them nails a page to his breast; he tears at them to read what they have covered, and that is why he does not mind the girl with the bell. He hits you, in passing, so that the wall rings too. Then the bell does. It is the bell for opening. Up and down the Undercellar every lock lets go. "All present," says the Warden, astonished, and there is nothing in the coat. The iron crown rolls to your foot, and you pick it up before anybody can try it on.',
  O='arrow x5', hp=-30, C='Oskar Voss=dead', G='iron crown', E='The Warden was laid to rest', mood='triumphant', n='The bell laid Warden Voss to rest. Arrows 3.', me='Player',
  before=[W('The bell cracks. With the crack goes the vault, ceiling and floor, and you fall with forty tons of masonry into a sea that nobody has told you of, warm, lit from beneath, with sails upon it. When you come up, there is a captain leaning over a rail. "You are late," she says. "I am Captain Ondine. Get aboard."',
            L='Sunless Sea', N='Ondine', hp=-40, n='Captain Ondine fished Player from a warm sea under the vault.', mood='marine', me='you', lies=['Ondine', 'captain'])]),
T('I count it out on the lid, from the wall, where I am lying. "Thirty for you. Half."',
  'She makes two heaps of fifteen, and a tower of each, and knocks them down to hear it. "I said half," says Marrow, "and I never thought you would." That leaves you thirty-two, and a friend, which is not entered in the ledger. Sister Ilse binds your head with the rag that muffled the bell. Little Nik has tried on the Warden\'s coat; it comes down to the floor and goes on for a yard beyond it.',
  X='silver coin x30:@>Marrow', paid='half', settled=('half of the first chest', ('paid', 'kept', 'fulfilled', 'settled', 'done')), hp=5, R='Marrow>@:friend+2', mood='warm', n='Player paid Marrow her half of the first chest, 30 silver: promise kept. Silver 32.', me='Player'),
T('"Up, before anyone else calls my number. I owe somebody for a lantern."',
  'At the Goblin Market every spoon has been lit again. You lay nine silver on the counter one by one, and Mother Sump lays her tongue to each. Twenty-three are left. "Paid," she announces, so that the whole cistern may hear. "Paid, and up. I said so. I have an eye." Marrow buys eels. Ilse lets the little goblins look into the bell, two at a time, and Little Nik drags his coat about among the stalls like a bride.',
  L='Goblin Market', N='Mother Sump; Marrow; Ilse Kantor; Little Nik', X='silver coin x9:@>Mother Sump', paid='sump', settled=(('owes Mother Sump', 'nine silver for the lantern'), ('paid', 'settled')), R='Mother Sump>@:respectful+1', mood='festive', n='The debt to Mother Sump is paid: 9 silver. Silver 23.', me='you'),
T('"Mother, what would you give for a crown? I do not want it under my bed."',
  '"For that? I would not give it shelf room." She pokes it with a spoon all the same. It is Little Nik who puts up his claw. "For Big Nik," he says. "There is a place under the wheel. He always said that he was a king." So you give him the iron crown. He carries it away on his head, with both hands up to hold it, and none of you goes after him. Marrow blows her nose on the tablecloth.',
  X='iron crown:@>Little Nik', S='Little Nik', mood='bittersweet', n='Little Nik took the iron crown to lay it where Big Nik died.', me='Player'),
T('Four hundred steps. I count them. Marrow throws me across the gap; I scream the whole way.',
  'Daylight is lying where you left it. At Stairhead Camp the fire is cold, and a bird has had the crumbs. Marrow, Sister Ilse and you sit down in a row on the top step, blinking, three delvers with five arms\' worth of bandage. "Chapel," says Ilse, hugging her bell. "Pie," says Marrow. You unpin the tin medal. The Sister looks at it in your palm for a good while before she takes it. "It does do something, then," she says.',
  L='Stairhead Camp', N='Marrow; Ilse Kantor', gone='Mother Sump', S='Mother Sump', X='tin medal:@>Ilse Kantor', R='Ilse Kantor>@:love+1', mood='sunlit', n='All three came up alive. Sister Ilse has her mother\'s tin medal again.', me='you'),
T('I lay it all out on the step and take stock. "And a word for Big Nik, who cheated us honestly."',
  '"Big Nik," says Marrow, and drinks to him in cold tea. Then you count. Six torches, every one dry. Three oatcakes, three arrows, six glowcaps, half a rope. Twenty-three silver, which will burn a debt of twenty and buy three pies. One lantern, paid for. You go through it a second time, since you are you, and it comes out the same. "COUNT YOUR TORCHES", says the wall. Beneath it, with the Warden\'s key, you scratch: DONE.',
  hp=8, mood='content', n='Stock: torches 6, rations 3, arrows 3, glowcaps 6, silver 23.', me='Player'),
]

# ------------------------------------------------------------------ the ledger hand
MANY = {'torch': 'torches', 'rope half': 'rope halves'}
TRADE = {'Marrow': 'Marrow (gnoll ranger)', 'Ilse Kantor': 'Sister Ilse', 'Oskar Voss': 'Warden Voss'}
DEPTH = {p: f for p, (f, *_) in PLAY['forms'].items() if f.startswith('Depth')}
def ledger(p):
    name, n = count(p)
    return f'{n} {MANY.get(name, name + "s")}' if n > 1 else name
def habits(k, t):
    k['say'] = TRADE | DEPTH | k.get('say', {})
    if 'bad' in k: return fold(t, k)
    raw, after = k.setdefault('raw', {}), fold(t, k)
    who = lambda x: k['me'] if x == '@' else TRADE.get(x, x)
    for a, b in (('G', 'items_gained'), ('O', 'items_lost')):
        if k.get(a): raw.setdefault(b, '[' + ', '.join(map(ledger, parts(k[a]))) + ']')
    if k.get('X'): raw.setdefault('items_transferred', '[' + ', '.join('{item: %s, from: %s, to: %s}' % (ledger(i), who(a), who(b)) for i, a, b in transfers(k['X'])) + ']')
    if k.get('hp'): raw['hp_change'] = f"{k['hp']:+d} (HP {after['hp']}/100)"
    return after
T_ = [fresh()]
for op in OPS:
    if op['op'] in ('turn', 'continue'):
        for w in op.get('before', []) + op.get('after', []): habits(w['facts'], T_[-1])
        t = habits(op['facts'], T_[-1])
        if op['op'] == 'continue': T_[-1] = t
        elif not op.get('dropped'): T_.append(t)
    elif op['op'] == 'branch':
        t = T_[len(T_) - op['back'] - 1]
        for x in op['turns']: t = habits(x['facts'], t)

def names(x):
    if isinstance(x, dict):
        if 'facts' in x:
            k = x['facts']; yield k.get('L') or ''
            for a in 'NSGO': yield from (count(i)[0] for i in parts(k.get(a, '')))
            for i, a, b in transfers(k.get('X', '')): yield from (count(i)[0], a, b)
            for a, b, *_ in relations(k.get('R', '')): yield from (a, b)
            yield from (a for a, _ in statuses(k.get('C', ''))); yield from k.get('say', {}).values()
        for v in x.values(): yield from names(v)
    elif isinstance(x, list):
        for v in x: yield from names(v)
PLAY['known'] = sorted({n for n in names(OPS) if n and n != '@'} | {f for v in PLAY['forms'].items() for f in [v[0], *v[1]]})
