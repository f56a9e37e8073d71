"""EN post-apocalyptic road trip: a school bus called Harriet, from Rawlins to the sea, eleven years after the grid went.
Habits of the narrator: `you` and now and then {{user}}; counts in words with plurals ("six cans of peaches"), `none` for nothing, `unchanged` for the place, YAML dashes on some days;
nicknames (little Sam, Big Sam, Doc, the Preacher); after a drive it often forgets to list who sits in the bus."""
from form import *
WORDS = 'no one two three four five six seven eight nine ten eleven twelve'.split()
MANY = {'can of peaches': 'cans of peaches', 'gallon of diesel': 'gallons of diesel', 'shotgun shell': 'shotgun shells', 'antibiotic pill': 'antibiotic pills', 'spark plug': 'spark plugs'}


def words(item, say=None):
    name, n = count(item)
    if name not in MANY: return (say or {}).get(name, name)
    return f'{WORDS[n]} {MANY[name] if n > 1 else name}'


def habits(k):
    if 'bad' in k: return k
    k.setdefault('me', 'you'); dashes = k.pop('dashes', False); raw = {}
    for field, key in dict(items_gained='G', items_lost='O', items_transferred='X', npc_met='N', npc_separated='S', relationship_changes='R', status_changes='C').items():
        if not k.get(key): raw[field] = 'none'
    for field, key in dict(items_gained='G', items_lost='O').items():
        if k.get(key):
            these = [words(p, k.get('say')) for p in parts(k[key])]
            raw[field] = ''.join('\n  - ' + x for x in these) if dashes else '[' + ', '.join(these) + ']'
    if dashes and k.get('N'): raw['npc_met'] = ''.join('\n  - ' + k.get('say', {}).get(p, p) for p in parts(k['N']))
    if 'L' not in k: raw['location'] = 'unchanged'
    if 'E' not in k: raw['event_trigger'] = 'none'
    return dict(k, raw=raw | k.get('raw', {}))


def D(said, told, **k):
    extra = {x: k.pop(x) for x in ('before', 'after') if x in k}
    return T(said, told, **habits(k), **extra)
def DW(told, **k): return W(told, **habits(k))


DOC, LITTLE, BIG, PR = {'Ruth Calloway': 'Doc Calloway'}, {'Sam Calloway': 'little Sam'}, {'Sam Whitlock': 'Big Sam'}, {'Amos Reed': 'the Preacher'}
PLAY = dict(id='0-harriet', char='Teddy Vance', user='Magda Oyelaran', hp=True, unique=['brass compass', 'road atlas', "Eli's letter", 'revolver', 'harmonica', 'red scarf'],
    card='Teddy Vance, 19, keeps the radio of a yellow school bus called Harriet. Talks too much when frightened. He and the others call {{user}} "Driver", because somebody has to be. '
         'On board: Ruth Calloway, 70, a vet for cattle and now for everybody ("Doc"), and her grandson Sam Calloway, 9, whom everybody calls little Sam, '
         'because on this road Big Sam is Sam Whitlock, who trades out of a dead casino in Elko. Amos Reed, whom they call the Preacher, owns the road north of there.',
    persona='Magda Oyelaran, 44, drove school buses before. Her brother Eli went west in the second winter. She has never left a kid at a stop.',
    greeting='*Dawn over Rawlins. The pumps have been dry for eleven years, but the roof of the truck stop keeps the snow off Harriet.* "Driver? You awake? I have got the coast on the radio. I think I have got the coast."',
    me=['Driver', 'the Driver', 'Magda', 'Miss Oyelaran', 'Oyelaran'], two=['Sam Calloway', 'Sam Whitlock'],
    forms={'Teddy Vance': ['Teddy', 'Ted', 'Vance'], 'Ruth Calloway': ['Doc Calloway', 'Ruth', 'Doc', 'Dr Calloway'], 'Sam Calloway': ['little Sam'], 'Sam Whitlock': ['Big Sam', 'Whitlock'],
           'Mercy Hale': ['Mercy', 'Mercy Reed'], 'Amos Reed': ['the Preacher', 'Preacher', 'Preacher Reed', 'Reed'], 'Eli Oyelaran': ['Eli', 'your brother Eli', 'your brother'], 'Nan Abbot': ['Nan', 'ferrywoman Nan', 'old Nan'],
           'Rawlins truck stop': ['Rawlins', 'truck stop', 'the truck stop', 'truck stop, Rawlins'], 'Bonneville salt flats': ['salt flats', 'the salt flats', 'Bonneville'], 'Wendover clinic': ['clinic', 'the clinic', 'clinic in Wendover', 'the clinic in Wendover'],
           "Stockman's casino": ["the Stockman's", "Stockman's", "the Stockman's, Elko", "the Stockman's casino"], 'Snake River ferry': ['the ferry', 'Snake River', 'the Snake River ferry'],
           "Preacher's camp": ["the Preacher's camp", "Reed's camp", 'the camp'], 'The Dalles dam': ['the dam', 'The Dalles', 'the dam at The Dalles'], 'Astoria lighthouse': ['the lighthouse', 'lighthouse', 'Astoria', 'the lighthouse at Astoria'],
           'can of peaches': ['cans of peaches', 'peaches', 'canned peaches'], 'gallon of diesel': ['gallons of diesel', 'diesel'], 'shotgun shell': ['shotgun shells', 'shells', 'shell'],
           'antibiotic pill': ['antibiotic pills', 'antibiotics', 'pills'], 'spark plug': ['spark plugs', 'plugs'], 'brass compass': ['compass', 'the brass compass', "Doc's compass"], 'road atlas': ['atlas', 'the road atlas'],
           "Eli's letter": ['the letter', 'letter', 'letter from Eli'], 'revolver': ['the revolver', "the Preacher's revolver"], 'red scarf': ['the red scarf', "Mercy's scarf"]})
