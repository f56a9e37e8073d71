"""EN space opera, small and shabby: a salvage tug, her engineer, a stowaway, a captain who is lost and found.
Habits of the narrator: counts in front ("3x isotope cell"), "none" for nothing, ranks and short names in turn ("Cap", "Captain Oyelaran"), the player is "Chief", "you" or "the engineer".
On a move it lists only whom you meet there and forgets who came along; the place is repeated when nobody moves. One block breaks off."""
from form import *
PLAY = dict(id='2-secondhelping', char='Captain Oyelaran', user='Wren Achterberg', hp=True, unique=["bosun's whistle", 'chart chip', 'logbook', 'long spanner', 'cable reel', 'knitted cap'],
    card='Captain Ysolde Oyelaran, 58, owns two thirds of the salvage tug Second Helping and all of her debts. Large, unhurried, sings in the shower. Everybody aboard says Cap. She calls {{user}} "Chief". '
         'The crew: Dov Marsh, pilot, twenty-six, vain about his hands; Dr Hanne Sorley, ship\'s doctor, known as Doc; Magpie, the mind that runs the ship and speaks out of the ceiling. '
         'Dov does not talk about his mother, Commander Edda Marsh of the Revenue Fleet. Use short names for friends and ranks for everyone else.',
    persona='Wren Achterberg, 37, engineer of the Second Helping. Short, stained, hums at machines. Nobody has called her anything but Chief for six years.',
    greeting='*The galley of the Second Helping, 0540 ship\'s time. The kettle is held together with tape.* "Chief," *says the captain, not looking up from the bills,* "tell me that noise is normal."',
    me=['Chief', 'the Chief', 'the engineer', 'Wren', 'Achterberg', 'Chief Achterberg'], two=['Dov Marsh', 'Commander Marsh'], disguised=['Pip'],
    forms={'Captain Oyelaran': ['Cap', 'Captain', 'the Captain', 'Ysolde Oyelaran', 'Captain Ysolde Oyelaran', 'Ysolde', 'Oyelaran'],
           'Dov Marsh': ['Dov', 'Pilot Dov Marsh'], 'Commander Marsh': ['Commander Edda Marsh', 'Edda Marsh', 'Cmdr Marsh', 'the Commander', 'Commander'],
           'Hanne Sorley': ['Doc', 'Doc Sorley', 'Dr Sorley', 'Dr Hanne Sorley', 'the Doc', 'Hanne'], 'Magpie': ['the ship', 'Magpie (ship AI)'],
           'Pip': ['stowaway', 'the stowaway', 'a stowaway'], 'Tolly': ['Old Tolly', 'Tolliver', 'Tolliver Brand'], 'Bettany': ['Bettany Brand'],
           'credits': ['credit'], 'galley': ['the galley'], 'engine room': ['the engine room'], 'cargo hold': ['the cargo hold'], 'bridge': ['the bridge'], 'med bay': ['the med bay'],
           "Tolly's chandlery": ['the chandlery', 'chandlery', "Tolly's chandlery, Candle Station"], 'wreck of the Perpetua': ['the wreck of the Perpetua', 'the Perpetua', 'Perpetua'], 'Lantern': ['Lantern Colony']})