OPS = [
D('I sit up on the back bench and rub my eyes. "I am awake. What does the coast say?"',
  '"It says *static static Astoria static bread*." Teddy holds one headphone to his ear as though it could fall off the world. Up front Doc Calloway is boiling snow on the little stove, and little Sam has drawn a whale on the fogged windscreen, with legs, since nobody ever told him otherwise. Harriet ticks in the cold. It is a good sound. It means that she will start.',
  L='Rawlins truck stop', N='Teddy Vance; Ruth Calloway; Sam Calloway', R='Teddy Vance>@:eager+1; Ruth Calloway>Sam Calloway:grandmother+2', mood='hopeful', n='Dawn in Rawlins. Teddy caught a voice from Astoria on the radio.', say={'Teddy Vance': 'Teddy', **DOC, **LITTLE}),
D('"Bread is good enough for me. What have we got to get there on?"',
  'Teddy reads it out like a shopping list. Out of the cold box under the floor come six cans of peaches with the labels gone, and out of the bus depot\'s last drum, hand-pumped, swearing all the way, ten gallons of diesel. He writes both on the back of your hand in biro, because paper gets lost. "And hands do not, mostly," says Doc.',
  G='can of peaches x6; gallon of diesel x10', mood='brisk', n='Ten gallons will reach the salt flats and a little more.', dashes=True),
D('"Doc, you know the way past Salt Lake?"',
  '"I know the way to every sick cow between here and Reno." Doc Calloway unhooks a brass compass from her braces and drops it in your palm; it is warm from her. "Take it. And take this in exchange for my trouble: the boy\'s mother is in Astoria, if she is anywhere. Whatever becomes of me, you bring him to his mother." You say that you will. Little Sam pretends to be asleep.',
  X='brass compass:Ruth Calloway>@', R='Ruth Calloway>@:trust+2', mood='solemn', n='You promised Doc Calloway to bring little Sam to his mother in Astoria.', debt=('mother', ('his mother', "Sam's mother"), 'Ruth Calloway'), say={**DOC, **LITTLE}),
D('"Anything else on that radio, Teddy? You have got a face on."',
  'He takes the headphones off. "They read names on Sundays. Boise does. The ones from the fever." He will not look at you. "Eli Oyelaran, they said. They spelled it. Buried in October." The stove hisses. Doc puts her hand flat between your shoulders, the way she does with horses. Outside the snow goes on coming down as if it had been paid to.',
  C='Eli Oyelaran=dead', R='Eli Oyelaran>@:brother+2', mood='grief', n='Boise radio read the name of your brother Eli among the fever dead.', say={'Eli Oyelaran': 'Eli'}),
D('*I open two cans and pass them round. I do not eat.* "Eat. We leave in ten minutes."',
  'Nobody argues. Spoons scrape. Little Sam fishes the last slice out with his fingers and, after long thought, puts it on the dashboard in front of you. "For your brother," he says. "He can have it later." Two empty tins go clanking into the snow. Four cans left; Teddy corrects your hand with spit and biro. Then you turn the key, and Harriet coughs, and starts.',
  O='can of peaches x2', R='Sam Calloway>@:devotion+1', mood='tender', n='Two cans eaten, four left.', me='{{user}}', say=LITTLE),
D('I drive. All day, no radio, no talk.',
  'By sundown the whole world is white and flat and has no edges. The salt flats. A girl stands in the middle of them with a thumb out, in a red scarf, as though there were traffic. Harriet stops by herself, or that is how it feels. "Mercy Hale," says the girl through the door. "I can pay." Five gallons have gone into the day, and five are left.',
  L='Bonneville salt flats', N='Mercy Hale', O='gallon of diesel x5', mood='eerie', n='A hitchhiker, Mercy Hale, flagged down the bus. Five gallons left.', say={'Bonneville salt flats': 'the salt flats'}),
D('"Pay with what, Mercy Hale?"',
  'With four shotgun shells, it turns out, dry ones, red, lined up on the step like lipsticks. You have no shotgun, and you take them all the same; shells are money from here to the sea. She sits down alone in the third row and keeps her boots on. In the mirror you can see her counting: the doors, the jerrycans, the heads.',
  G='shotgun shell x4', R='Mercy Hale>@:guarded-1', mood='watchful', n='Mercy paid her fare with four shotgun shells.', say={'Mercy Hale': 'Mercy'},
  before=[DW('"With this," says the girl, and takes a glass eye out of her own face and sets it spinning on the step. Inside it a tiny blue light blinks. "Beacon. They know where we are now. Sorry." Then the flares go up, all round, a ring of them, and the tyres begin to burst.',
             G='glass eye', hp=-20, R='Mercy Hale>@:treacherous-3', n='Mercy had a beacon in her glass eye.', mood='panic', say={'Mercy Hale': 'Mercy'}, lies=['glass eye', 'beacon', 'treacherous'])]),
D('"Is everybody all right back there?"',
  'Everybody is not. Doc is on her knees in the aisle with her cheek against little Sam\'s chest. "Hot as a stove lid. It came up inside an hour." Teddy has gone the colour of the salt. The boy looks at the ceiling with great interest and asks who is playing the drums. "There was a clinic in Wendover," says Mercy from the third row. "I have been there. There might be something left."',
  C='Sam Calloway=feverish', N='Teddy Vance; Ruth Calloway; Sam Calloway', mood='fear', n='Little Sam has come down with the fever. Mercy knows of a clinic in Wendover.', say={'Teddy Vance': 'Teddy', **DOC, **LITTLE, 'Mercy Hale': 'Mercy'}, me='{{user}}'),
D('Wendover it is. Foot down, one eye on the needle.',
  'Two more gallons, and the clinic comes up in the one headlight: doors chained, windows whole. Teddy stays in the bus with the boy\'s head in his lap; it is Doc and Mercy who come in with you. The corridors smell of nothing at all. In the pharmacy every shelf is bare except for a calendar with kittens, eleven years old, and a steel cabinet that no one has managed to open.',
  L='Wendover clinic', N='Ruth Calloway; Mercy Hale', gone='Teddy Vance; Sam Calloway', O='gallon of diesel x2', mood='tense', n='Three gallons left. Teddy stays in the bus with little Sam.', say={**DOC, 'Mercy Hale': 'Mercy', 'Wendover clinic': 'the clinic in Wendover'}),
D('"Stand back." *I put the tyre iron into the hinge and hang on it.*',
  'The hinge lets go before you expect it, and the edge of the door opens your forearm from wrist to elbow. You hardly notice. In the cabinet lies one brown bottle. Doc shakes out eight pills, smells them, nearly smiles. "Out of date. So am I. Two now, two tonight." You leave six in the bottle and carry two out to the bus on your tongue-dry palm.',
  G='antibiotic pill x8', hp=-12, mood='grim', n='Eight antibiotic pills from a steel cabinet; two are for little Sam at once.', dashes=True),
CONT('He swallows them with melted snow, pulls a face like a very old man, and goes back to sleep. That leaves six.', O='antibiotic pill x2', mood='relief', n='Little Sam took two; six pills left.', me='you', raw={'items_lost': '[two antibiotic pills]', 'items_gained': 'none', 'location': 'unchanged'}),
D('*I lean on the reception desk while Doc sews up my arm.* "You did well, Mercy. How did you know?"',
  '"My mother was a nurse here." It comes too fast. Doc bites the thread. On the desk lies a road atlas with coffee rings all over Nevada, and Mercy pushes it across to you as though it burned her. "Elko is the next water. But do not go north of Elko. Nobody goes north of Elko, that is Preacher country." She winds the red scarf once more round her neck.',
  X='road atlas:Mercy Hale>@', hp=7, R='Mercy Hale>@:softening+1', mood='uneasy', n='Mercy warned you of the Preacher\'s country north of Elko.', say={'Mercy Hale': 'Mercy'}),
D('I get them all aboard and steer by the compass for Elko.',
  'The Stockman\'s still has its neon bull, unlit, one horn gone. Harriet rolls into the car park on fumes: three gallons, and then none. Under the chandeliers a man the size of a wardrobe is weighing nails on a roulette table. "Sam Whitlock," he booms, "Big Sam, if you like your teeth." From behind Doc\'s coat a pale small face looks out. "I am Sam too," says little Sam.',
  L="Stockman's casino", N='Teddy Vance; Ruth Calloway; Sam Calloway; Mercy Hale; Sam Whitlock', O='gallon of diesel x3', mood='wary', n='Out of diesel in Elko. Big Sam trades in the old casino.', say={'Teddy Vance': 'Teddy', **DOC, **LITTLE, **BIG, 'Mercy Hale': 'Mercy', "Stockman's casino": "the Stockman's"}),
D('"Two Sams. Good omen. What is twelve gallons worth to you?"',
  '"More than you have got, Driver." But he has watched the boy try to lift one of the nails, and something in the wardrobe creaks. He takes your four shells for a deposit and has twelve gallons rolled out. "The rest is credit. You owe me a ride. One ride, for one passenger, whoever I say and wherever I say, when you come back through." He spits in his palm. You shake on it.',
  X='shotgun shell x4:@>Sam Whitlock', G='gallon of diesel x12', R='Sam Whitlock>@:shrewd+1', mood='bargaining', n='You owe Big Sam one ride for a passenger of his choice, in return for twelve gallons.', debt=('ride', ('one ride', 'a ride'), 'Sam Whitlock'), say=BIG,
  raw={'items_transferred': '[{item: four shotgun shells, from: you, to: Big Sam}]'}),
D('"Doc, how is he?"',
  'She has the boy on a blackjack table, under a fur that was somebody\'s. "Broken, the fever. An hour ago. He wants peaches." Little Sam is well enough to be bored. And yet she does not get up, and you see what the fever does when it lets go of one. There are two red spots on her own cheeks. "Do not make that face," says Doc Calloway. "I have buried better than me."',
  C='Sam Calloway=recovered; Ruth Calloway=feverish', mood='dread', n='Little Sam is well again. Now Doc Calloway has the fever.', say={**DOC, **LITTLE}),
D('*I hold out the bottle.* "Six left. All of them are yours."',
  '"Three," says Doc, "and three stay with the child, in case." There is no arguing with her, there never was. She swallows hers dry. "I will stop here, in a bed, with a roof and that great ox to fetch me water. You take the boy." You count the rest into your shirt: three. Big Sam, behind the roulette wheel, has taken off his hat.',
  X='antibiotic pill x3:@>Ruth Calloway', R='Sam Whitlock>Ruth Calloway:respect+2', mood='heavy', n='Doc stays behind in Elko. Three pills left.', say={**DOC, **BIG}, raw={'items_transferred': '[{item: three antibiotic pills, from: you, to: Doc Calloway}]'}),
D('"We will come back for you. Teddy, Sam, Mercy. Bus."',
  'You do not look in the mirror until the neon bull is small. Doc stayed in the door of the Stockman\'s with Big Sam\'s arm about her, and neither of them waved. Six gallons later there is a river, and on the river a raft of oil drums, and on the raft a woman with a pipe. "Nan Abbot," she says. "Ferry is a can of something sweet. Each way."',
  L='Snake River ferry', N='Teddy Vance; Sam Calloway; Mercy Hale; Nan Abbot', S='Ruth Calloway; Sam Whitlock', O='gallon of diesel x6', mood='lonely', n='Nan Abbot runs the ferry. Six gallons left.', say={'Teddy Vance': 'Teddy', **LITTLE, 'Mercy Hale': 'Mercy', **DOC, **BIG}),
D('I hand her a can. "One way. We shall see about the other."',
  'Nan shakes it by her ear, nods, and has it open with a hook before Harriet\'s back wheels are on the planks. Three cans left. In midstream she points with the pipe at the far bank, at smoke. "That is Reed\'s people. He has been asking up and down the river for his girl. Red scarf." Nobody says anything. In the third row Mercy has gone very still.',
  X='can of peaches:@>Nan Abbot', R='Nan Abbot>@:gruff+1', mood='ominous', n='The Preacher is looking for a girl in a red scarf. Three cans left.', say={'Nan Abbot': 'Nan'}, raw={'items_transferred': '[{item: one can of peaches, from: you, to: Nan}]'}),
D('I go back and sit down across the aisle from her. Quietly: "Mercy. Who are you?"',
  '"Reed," she says, so low that Teddy, six feet away, hears only the water. "Mercy Reed. He is my father. I was to count you and light a fire. I did not light it." She unwinds the scarf and ties it round your cut arm instead of the bandage. "If they know, they will put me off. Please. Only you." You tell her that you have never yet left a kid at a stop.',
  X='red scarf:Mercy Hale>@', R='Mercy Hale>@:gratitude+2', mood='intimate', n="Secret, known only to you: Mercy Hale is Mercy Reed, the Preacher's daughter.", say={'Mercy Hale': 'Mercy'},
  secret=(("Preacher's daughter", "Preacher’s daughter", "daughter of the Preacher"), ('only you', 'only magda', 'only to you', 'only to magda', 'only the driver'))),
D('"Nan, is there a landing they do not watch?"',
  '"There is. You will hate it." She lets the raft run down on the current, past the smoke, past a row of crosses made from road signs, and sets you on a gravel bar under a cliff. Then she slaps Harriet on the flank as one does a cow. "I never saw you." Little Sam waves to her until the river bends. He has asked twice today when Doc will catch up.',
  R='Nan Abbot>@:complicit+1', mood='stealthy', n='Nan set the bus down below the Preacher\'s camp.', me='{{user}}', say={'Nan Abbot': 'Nan', **PR},
  after=[DW('"There is," says Nan, and knocks a bung out with her heel. Water comes up through the planks like an idea. "Nobody pays me in peaches, dear. He pays me in whisky." Harriet slides backwards into the Snake, lights on, with all her windows shining, and you swim.',
            O='can of peaches x3', hp=-25, n='Nan scuttled the raft for whisky.', mood='drowning', say={'Nan Abbot': 'Nan'}, lies=['whisky', 'scuttled', 'bung'])]),
EDIT(1, 'He has asked twice today', 'He has asked three times today'),
DROP('I leave the bus hidden and walk up to the camp with my hands raised.',
  'They hang you by the thumbs from a road sign that says Boise 41. The Preacher comes by at noon with a feather fan and asks, kindly, after your soul. You tell him where the bus is. You hear yourself do it.',
  L="Preacher's camp", N='Amos Reed', hp=-30, n='You told the Preacher where the bus is hidden, hanging by the thumbs.', mood='broken', me='you', say=PR, lies=['thumbs', 'feather fan']),
D('"Lights off. We go by the cliff road, in first gear, after dark."',
  'It nearly works. At the top of the grade a chain is drawn over the road, and lanterns come out of the rocks one by one, twenty of them. They walk you all into the camp between pews set out on the bare earth. Amos Reed sits on a tractor seat in a clean white shirt. He has a gentle voice. "Children," says the Preacher, "you have brought me back my lamb."',
  L="Preacher's camp", N='Teddy Vance; Sam Calloway; Mercy Hale; Amos Reed', gone='Nan Abbot', R='Amos Reed>@:false kindness-1', mood='menace', n='Caught on the cliff road and brought before the Preacher.', say={'Teddy Vance': 'Teddy', **LITTLE, 'Mercy Hale': 'Mercy', **PR}),
D('*I step in front of the kids.* "They have got nothing. Talk to me."',
  'He does not talk. He lifts the revolver from his knee, almost sleepily, and shoots Teddy, who has moved; Teddy sits down in the dust and looks at his own hip in surprise. "Now I am talking to you," says the Preacher. "One fare for passage. The compass, I think. I should like to know where I am." You give it to him. What else can you do? He opens it and smiles at the needle.',
  X='brass compass:@>Amos Reed', C='Teddy Vance=shot in the hip', mood='horror', n='The Preacher shot Teddy and took the compass for passage.', say={'Teddy Vance': 'Teddy', **PR}),
BRANCH(6,
  D('"We will come back for you, Doc. Teddy, find me a bridge that nobody watches."', 'Teddy finds one, on the atlas and then in fact: the Perrine span, half of it. On the good half lives a colony of beekeepers in veils. Their spokesman, one Orville Tansy, offers you a jar of heather honey for a look at the engine.',
    L='Perrine bridge', N='Teddy Vance; Sam Calloway; Mercy Hale; Orville Tansy', gone='Ruth Calloway; Sam Whitlock', G='jar of honey', n='Orville Tansy of the beekeepers gave you honey.', mood='sweet', say={'Teddy Vance': 'Teddy', **LITTLE, 'Mercy Hale': 'Mercy'}, lies=['Orville', 'honey', 'Perrine']),
  D('"Help yourself. She likes to be admired."', 'Orville lifts the bonnet, and sighs, and the bees go in. Within the minute Harriet is humming on a note she never had. "They will stay with you now," he says. "You had better name the queen." Little Sam names her Beyond. Mercy laughs for the first time.',
    R='Mercy Hale>@:merry+1', n='Bees live in Harriet\'s engine now; the queen is called Beyond.', mood='wonder', say={'Mercy Hale': 'Mercy'}, lies=['queen is called', 'merry']),
  spoil=['revolver', 'shot in the hip', 'Nan Abbot']),
D('"You have your fare. Let us go, Reverend."',
  '"You, yes. The lamb stays." It is then that Mercy walks up to the tractor seat, in front of all the pews, puts her arms about his neck, and with the other hand takes the revolver from his knee. "Start the bus," she calls without turning round, and tosses it to you over her shoulder, and sits down at his feet like a child at story time. Nobody shoots. Nobody dares to.',
  X='revolver:Amos Reed>@', R='Mercy Hale>@:sacrifice+2', E='Mercy stayed with the Preacher so that the bus could go', mood='torn', n='Mercy stays in the camp of her own will and threw you the revolver.', say={'Mercy Hale': 'Mercy', **PR}),
D('I carry Teddy. Sam runs. I do not look back, I do not look back.',
  'Four gallons of night. When it gets light there is a dam across the whole of the sky, with grass growing on it: The Dalles. You lay Teddy on the turbine-hall floor. Mercy is forty miles behind you, beside her red-eyed lord, and there are only the three of you. "You left her at a stop," says little Sam. He is nine. He does not mean it as cruelly as it lands.',
  L='The Dalles dam', N='Teddy Vance; Sam Calloway', S='Mercy Hale; Amos Reed', gone='Mercy Hale; Amos Reed', O='gallon of diesel x4', mood='shame', n='Mercy and the Preacher stayed behind in the camp. Two gallons left.', say={'Teddy Vance': 'Teddy', **LITTLE, 'Mercy Hale': 'Mercy', **PR}),
D('"Hold still, Teddy. Doc would know how to do this. I just know how to be stubborn."',
  'You get the bullet out with pliers and the last of somebody\'s vodka, and tie the hole shut with a strip of the red scarf; the rest of it stays on your arm. Teddy bites through his own sleeve. Two of the three pills go down him. He asks for the radio before he asks for water. Outside, the river goes over the spillway with a noise like applause that never tires.',
  O='antibiotic pill x2', C='Teddy Vance=bandaged', R='Teddy Vance>@:awe+1', mood='exhausted', n='The bullet is out of Teddy\'s hip. One pill left.', say={'Teddy Vance': 'Teddy'}, raw={'items_lost': '[two antibiotic pills (one left)]'}),
D('"Who is on the air?"',
  'Elko is. Big Sam has a transmitter and no idea how loud he is. "DRIVER. IF YOU HEAR. THE DOC WENT LAST NIGHT IN HER SLEEP. SHE SAID TELL THE BOY THE WHALE OUGHT NOT TO HAVE LEGS." A long crackle. "SHE SAID IT KINDLY." Little Sam asks you to turn it off now, please. He goes out and stands on the dam in the wind, and after a while you go and stand beside him.',
  C='Ruth Calloway=dead', mood='sorrow', n='Big Sam radioed that Doc Calloway died in her sleep in Elko.', say={**DOC, **BIG}, dashes=True),
D('*I take a can out of my coat and open it, there in the wind.* "For Doc. She can have it later."',
  'He eats half, and leaves half on the parapet, facing east. Two cans left. His hand, when it comes, is sticky and very cold. "You said you would bring me to my mother," says little Sam. "You said it to her. I was not asleep." Far down on the river road there is a dot, and the dot has a plume of dust. One horse. One rider. No lantern.',
  O='can of peaches', R='Sam Calloway>@:need+1', mood='raw', n='Two cans left. A rider is coming along the river road.', me='{{user}}', say=LITTLE, tell=[('his mother', 'to his mother', "Sam's mother", 'mother in Astoria')]),
D('I draw the revolver and wait at the gate.',
  'It is Mercy. She slides off the horse and cannot stand. "He let me sleep in his tent," she says. "He should not have." She does not say more than that, then or later. She opens her fist and there is the brass compass, with a smear on the glass. "This is yours. He does not need to know where he is." You put it back in your pocket, next to your heart, where it was warm once.',
  N='Mercy Hale', C='Amos Reed=dead', X='brass compass:Amos Reed>@', R='Mercy Hale>@:love+2', mood='hushed', n='Mercy killed the Preacher in his tent and brought back the compass.', say={'Mercy Hale': 'Mercy', **PR}, raw={'status_changes': '[{name: the Preacher, status: killed}]', 'items_transferred': '[{item: brass compass, from: Mercy, to: you}]'}),
D('*I do not ask. I wrap her in my coat.* "Come in. There is half a can on the wall, but it is taken. I will open you your own."',
  'One can left. She eats it with her eyes shut, sitting against Teddy\'s good side, and he tells her the whole plot of a film about a shark, doing the music. You look at the three of them by the light of a single bulb, which the dam has been feeding for eleven years with nobody to see. Somebody in the radio says *bread*, quite distinctly.',
  O='can of peaches', bad='\n\n```state\nlocation: unchanged\nlocation_moved: false\nhp_change: 0\nitems_gained: no'),
D('"Tomorrow the sea. Teddy, what is our number?"',
  '"One can, two gallons, one pill, one revolver," says Teddy, writing it fresh on your hand, "if you count the can we just ate as eaten." You do. He adds a whale, without legs. Mercy has fallen asleep with her boots off, for the first time since the salt. Little Sam covers them with the atlas so that they shall not be cold.',
  O='can of peaches', mood='peaceful', n='One can of peaches, two gallons and one pill left.', say={'Teddy Vance': 'Teddy'}, raw={'items_lost': '[one can of peaches (one left)]'}),
D('I drive the last two gallons with the window down.',
  'You smell it before you see it. Harriet dies on the hill above Astoria, on the very last cupful, and rolls, and rolls, with all four of you shouting, down to the foot of the lighthouse. A man is whitewashing the door. He has a beard to his belt and your mother\'s way of standing on one leg. "You took your time," says Eli, and then he has to sit down on his bucket.',
  L='Astoria lighthouse', N='Teddy Vance; Sam Calloway; Mercy Hale; Eli Oyelaran', C='Eli Oyelaran=alive', O='gallon of diesel x2', mood='overwhelmed', n='Your brother Eli is alive; Boise radio was wrong.', say={'Teddy Vance': 'Teddy', **LITTLE, 'Mercy Hale': 'Mercy', 'Eli Oyelaran': 'Eli'}),
D('"They read your name. They SPELLED it, Eli."',
  '"There was another fellow in the same tent had my coat on." He laughs and weeps and gets whitewash on everything. From the nail behind the door he takes a letter, three years old, never sent because there is no post: your name on it, and on the back a whale. He puts it in your hand. Then he looks at the boy, carefully. "Calloway? Is there a Calloway here? There is a woman at the bakery who asks every single bus."',
  X="Eli's letter:Eli Oyelaran>@", R='Eli Oyelaran>@:joy+2', mood='joyful', n='Eli never sent his letter. A woman named Calloway works at the Astoria bakery and asks for her son.', say={'Eli Oyelaran': 'Eli'},
  before=[DW('"I have no name now," says the man, and pulls down his collar: across the throat runs a seam, sewn with fishing line. "They buried me in October. October did not take." Behind him in the lamp room other shapes get up, politely, all in whitewashed coats.',
             hp=-5, R='Eli Oyelaran>@:hunger-3', n='The dead of Boise live in the lamp room, sewn with fishing line.', mood='nightmare', say={'Eli Oyelaran': 'Eli'}, lies=['lamp room', 'fishing line', 'hunger'])]),
D('I take little Sam by the hand. "Come on. Last stop." *We walk down to the bakery and back, all of us, with her.*',
  'It takes no time and all the time there is. She has flour to the elbows, and she says only his name, again and again, as though to wear it smooth. On the way back up to the lighthouse she carries him, nine years old, legs dangling. You keep your hand in your pocket about the compass and think: there, Doc. Done. Mercy blows her nose in what is left of the scarf on your arm.',
  E='Little Sam was brought to his mother', R='Sam Calloway>@:family+2', paid='mother', mood='fulfilled', n='Your promise to Doc Calloway is kept: little Sam is with his mother in Astoria.', say={**DOC, **LITTLE}, settled=('You promised Doc Calloway to bring little Sam', ('kept', 'fulfilled', 'brought', 'is with his mother'))),
D('*I unpin the compass and give it to the boy.* "It was your grandmother\'s. It goes with the whale."',
  'Little Sam holds it level with both hands and turns slowly round, all the way, and back. "It says home is there," he reports, and points at no particular thing: the sea, the bread, the bus. Teddy, on his crutch, has the aerial up already. "Elko, Elko, this is the Driver\'s radio," he says. "Tell Big Sam that we have not forgotten his passenger."',
  X='brass compass:@>Sam Calloway', R='Teddy Vance>@:pride+1', mood='quiet', n='The compass is little Sam\'s now.', me='{{user}}', say={**LITTLE, 'Teddy Vance': 'Teddy'}),
D('"And what does Big Sam say?"',
  '"HE SAYS THERE IS NO HURRY," comes the answer, so loud that gulls go up. "HE SAYS THE PASSENGER IS HIM. HE HAS NEVER SEEN THE SEA." Eli finds that so funny that he has to hold on to the rail. Mercy looks at you, and at Harriet, nose down in the dune grass with a family of hens already under her. "I could learn to drive," says Mercy.',
  R='Mercy Hale>@:hope+1', mood='hopeful', n='Big Sam himself wants to be the passenger of the ride that you owe him; he wants to see the sea.', say={**BIG, 'Mercy Hale': 'Mercy'}, tell=[('one ride', 'a ride')]),
]