OPS = [
T('I drop into my seat and pour tea the colour of rust. "That noise is a bearing asking for a pension, Cap."',
  'Captain Oyelaran turns a bill over, hoping that the other side is kinder. It is not. Across from her Doc Sorley is eating toast over a medical journal, in a dressing gown with burn holes. "It woke me," says the doctor. "I dreamed that I was being sawn." Cap slides the jam your way, which on this ship is as good as an order. "Fix it before Candle Station, Chief. I cannot pay for a tow."',
  L='galley', N='Captain Oyelaran; Hanne Sorley', R='Captain Oyelaran>@:reliance+1', mood='homely', n='The Second Helping is bound for Candle Station; the bearing knocks.', me='Chief', say={'Captain Oyelaran': 'Captain Oyelaran', 'Hanne Sorley': 'Doc Sorley'}),
T('Toast in my teeth, I go aft to see who is bleeding.',
  'You leave the two of them to the bills. The engine room hums a semitone flat. On your stool, with his boots on your bench, sits Dov Marsh, filing his nails. "It is warm here," he says. "The bridge has a draught and a conscience." You throw open the parts locker, where the good fuses are hidden behind the bad ones, and take all four. Dov lifts his boots exactly as far as he must.',
  L='engine room', N='Dov Marsh', gone='Captain Oyelaran; Hanne Sorley', G='fuse x4', R='Dov Marsh>@:teasing+1', mood='cheeky', n='Took four fuses from the locker.', me='you', say={'Dov Marsh': 'Dov'}),
T('"Hold the lamp, pretty boy." I swap the burnt fuse and listen.',
  'One fuse goes in, and the note climbs half the semitone. "Warmer," says the ceiling. Dov jumps; he always does. "Good morning, Magpie," you say. The ship\'s voice is a dry contralto with a crackle at the edges. "It is the third bearing, counting from spinward. I would have told the pilot, but he was busy with his cuticles." You reach for the long spanner that hangs there on its hook, and keep it.',
  N='Magpie', O='fuse', G='long spanner', mood='brisk', n='Three fuses left. Magpie found the third bearing at fault.', me='the engineer'),
T('"Off to the bridge with you, Dov, before we hit something expensive."',
  'He goes, whistling, and the hatch sighs shut. For a while there is only the bearing. "You can stop watching the door," says Magpie. "He has never counted my sentences." A regulation mind speaks when it is spoken to. Since last winter, when you cut the governor out of her with a soldering iron and Cap held the torch, she has spoken when she likes. "They melt minds like me," she remarks. "I would rather not be melted."',
  S='Dov Marsh', R='Magpie>@:gratitude+2', mood='confiding', n='Secret, known only to Wren, the Captain and Magpie herself: Magpie\'s governor was cut out last winter; she is unshackled.', me='Chief', say={'Dov Marsh': 'Dov'},
  secret=(('unshackled', 'governor was cut'), ('only to Wren', 'only Wren', 'only you', 'known only', 'known to'))),
T('"Nobody melts anybody. What else do you hear?"',
  '"A heartbeat too many. Cargo hold, port side, behind the turnips." You take the spanner along. Behind the turnips, in a nest of packing felt, sits a child of ten or eleven with shorn hair and a fist round a plastic fork. "I can cook," says the stowaway at once. "I can also bite." A small chip on a bootlace glitters at the open neck of an adult\'s shirt.',
  L='cargo hold', N='Pip', mood='startled', n='A stowaway, a child, was hiding in the cargo hold.', me='you', say={'Pip': 'stowaway'}),
T('I sit down on a turnip crate so as not to loom. "I bite too. What do they call you, and where are you going?"',
  '"Pip." The fork sinks an inch. "To Lantern. My aunt has goats there. I walked on at the last port when your pilot was kissing the customs man." Pip studies you for a long while, down to the boots. "You have a face like a door that sticks. I think that is all right. Will you take me? Not maybe. Say it." You say it. The fork is put away, in case, in a sock.',
  N='Pip', R='Pip>@:trust+1', mood='tender', n='The stowaway is called Pip. Wren promised to take Pip to her aunt on Lantern.', me='Chief', debt=('lantern', ('Lantern',), 'Pip')),
T('I march her up to the bridge by the collar, gently. "Cap. We have grown a passenger."',
  'Captain Oyelaran looks at Pip. Pip looks at Captain Oyelaran. Dov, at the helm, looks at the customs stamp on his own wrist and turns pink. "Can it peel?" asks Cap. "Like lightning," says Pip. That settles it. The captain counts sixty credits out of the tin for stores, and then, with a grunt, lifts the bosun\'s whistle off her own neck and hangs it round yours. "If she runs about on my deck, you pipe her down, Chief."',
  L='bridge', N='Captain Oyelaran; Dov Marsh; Pip', G='credits x60', X="bosun's whistle:Captain Oyelaran>@", R='Captain Oyelaran>Pip:amusement+1', mood='warm', n='Pip may stay as kitchen hand. Cap gave Wren sixty credits for stores.', me='Chief', say={'Captain Oyelaran': 'Cap', 'Dov Marsh': 'Dov'},
  before=[W('Captain Oyelaran does not even turn round. "Articles of salvage, section nine," she says. "Undeclared mass." Dov unlocks the disposal hatch with one elegant finger. Somewhere a siren begins to wail, and the last you see of the child is a plastic fork, turning over and over against the stars.',
            L='bridge', N='Captain Oyelaran; Dov Marsh', C='Pip=dead', R='Captain Oyelaran>@:cruelty-3', mood='horrible', n='The captain threw Pip out of the disposal hatch.', me='Chief', say={'Captain Oyelaran': 'Cap', 'Dov Marsh': 'Dov'}, lies=['disposal hatch', 'cruelty'])]),
T('Candle Station, then. I take Pip along to the chandlery; she can carry.',
  'Cap and Dov stay aboard to argue with the harbour. Tolly\'s chandlery is a cave of rope and lamp oil under the docking ring, and Old Tolly himself hangs in the middle of it like a spider in a cardigan. "Chief! I dreamed of you, you owed me money." Pip fingers everything. You lay forty-five credits on the counter for a reel of best cable, which leaves fifteen, and Tolly weeps over each of them.',
  L="Tolly's chandlery", N='Tolly', gone='Captain Oyelaran; Dov Marsh', O='credits x45', G='cable reel', R='Tolly>@:haggling+1', mood='jolly', n='Bought a cable reel for 45 credits; 15 left. Pip came along.', me='you', say={'Tolly': 'Old Tolly'}),
T('"Isotope cells, Tolly. Three. And do not cry, it is bad for the rope."',
  '"Three, forty, and I am robbing myself." You turn out your pockets; you have promised the fifteen to the harbour. He looks at the whistle round your neck, at Pip, at the lamp. "Owe it to me," he says then, roughly. "Forty, next time you dock. I had a child that size once. She got tall and bossy and does my accounts." Three isotope cells, wrapped in wool, go into your bag. Pip has found a bell and rings it.',
  N='Tolly; Pip', G='isotope cell x3', R='Tolly>@:kindness+2', mood='moved', n='Wren owes Tolly forty credits for three isotope cells, due at the next docking.', me='Chief', debt=('tolly', ('forty',), 'Tolly')),
T('"Quiet, Pip. Somebody at the door."',
  'A woman in Revenue grey, straight as a ruled line, with Dov\'s cheekbones. "Commander Marsh," she says, as one states a charge. "I am looking for a girl. Eleven, shorn, wearing my shirt." The bell has stopped. Where Pip stood, a coil of rope is breathing very slightly. "Only this engineer," says Tolly, and blows his nose. "And she pays like a nun." The Commander\'s eyes rest on your hands for quite some time.',
  N='Commander Marsh', R='Commander Marsh>@:suspicion-1', mood='tense', n='Commander Marsh of the Revenue, Dov\'s mother, is looking for Pip.', me='the engineer', say={'Commander Marsh': 'Commander Marsh'}),
T('I wipe my nose on my sleeve and say nothing, as stupidly as I can.',
  'It is a gift, and you have it. The Commander leaves a card on the counter that nobody picks up, and her boots go away along the ring, one, two, one, two. The coil of rope sneezes. "It was her shirt or nothing," says Pip from inside it. "They had put me in a school with locks. I know something that I am not supposed to know." Tolly bolts the door, thinks, and pushes a barrel against it as well.',
  S='Commander Marsh', R='Tolly>Pip:protectiveness+2', mood='hushed', n='Pip fled from a school of the Revenue, and knows something.', me='Chief', say={'Tolly': 'Old Tolly'}),
T('Home by the maintenance crawl. I cut the cable reel into two lengths on my own bench.',
  'Tolly waves you off with his lamp. In the engine room Dov is asleep on your stool; he wakes when the cutter bites. One reel becomes two cable lengths, and the drum goes into the furnace. "I met your mother," you tell him. He looks at his fine hands. "Did she ask for me?" You have to say no. He holds the ends for you after that, without a single joke, until the clamps are tight.',
  L='engine room', N='Dov Marsh', gone='Tolly', S='Tolly', O='cable reel', G='cable length x2', R='Dov Marsh>Commander Marsh:estrangement-1', mood='rueful', n='The reel was cut into two cable lengths. Dov has not seen his mother for years.', me='you', say={'Dov Marsh': 'Dov', 'Tolly': 'Old Tolly'}),
CONT('Then you seat two of the isotope cells in the cradle, and the bearing, fed at last, begins to purr like a cat on a stove. "One cell to spare," you say, and wipe your hands.', O='isotope cell x2', mood='satisfied', n='Two isotope cells fitted, one to spare.', me='Chief'),
T('"Magpie, tell Cap that we can fly. And that we owe Tolly."',
  '"She heard. She says that there is a wreck four hours out, that a wreck pays, and that you should put on something airtight." Dov stretches and leaves for his helm. Magpie waits until the hatch has closed. "I do not like that wreck, Chief. It is calling, and it has no power to call with." She hums two bars of a tune which you do not know, and breaks off.',
  N='Magpie', S='Dov Marsh', mood='uneasy', n='Next: a wreck, four hours out, that calls without having power.', me='the engineer', say={'Captain Oyelaran': 'Cap', 'Dov Marsh': 'Dov'}),
T('Suit, lamp, spanner. I follow Cap and Doc across the gap.',
  'The wreck of the Perpetua turns like something on a spit. Dov keeps the tug beside it; Pip waves from a port. Inside, frost has written on every wall. Captain Oyelaran goes first, singing under her breath, the doctor last. In the purser\'s chair sits nobody, with a logbook open upon the knees that are not there. You shut it and put it in your chest pocket. "That was the last entry," whispers Doc Sorley. "Dated tomorrow."',
  L='wreck of the Perpetua', N='Captain Oyelaran; Hanne Sorley', G='logbook', mood='eerie', n='Aboard the Perpetua: her logbook is dated tomorrow.', me='Chief', say={'Captain Oyelaran': 'Captain Oyelaran', 'Hanne Sorley': 'Doc Sorley'}),
EDIT(1, 'with a logbook open', 'with a frost-white logbook open'),
T('"Cap? I would like to be elsewhere."',
  '"So would we all," says Captain Oyelaran, and pulls at the inner door of the strongroom. It has been waiting for that. There is no sound. The whole wall goes outward, and she goes with it, arms wide, a big white star among the small ones. You have her glove by two fingers, and then you have nothing. Something breaks against your visor. "Ysolde," says the doctor, quite calmly, and then not calmly at all.',
  C='Captain Oyelaran=dead', hp=-25, E='Captain Oyelaran was blown out of the Perpetua', mood='shock', n='The strongroom blew out; the captain is lost, taken for dead. Wren is hurt.', me='you', say={'Captain Oyelaran': 'Captain Ysolde Oyelaran'},
  after=[W('The strongroom swings open upon gold, rack after rack of it, glowing like butter. "Well," says Cap, and sits down on a stack. "There goes my character." She throws you an ingot, and then another one for luck.',
           G='gold ingot x2', R='Captain Oyelaran>@:generosity+2', mood='delighted', n='The strongroom of the Perpetua is full of gold ingots.', me='Chief', say={'Captain Oyelaran': 'Cap'}, lies=['ingot', 'generosity'])]),
T('I do not remember much of the way back.',
  'You remember a tether, and a voice counting. The med bay smells of cloves. Doc Sorley has cut the suit off you; her hands are steady and her face is wet, and she does not seem to know it. "Six ribs, one of them original," she says. "Drink this." It tastes of pennies. Beyond the curtain Pip is standing with her forehead against the bulkhead, not making any noise. "Dov quartered the sky for three hours," says the doctor. "There is nothing out there."',
  L='med bay', N='Hanne Sorley; Pip', hp=10, R='Hanne Sorley>@:sisterly+2', mood='grief', n='Doc patched Wren up. Dov searched three hours and found nothing.', me='Chief', say={'Hanne Sorley': 'Doc Sorley'}),
T('I call Pip over, and lift the whistle off my neck. "Somebody has to pipe the watch. Cap would want it done properly."',
  'She takes it in both hands, as if it were full to the brim. The first note is a squeak. The second goes through the ship from end to end, down the shafts, into the turnips, and you hear Dov\'s feet stop on the ladder. "Was that right?" asks Pip. "That was right," says Doc Sorley, and goes off to count the bandages, because she has counted them only twice.',
  X="bosun's whistle:@>Pip", R='Pip>@:devotion+2', mood='solemn', n='Wren gave Pip the whistle to pipe the watch.', me='the engineer', say={'Hanne Sorley': 'Doc'}),
DROP('I break out the rum and drink until I cannot see the curtain.',
  'On the third bottle Magpie vents the med bay for your own good. You wake up in the brig with a tattoo of a walrus and no boots, and Dov informs you, through the bars, that he has sold the tug to a circus.',
  L='brig', O='long spanner', R='Dov Marsh>@:contempt-3', n='Dov sold the tug to a circus; Wren is in the brig.', mood='absurd', me='Chief', say={'Dov Marsh': 'Dov'}, lies=['walrus', 'circus', 'contempt']),
T('"Help me up to the bridge, Doc. Dov should not be alone there."',
  'He is not touching the captain\'s chair; he flies standing beside it. The board shows a message, and he has not touched that either. "From Candle," says Dov. "Read it to me." It is from somebody called Bettany. Revenue men came back to the chandlery in the night. They broke the barrel, the door, and an old man with a lamp who would not step aside. He died at six this morning. "I am only telling those who owed him," it says.',
  L='bridge', N='Dov Marsh; Hanne Sorley', C='Tolly=dead', R='Dov Marsh>@:comradeship+1', mood='bleak', n='Tolly was killed by Revenue men at Candle Station. His daughter Bettany wrote; the forty credits are owed to her now.', me='you', say={'Dov Marsh': 'Dov', 'Hanne Sorley': 'Doc', 'Tolly': 'Old Tolly'}),
T('"Then we owe her. And them." I stare at the stars until they swim. "Magpie, what was that tune you hummed?"',
  'A silence. "I have been comparing it," says the ship. "It is what the Captain sings in the shower. The wreck was playing it before she ever set foot there." Dov\'s head comes round. "And it is playing still, Chief. Weakly. From eleven degrees below us, where there is no wreck." A single green dot is breathing on the screen. Doc Sorley has stopped counting.',
  N='Magpie', mood='hope', n='Magpie hears the captain\'s shower tune from eleven degrees below the ship.', me='Chief', say={'Hanne Sorley': 'Doc Sorley', 'Dov Marsh': 'Dov'}),
T('"Down, Dov! I am on the cargo winch!"',
  'The winch takes both cable lengths, spliced, and it smokes. What comes up through the doors of the hold is an escape pod older than the tug, furred with ice, PERPETUA on its nose. You hit the latch with the spanner till it gives. Inside, with blue lips and frost in her eyebrows, singing, sits Captain Oyelaran. "You took your time, Chief," she says. "I am on the second verse." The cable lies on the deck, burnt through.',
  L='cargo hold', N='Captain Oyelaran', C='Captain Oyelaran=alive', O='cable length x2', E='The captain was found alive in a pod of the Perpetua', mood='joy', n='Captain Oyelaran is alive: she had drifted into a pod. Both cable lengths burnt through.', me='Chief', say={'Captain Oyelaran': 'Captain Oyelaran'}),
T('I cannot find one word. "Your hands, Cap. Let me see your hands."',
  'They are white to the wrist and will not close. "Frostbite," says Doc Sorley, who has come down three ladders in a dressing gown. Behind her runs Pip, and stops, and holds out the whistle at arm\'s length on its cord. "I kept the watch," she says. The captain bends her big grey head so that it can be put on. "I heard you," says Cap. "Eleven degrees off, and I heard you. Turn up your thirds."',
  N='Hanne Sorley; Pip', X="bosun's whistle:Pip>Captain Oyelaran", C='Captain Oyelaran=frostbitten hands', R='Captain Oyelaran>Pip:affection+2', mood='tearful', n='The captain has frostbitten hands. Pip gave the whistle back to her.', me='you', say={'Captain Oyelaran': 'Cap', 'Hanne Sorley': 'Doc Sorley'}),
T('"There is bad news too. Tolly is dead, Cap. They killed him for hiding her."',
  'She hears it standing. After that she sits down on the turnips, slowly, like a building. "He sold me my first rope," says Captain Oyelaran. "It was rotten. I went back to shout and stayed for supper." Her dead fingers paw at the cord; the doctor has to help her. "No whistling with these. You wear it, Chief, till I can." For the third time in two days the thing lies warm and heavy on somebody\'s neck. Yours.',
  X="bosun's whistle:Captain Oyelaran>@", mood='mourning', n='The captain has learned of Tolly\'s death. Wren wears the whistle again.', me='Chief', say={'Captain Oyelaran': 'Captain Oyelaran', 'Tolly': 'Old Tolly'}),
T('I give Doc the last isotope cell for her warming tank. "Do what you do."',
  'The tank glows like a small sunrise. Cap lies in it up to the elbows, in the hold, among the vegetables, and swears in four languages while the feeling returns. By the end of the watch she can hold a spoon, by the end of the next she can throw it. "Cured," declares Doc Sorley, ducking. "I want that in writing, and I want her out of my tank." Pip has peeled a whole crate, out of nerves.',
  X='isotope cell:@>Hanne Sorley', C='Captain Oyelaran=healed', mood='relieved', n='Doc healed the captain\'s hands; the last isotope cell went into the warming tank.', me='the engineer', say={'Captain Oyelaran': 'Captain Oyelaran', 'Hanne Sorley': 'Doc Sorley'}),
T('"Pip. What is it that you are not supposed to know?"',
  'She looks to the captain, and the captain nods. Pip pulls the bootlace over her head and puts the chip in your palm, still warm. "It is a chart. The Revenue does not only tax wrecks. It makes them. There is a list of ships, and Perpetua is on it, and this one is the next but two. I copied it in the school, from the Commander\'s desk. I thought that someone ought to be told." Nobody peels anything for a while.',
  X='chart chip:Pip>@', E='Pip told what is on the chart chip', R='Pip>@:relief+1', mood='grave', n='The chart chip lists ships that the Revenue means to wreck; Second Helping is on it.', me='Chief', say={'Captain Oyelaran': 'Cap'}),
T('"Up. All of us. I want to hear Dov tell me that he did not know."',
  'He did not; it is written all over him. And there is no time to say so, because the airlock cycles by itself, and Commander Marsh walks on to the bridge with frost on her shoulders and one pistol, pointed nowhere in particular. "My shirt," she says to Pip. "My list. And my son, I see, driving a dustcart." Captain Oyelaran folds her new pink hands. "Tea?" says Cap.',
  L='bridge', N='Captain Oyelaran; Dov Marsh; Pip; Commander Marsh', gone='Hanne Sorley', R='Commander Marsh>Pip:possessiveness-1', mood='deadly polite', n='Commander Marsh boarded the tug with a pistol. Doc stayed in the hold.', me='you', say={'Captain Oyelaran': 'Captain Oyelaran', 'Dov Marsh': 'Dov', 'Commander Marsh': 'Commander Edda Marsh'}),
T('I put myself between the pistol and Pip, and keep my hand closed on the chip.',
  '"Mother," says Dov. It is the first time that you have heard his voice crack. "Did you do the Perpetua?" The Commander does not look at him. "I signed it. One signs a great deal." The pistol has found its direction now, and the direction is you. Somewhere over your head a relay clicks, very quietly, that ought not to click unless it is told to.',
  bad='\n\n```state\nlocation: bridge\nlocation_moved: false\nhp_change: 0\nitems_gained: [none'),
BRANCH(3,
  T('"Keep your chip, Pip. I do not want to know."', 'She nods as if she had expected it, and that is the worst of it. "Then I will tell the goats," says Pip. Captain Oyelaran opens her mouth and shuts it again. Doc Sorley hands you a jar of bitter marmalade from the shelf above the tank, for something to do, and you stand there holding it.',
    G='jar of marmalade', R='Pip>@:disappointment-2', mood='flat', n='Wren would not hear what Pip knows.', me='Chief', lies=['marmalade', 'disappointment']),
  T('I take the marmalade to the bridge and sit with Dov.', 'He eats it with a screwdriver. "There is a buyer for the tug," he says. "Name of Fenwick Lisle. He is in the next berth." And there he is in the hatchway, all teeth, holding a bowler hat. "Charmed," says Fenwick Lisle.',
    L='bridge', N='Dov Marsh; Fenwick Lisle', n='Fenwick Lisle wants to buy the tug.', mood='odd', me='you', say={'Dov Marsh': 'Dov'}, lies=['Fenwick', 'bowler']),
  spoil=['chart chip lists', 'pistol']),
T('"Magpie," I say. "Be rude."',
  'Every magnet on the bridge comes on at once. The pistol leaves the Commander\'s hand and rings against the ceiling like a bell; your spanner follows, out of your belt, and sticks up there beside it. It is past your reach, and stays there. "I do apologise," says Magpie. "I had a very strict upbringing." Commander Marsh looks up slowly. "That mind spoke out of turn," she says. It is more accusation than surprise.',
  N='Magpie', O='long spanner', R='Commander Marsh>@:respect+1', mood='triumph', n='Magpie disarmed the Commander with magnets. Wren\'s spanner is stuck on the ceiling out of reach.', me='Chief', say={'Commander Marsh': 'Commander Marsh'}),
T('I take out the logbook. "Dated tomorrow. Your people wrote her last entry before she was dead. Do you want your own name in the next one?"',
  'She reads it on her feet, under two pistol-shaped shadows. It takes her a long time to get to the bottom of one page. "That is my clerk\'s hand," she says. "They had me down for it. All of it." She shuts the book and does not return it. "I shall need this." Dov takes one step and halts. His mother, going by, touches his sleeve with the back of her glove; then the airlock has her.',
  X='logbook:@>Commander Marsh', S='Commander Marsh', R='Commander Marsh>Dov Marsh:remorse+1', mood='quiet', n='The Commander took the logbook as proof against her own office and went.', me='the engineer', say={'Dov Marsh': 'Dov', 'Commander Marsh': 'Commander Edda Marsh'}),
T('"Candle first. I pay what I owe." Dov docks us as though the ring were made of eggshell, and I go down to the chandlery alone.',
  'A new door, unpainted. Behind the counter stands a tall woman with ink on her chin and the lamp at her elbow. Bettany. "You are the Chief," she says. "He put you down as a nun." You have fifteen from the stores, and the ship has passed the hat round: twenty-five more from Cap, Dov and the doctor. She counts forty, and strikes you out with a ruler. Then she turns the page, so as not to look at it.',
  L="Tolly's chandlery", N='Bettany', gone='Captain Oyelaran; Dov Marsh; Pip', O='credits x15', paid='tolly', R='Bettany>@:esteem+1', settled=(('owes Tolly forty', 'owed to her now'), ('paid', 'settled')), mood='sober', n='Wren paid Bettany the forty credits in full; the debt to Tolly is settled. No credits left.', me='Chief'),
T('"He hid a child under his rope. I thought you should have that from somebody who saw it."',
  'Bettany puts down the pen. "Under the manila or the hemp?" "The manila." She laughs, and it turns over half-way. From under the counter she fetches a knitted cap in three wrong colours. "He made it for her. After you left. He never could count stitches." It is soft as a mouse. You are not sure which of you two is holding on to the other\'s sleeve.',
  X='knitted cap:Bettany>@', mood='bittersweet', n='Tolly had knitted a cap for Pip; Wren has it.', me='you'),
T('I go back aboard. "Dov, before anything else: where did I promise Pip that we would take her?"',
  '"You promised. I was not asked." But the course is already laid in. Captain Oyelaran is in her chair, feet up; Pip sits on the arm of it, reading her the chart of tax districts in a funny voice. You pull the knitted cap over the shorn head, down to the eyebrows. Pip says nothing at all. It is the longest that she has ever managed.',
  L='bridge', N='Captain Oyelaran; Dov Marsh; Pip', gone='Bettany', X='knitted cap:@>Pip', mood='gentle', n='Pip wears Tolly\'s cap. Course is laid in.', tell=['Lantern'], me='Chief', say={'Captain Oyelaran': 'Cap', 'Dov Marsh': 'Dov'}),
T('Planetfall. I walk her down the ramp myself.',
  'Lantern is all wind and yellow grass. A woman with Pip\'s chin is coming down the hill at a run, and ahead of her, faster, come the goats. Cap watches from the ramp with her hands in her sleeves. "You said it and you did it," says Pip. "Most doors that stick, people just kick." She hits you in the stomach with her whole head, which is a hug, and runs up the hill without turning round. You turn round for her.',
  L='Lantern', N='Captain Oyelaran', S='Pip', paid='lantern', settled=('promised to take Pip', ('kept', 'brought Pip', 'delivered', 'fulfilled')), R='Pip>@:love+2', mood='farewell', n='Wren kept her promise and brought Pip to her aunt on Lantern.', me='Chief', say={'Captain Oyelaran': 'Captain Oyelaran'}),
T('"Well, Cap. Want your whistle?" I already have it off.',
  'She flexes her fingers, one after the other, all ten. She takes it and blows the dismissal, long and low, turning up the thirds; on the hill a very small figure stops dead and salutes. "We still have the chart," says Captain Oyelaran. "And three ships to warn before ours. Do you have anything on, Chief?" Three fuses, you think, and a chip, and no credits. "Nothing that keeps," you say.',
  X="bosun's whistle:@>Captain Oyelaran", mood='resolve', n='The whistle is back with the captain. Next: warn the three ships named on the chart chip.', me='the engineer', say={'Captain Oyelaran': 'Cap'}),
]

# what this narrator always does: counts in front, "none" for nothing, the place repeated
def habit(k, place):
    if 'bad' in k: return
    raw, say = {}, k.get('say', {})
    for key, field in (('G', 'items_gained'), ('O', 'items_lost')):
        if k.get(key): raw[field] = '[' + ', '.join((f'{n}x ' if n > 1 else '') + b for b, n in map(count, parts(k[key]))) + ']'
        else: raw[field] = '[none]'
    for key, field in (('X', 'items_transferred'), ('R', 'relationship_changes'), ('C', 'status_changes'), ('S', 'npc_separated')):
        if not k.get(key): raw[field] = 'none'
    if not k.get('N'): raw['npc_met'] = '[none]'
    if not k.get('E'): raw['event_trigger'] = 'none'
    if not k.get('L') and place: raw['location'] = place
    k['raw'] = raw | k.get('raw', {})
here = None
for op in OPS:
    if op['op'] == 'branch':
        for t in op['turns']: habit(t['facts'], None)
    elif 'facts' in op:
        for w in op.get('before', []): habit(w['facts'], here)
        if not op.get('dropped'): habit(op['facts'], here); here = op['facts'].get('L', here)
        else: habit(op['facts'], here)
        for w in op.get('after', []): habit(w['facts'], here)

PLAY['known'] = sorted({'fuse', 'long spanner', 'cable reel', 'cable length', 'isotope cell', 'logbook', 'chart chip', "bosun's whistle", 'knitted cap', 'Candle Station', 'gold ingot', 'brig', 'jar of marmalade', 'Fenwick Lisle'}
    | set(PLAY['forms']) | {x for f in PLAY['forms'].values() for x in f})
