"""EN Western: a telegraph operator in Sorrow Wells, Nevada, 1881; a strongbox key; a preacher who is no preacher.
Habits of the narrator: it calls the persona `You` (now and then her trade), everyone by title (Sheriff Pike and Deputy Pike, father and son), counts stand in front (`12 silver dollars`),
single things have an article (`the strongbox key`), nothing is `none`, and npc_met names everybody who is in the room, every turn, at times the persona too."""
import form
from form import T, W, DROP, CONT, EDIT, BRANCH
PLAY = dict(id='0-wire', char='Amos Pike', user='Cora Lindqvist', hp=True, unique=['derringer', 'strongbox key', 'pocket watch', 'brass star', 'mine map', 'north half of the map', 'south half of the map'],
    card='Amos Pike, 58, sheriff of Sorrow Wells, Nevada, 1881. Bad knee, good ear, worse temper before coffee. His son Eli is his only deputy, so in town they are Sheriff Pike and Deputy Pike and nobody calls either by his first name to his face. '
         'Others: Mrs Adelaide Tolliver of the boarding house, who lost her boy Billy at Fort Mercy; Doctor Hugh Finnegan; Mr Wen Li of the laundry; the new preacher, Reverend Silas Grail. {{user}} is the town\'s telegraph operator.',
    persona='Cora Lindqvist, 26, came west with a trunk and a Morse key. She hears more than she says. People call her "the operator" or Miss Lindqvist.',
    greeting='*The sounder chatters and stops. Boots on the step, one of them dragging.* "Miss Lindqvist. Tell me that was not Carson City again."',
    me=['the operator', 'operator', 'Miss Lindqvist', 'Cora', 'Lindqvist'], two=['Amos Pike', 'Eli Pike'], disguised=['Jack Dunmore'],
    forms={'Amos Pike': ['Sheriff Pike', 'the Sheriff', 'Sheriff Amos Pike', 'Amos'], 'Eli Pike': ['Deputy Pike', 'the Deputy', 'Deputy Eli Pike', 'Eli'],
           'Adelaide Tolliver': ['Mrs Tolliver', 'Mrs Adelaide Tolliver', 'Adelaide'], 'Hugh Finnegan': ['Doctor Finnegan', 'Doctor Hugh Finnegan', 'Dr Finnegan', 'Finnegan'], 'Wen Li': ['Mr Wen', 'Mr Wen Li'],
           'Jack Dunmore': ['Reverend Grail', 'Reverend Silas Grail', 'Silas Grail', 'Dunmore', 'the Reverend', 'Preacher Jack'], 'Billy Tolliver': ['Billy'],
           'silver dollar': ['silver dollars'], 'cartridge': ['cartridges'], 'peppermint': ['peppermints'], 'derringer': ['the derringer'], 'strongbox key': ['the strongbox key'], 'pocket watch': ['the pocket watch', "Billy's pocket watch"],
           'brass star': ['the brass star'], 'mine map': ['the mine map'], 'north half of the map': ['the north half of the map'], 'south half of the map': ['the south half of the map'], 'bottle of laudanum': ['the bottle of laudanum'],
           'telegraph office': ['the telegraph office'], 'Tolliver House': ['the Tolliver House', "Mrs Tolliver's boarding house"], "Wen's laundry": ['the laundry', "Mr Wen's laundry"], "sheriff's office": ["the sheriff's office"],
           'church': ['the church'], 'Lucky Ann mine': ['the Lucky Ann mine', 'the Lucky Ann']})
OPS = [
T('"It was Carson City again, Sheriff. Coffee is on the stove."',
  'Sheriff Pike lowers himself on to the crate he calls his chair. His boy comes in behind him, ducking the lintel; Deputy Pike has grown past every door in town. The old man drinks, shudders, and only then looks you over. "Strangers on the road. I want this by your key at night." What he sets beside the inkwell is a derringer no longer than your palm.',
  L='telegraph office', N='Amos Pike; Eli Pike', X='derringer:Amos Pike>@', R='Amos Pike>@:gruff+1', mood='watchful', n='Strangers have been seen on the Carson road.'),
T('"And what do I shoot with it, Sheriff? Mice?"',
  '"Yes, ma\'am, big ones," says Deputy Pike, and turns as red as his neckerchief. He tips six cartridges out of a twist of paper and lines them up for you by height, though they are all the same. Then he remembers what he came for: a message to a saddler in Reno, nine words, and three silver dollars laid on the blotter, which is two too many.',
  G='cartridge x6; silver dollar x3', R='Eli Pike>@:smitten+1', mood='amused', n='Deputy Pike overpaid for a telegram to Reno.'),
T('*I take down what the sounder is saying.* "Gold on the Friday coach. Forty bars. They want a name for who holds the key."',
  'Neither Pike says anything while the wagon outside goes by. Then the Sheriff works a strongbox key off his own ring. "They will look for this on me. They will look for it on him. Nobody looks at a telegraph operator." He folds your fingers over it. "Into the agent\'s hand, Friday noon, and no other hand before that. Say it." You say it.',
  X='strongbox key:Amos Pike>@', R='Amos Pike>@:trusting+2', mood='grave', n='You promised Sheriff Pike to give the strongbox key to the Carson agent on Friday noon and to nobody before.', debt=('key', ('Friday noon',), 'Amos Pike')),
T('I lock up and walk home to my supper at the Tolliver House.',
  'The Pikes go off to their rounds, one limping, one stooping. Mrs Tolliver has laid the good plates. At the head of the table sits a lean man with a white collar and burned hands. "Reverend Silas Grail," says Mrs Tolliver, flustered. "He buried the Army dead at Fort Mercy. He may have buried my Billy." Her boy\'s picture hangs over the sideboard with a black ribbon round it.',
  L='Tolliver House', N='Adelaide Tolliver; Jack Dunmore', S='Amos Pike; Eli Pike', C='Billy Tolliver=dead', R='Jack Dunmore>@:courteous+1', mood='sombre', n='Billy Tolliver fell at Fort Mercy two years ago, his mother says.', say={'Jack Dunmore': 'Reverend Grail'}),
T('*I count two dollars on to the cloth for my board.* "Which regiment, Reverend?"',
  '"The Lord\'s, ma\'am." He smiles with closed lips and passes the beans. Mrs Tolliver drops your two dollars into the sugar jar; there is one left to you. Then she unpins a silver pocket watch from her bodice and holds it out across the table. "You are going by Mr Wen\'s tomorrow. He has clever fingers. It stopped the day the letter came about Billy."',
  O='silver dollar x2', X='pocket watch:Adelaide Tolliver>@', R='Adelaide Tolliver>@:motherly+1', mood='uneasy', n='You are to take Billy\'s stopped watch to Mr Wen.',
  before=[W('"The Seventh," says the Reverend, and his knife goes through the tablecloth, through the table, and stays there humming. Mrs Tolliver screams. He is holding a rattlesnake by the neck that had been coiled in the bread basket, and he bites off its head in front of both of you.',
            G='snake rattle', R='Jack Dunmore>@:menacing-2', hp=-5, n='The Reverend bit the head off a rattlesnake.', mood='horror', say={'Jack Dunmore': 'Reverend Grail'}, lies=['rattle', 'menacing'])]),
T('"You have a shooter\'s callus, Reverend. There, on the finger."',
  'He considers the finger as though it had been lent to him. "I was a sinner first." Mrs Tolliver clatters the plates. His voice drops until only you can hear it. "They say the Sheriff gave something into keeping this morning. A burden shared is a burden halved, Miss Lindqvist. My door is open at any hour." You tell him that you sleep very soundly.',
  R='Jack Dunmore>@:inquisitive-1', mood='wary', n='The Reverend has a shooter\'s callus and asks about what the Sheriff gave away.', me='the operator', say={'Jack Dunmore': 'Reverend Grail'}),
T('In the morning I take the watch to the laundry.',
  'Steam, starch, a canary. Mr Wen opens the watch, sighs at it, and bolts the street door before he says a word. Then he lifts a trap behind the mangle. A young man climbs out of the laundry cellar, thin as a rake, with the face that hangs over the sideboard. "I walked off from Fort Mercy," says Billy Tolliver. "If the Army hears, they hang me. You are the only soul, bar Mr Wen."',
  L="Wen's laundry", N='Wen Li; Billy Tolliver', gone='Adelaide Tolliver; Jack Dunmore', C='Billy Tolliver=alive', R='Billy Tolliver>@:desperate+1', mood='stunned', n='Secret, only you and Mr Wen know: Billy Tolliver is alive, a deserter, hidden in the laundry cellar. You promised Billy to keep it.',
  secret=(('deserter', 'laundry cellar'), ('only you', 'only Cora', 'only the operator', 'only Miss Lindqvist')), debt=('billy', ('keep it', 'secret', 'deserter'), 'Billy Tolliver')),
T('"Your mother wears black for you. Here. This is yours." *I give him the watch.*',
  'He holds it to his ear although it does not tick. Mr Wen reaches over, does something with a pin, and it starts. Billy has to sit down on a basket of other people\'s shirts. "There was a preacher at the fort," he says when he can. "Burned hands. He did not bury anyone. He came to sell us the paymaster\'s route." Mr Wen looks at you, and you look at the bolt.',
  X='pocket watch:@>Billy Tolliver', R='Wen Li>@:respectful+1', mood='alarmed', n='Billy saw a preacher with burned hands at the fort who sold the paymaster\'s route.', raw={'npc_met': '[Mr Wen, Billy Tolliver, You]'}),
T('I hurry back to the wire. "Deputy! I need your father."',
  'Deputy Pike is alone in the telegraph office, guarding the stove. Mr Wen and Billy bolted the door behind you. "Pa is at the Lucky Ann. Somebody has been sleeping up there." He has been to the store: he presses four peppermints on you in a warm paper, and does not know what to do with his arms after that. You tell him about burned hands, and not who told you.',
  L='telegraph office', N='Eli Pike', gone='Wen Li; Billy Tolliver', G='peppermint x4', R='Eli Pike>@:devoted+1', mood='hurried', n='Somebody has been sleeping at the Lucky Ann mine.'),
EDIT(1, 'guarding the stove', 'keeping watch over the stove'),
T('*I hand him one peppermint back.* "Chew. Then ride."',
  'He has it in his cheek when the shot comes, flat and far off, from the hill. Deputy Pike is out of the door before the echo. You stand in the street with three peppermints and a derringer until the mule cart comes down at a walk with Doctor Finnegan at the reins and something under a blanket. One boot sticks out. It is the one that drags.',
  O='peppermint', S='Eli Pike', E='Sheriff Pike was shot at the Lucky Ann mine', mood='dread', n='Deputy Pike rode for the mine; the Sheriff was shot.', raw={'items_lost': '[1 peppermint]'}),
T('I follow the cart into the sheriff\'s office.',
  'They lay Sheriff Pike on his own desk. Doctor Finnegan cuts the shirt and whistles through his teeth, which is what he does in place of cursing. "Chest. Left side. He may thank God for fat." The Deputy is back already, hat in hand, a child of six feet four. The old man opens one eye and finds you. "Key," he says, with no breath behind it.',
  L="sheriff's office", N='Amos Pike; Hugh Finnegan; Eli Pike', C='Amos Pike=shot in the chest', mood='fearful', n='Doctor Finnegan tends the Sheriff.',
  after=[W('The cart holds a sack of flour with a hat on it. Sheriff Pike is sitting in his own office with his feet up, eating a peach. "Worked, did it not?" he says. "Half the county thinks I am dead. Now we will see who comes to the funeral." Doctor Finnegan paints him a wax mask.',
           L="sheriff's office", N='Amos Pike; Hugh Finnegan', G='wax mask', n='The Sheriff faked his wound with a flour sack.', mood='sly', lies=['wax mask', 'flour sack'])]),
T('"I have it, Sheriff. Nobody has seen it."',
  '"Changed my mind. They saw me ride alone; they will be coming at everyone I ever nodded to." He stops to breathe. "I let you off. Give it to my boy. Better with blood." Deputy Pike shakes his head, but puts out his hand, and you lay the strongbox key in it. It looks like a toy there. "Friday," the Sheriff tells him. "Noon." Then Finnegan has laudanum between his teeth.',
  X='strongbox key:@>Eli Pike', paid='key', settled=('Friday noon', ('released', 'let you off', 'off the promise', 'freed')), mood='solemn', n='Sheriff Pike released you from your promise; Deputy Pike keeps the strongbox key now.'),
T('"Doctor, what do you need?"',
  '"Hands, hot water, and a bottle of this that is not empty." Finnegan holds the brown glass against the lamp. "Mrs Tolliver keeps one for her nerves." On the wall behind him hangs a mine map of the Lucky Ann, and you see that somebody has pencilled a cross on the lowest gallery. The Sheriff sees you see it. "Take it," he whispers. "My pencil. That is where he keeps his powder."',
  X='mine map:Amos Pike>@', R='Hugh Finnegan>@:brisk+1', mood='tense', n='The cross on the map shows where the gang keeps its powder. The Doctor needs laudanum.', me='the operator'),
T('I run to the Tolliver House for the laudanum.',
  'Mrs Tolliver gives you the bottle before you have finished the sentence. The Reverend\'s chair is empty, and so is his room; only a collar lies on the bed, starched like a bone. "He asked me where you go of a morning," she says slowly. "I told him, the laundry. Was that wrong?" The clock in the hall sounds much too loud.',
  L='Tolliver House', N='Adelaide Tolliver', X='bottle of laudanum:Adelaide Tolliver>@', gone='Amos Pike; Eli Pike; Hugh Finnegan', mood='chilled', n='The Reverend is gone; he knows that you go to the laundry.'),
DROP('I go up and search his room alone.',
  'Under the mattress you find a scalping knife and a doll with your hair on it. The wardrobe door swings open. A woman in a bridal veil steps out and puts a chloroform rag to your mouth. "He promised me a wedding," she says into your ear.',
  G='hair doll', hp=-20, N='Veiled Bride', n='A bride with a chloroform rag caught you.', mood='nightmare', lies=['chloroform', 'hair doll', 'Veiled Bride']),
T('"No, ma\'am, not wrong. Keep your door locked." *I go to the laundry first.*',
  'The bolt has been shot off. Mr Wen sits among torn sheets with blood down his face, holding a cloth to his ear, and the trap stands open on an empty hole. "He came for you," says Mr Wen. "He found the boy. He laughed. He said, the town will pay more for a live one." You wash the ear and bind it. The canary has not stopped singing.',
  L="Wen's laundry", N='Wen Li', gone='Adelaide Tolliver', C='Wen Li=torn ear', mood='furious', n='The Reverend took Billy away.'),
T('"Lend me your shears, Mr Wen. He will want this map, and he shall have half of it."',
  'He cuts it himself, one clean stroke, along the fold above the lowest gallery. The north half has the road, the gate, the shaft. The south half has the cross. You put the one into your sleeve and give him the other, and he slides it under the canary\'s paper, where no man living would look. "I will feed the bird," says Mr Wen, "whoever asks."',
  O='mine map', G='north half of the map; south half of the map', X='south half of the map:@>Wen Li', R='Wen Li>@:loyal+2', mood='cunning', n='The mine map was cut in two; Mr Wen hides the south half under the canary.', raw={'items_gained': '[the north half of the map, the south half of the map]'}),
T('Back to the Sheriff with the laudanum.',
  'You know it from the way Doctor Finnegan is rolling down his sleeves. "Ten minutes since. He asked what time it was and did not like the answer." The desk is empty; they have carried Sheriff Pike to the church. You put the brown bottle down in front of Finnegan, and he looks at it, uncorks it, corks it again. "The boy rode out," he says. "Nobody could hold him."',
  L="sheriff's office", N='Hugh Finnegan', gone='Wen Li', C='Amos Pike=dead', X='bottle of laudanum:@>Hugh Finnegan', E='Sheriff Pike died of his wound', mood='grieving', n='Sheriff Pike died while you were away; Deputy Pike rode out alone.'),
T('*I sit down on the crate.* "Where would Eli ride?"',
  '"Where would you?" Finnegan takes the brass star off the ledger where he has laid it. For a moment you believe that he is going to pin it on himself. Instead he pushes it over the desk with one finger. "Somebody must carry that till he is fit to. I am a drunkard, and Mr Wen they would not allow." It is heavier than the key was. It has a dent in it, quite new.',
  X='brass star:Hugh Finnegan>@', mood='numb', n='Doctor Finnegan gave you the Sheriff\'s brass star to keep for Deputy Pike. You promised to pin it on Deputy Pike.', debt=('star', ('pin it on', 'brass star'), 'Eli Pike')),
BRANCH(4,
  T('"Then help me bar the shutters, Mrs Tolliver. We stay here tonight."', 'You nail the last one as the hoofs come. It is only the stage driver, Gus Ambler, with a crate of oranges for the parlour. "From an admirer," he says. In the straw lies an ivory chessman, a queen, cracked across the crown.',
    N='Gus Ambler', G='ivory queen', n='Gus Ambler brought a crate of oranges.', mood='puzzled', lies=['Ambler', 'ivory']),
  T('"Which admirer, Gus?"', '"Did not leave a name. Left a smell. Kerosene." Mrs Tolliver drops her lamp. You stamp the flame out together and burn your palm.',
    hp=-6, n='The admirer smelled of kerosene.', mood='jumpy', lies=['kerosene']),
  spoil=['brass star', 'south half', 'torn ear']),
T('At dusk I take the north half of the map and walk up to the Lucky Ann.',
  'Lamplight in the mouth of the shaft. Deputy Pike is on his knees with his wrists roped, one eye closed up; Billy is tied to a prop beside him. And the man in shirtsleeves who sits on a powder keg paring an apple has burned hands and no collar. "Miss Lindqvist. You walk soft. Jack Dunmore. I only borrowed the Reverend Grail; he had no more use for himself." Round his neck hangs the strongbox key.',
  L='Lucky Ann mine', N='Jack Dunmore; Eli Pike; Billy Tolliver', gone='Hugh Finnegan', C='Eli Pike=roped and beaten', X='strongbox key:Eli Pike>Jack Dunmore', R='Jack Dunmore>@:mocking-2', E='Reverend Grail turned out to be the outlaw Jack Dunmore', mood='deadly', n='Reverend Grail is really Jack Dunmore. He has the strongbox key.'),
T('"You have the key. You do not have the powder, or you would not be sitting there."',
  'The knife stops. "The old man moved it," says Dunmore pleasantly, "and drew himself a picture. I would give a deputy for that picture." You take the north half out of your sleeve and hold it where he can see the road, the gate, the shaft. He has it out of your fingers and unfolded before he understands. He laughs then, and hits you, not hard, as one stamps a letter.',
  X='north half of the map:@>Jack Dunmore', hp=-12, mood='defiant', n='Dunmore has the north half of the map and wants the other.'),
T('"The other half is in town. Let the boy take you to it." *I look hard at Eli.*',
  'Deputy Pike looks back out of the one good eye, and for once does not blush. Dunmore thinks about it, cuts Billy off the prop and puts a pistol into his neck. "You and me, soldier. Your mother will be so pleased." They go down the hill, the lamp swinging. You have the derringer out of your boot before it is round the bend, and its little hot barrel burns through the ropes in two shots.',
  S='Jack Dunmore; Billy Tolliver', O='cartridge x2', C='Eli Pike=healed', mood='urgent', n='Dunmore took Billy down to town. Deputy Pike is free.', raw={'status_changes': '[{name: Deputy Pike, status: recovered}]'}),
T('"Eli. Before anything else." *I pin the star on him.*',
  'Your fingers make a poor job of it; the pin goes through his shirt and into him, and he does not notice. "I told him I would be home by supper," he says. "That was the last thing." You stay on your knees with your forehead against the star until his breathing changes. When he gets up he hits his head on the prop, and something like a laugh comes out of both of you.',
  X='brass star:@>Eli Pike', paid='star', settled=('promised to pin', ('pinned', 'kept')), R='Eli Pike>@:love+2', mood='tender', n='You kept your word and pinned the star on Deputy Pike.'),
T('"Can you walk? Can you run? Then come on."',
  'Half a mile down, the moon comes up and lays your two shadows out before you, a long one and a short one. He talks about a saddle he has ordered from Reno, with a lady\'s initials on it, he says, and then hears what he has said. You let it lie. In the town below somebody has started to ring the church bell, and is ringing it badly.', bad='\n\n```state\nlocation: null\nlocation_moved: fal'),
T('We run for the bell.',
  'Mrs Tolliver is on the rope in her nightgown, hauling like a sailor. "He is in my house," she pants. "He has got, he has got my..." She cannot say it. Doctor Finnegan sits in the front pew beside the covered bier with a shotgun over his knees. "He wants a paper for her boy," he tells you. "I thought that the boy was dead. Seems everybody here knows more than their physician."',
  L='church', N='Adelaide Tolliver; Hugh Finnegan; Eli Pike', R='Adelaide Tolliver>@:frantic+1', mood='frantic', n='Dunmore holds Billy at the Tolliver House and wants a paper for him.'),
T('"Mrs Tolliver. He was hiding, and he asked me not to tell. I am sorry."',
  'She lets go of the rope. It is her silence you have been afraid of, and it lasts as long as the bell takes to die. "Two years," she says, "I starched that man\'s collars, and my son lay under Mr Wen\'s floor." Then she takes your face in both hands and kisses it hard. "You gave him his watch. I saw the chain. Now go and get him." Deputy Pike has taken off his hat to the bier.',
  R='Adelaide Tolliver>@:forgiving+2', paid='billy', mood='raw', n='You told Mrs Tolliver and the others about Billy; it is no secret any more.'),
T('"Amos would have gone in by the kitchen," I say.',
  '"So will we," says Deputy Pike. He stops at his father\'s head, not long. Doctor Finnegan breaks the shotgun, finds it empty, and swears at last, a real one; you give him a peppermint instead of a shell, and he puts it in his mouth with dignity. Mrs Tolliver draws you the stairs with a hymnal and four candles. The third step creaks.',
  X='peppermint:@>Hugh Finnegan', mood='resolute', n='The plan is to go in by the kitchen of the Tolliver House; the third step creaks.', raw={'items_transferred': '[{item: 1 peppermint, from: You, to: Doctor Finnegan}]'}),
T('Kitchen door, shoes off, past the third step.',
  'Only Deputy Pike comes in with you; the others stay to keep the bell going. Dunmore stands at the sideboard under the black ribbon, his pistol on Billy, reading the boy\'s own death notice out loud. The floor does not creak, but the canary does: Mr Wen sits in the armchair with the cage on his lap, bandaged, placid. "I have brought him his paper," says Mr Wen, and opens the little door.',
  L='Tolliver House', N='Eli Pike; Jack Dunmore; Billy Tolliver; Wen Li', gone='Adelaide Tolliver; Hugh Finnegan', S='Adelaide Tolliver; Hugh Finnegan', mood='breathless', n='Mr Wen came to the house with the canary cage.'),
T('I shoot. Not at him. At the lamp.',
  'Dark, feathers, a roar. Something hot goes past your cheek and takes the skin with it. Then Deputy Pike lands on somebody with all six feet four of him, and a voice that is no preacher\'s says a word that is in no Bible. When Billy has a match lit, Dunmore is lying across the good plates with the knife that he pared apples with in his own ribs, quite dead. Three cartridges left.',
  O='cartridge', hp=-8, C='Jack Dunmore=dead', E='Jack Dunmore died in the Tolliver House', mood='shaken', n='Dunmore fell on his own knife.', raw={'items_lost': '[1 cartridge]', 'status_changes': '[{name: Jack Dunmore, status: killed}]'}),
CONT('Mr Wen found the bird on the curtain rod. It had begun to sing again before anybody spoke.', mood='shaken', n='The canary is unharmed.'),
T('*I take the key from his neck, and the half map.* "This is yours, Eli, until noon."',
  '"No, ma\'am. Pa gave it to you first. I only lost it." He folds your fingers over the key, just as the old man did, and goes to open the shutters. It is getting light. Billy stands before his own picture and unties the ribbon. "Well," he says, "what do they do to a dead man who comes home?" Mr Wen says that first, in his experience, they feed him.',
  X='strongbox key:Jack Dunmore>@; north half of the map:Jack Dunmore>@', R='Billy Tolliver>@:grateful+2', mood='quiet', n='The strongbox key is with you again. It is Friday morning.'),
T('At noon I am at my sounder, and the coach is on time.',
  'The Carson agent, Mr Horace Bell, has ink on his cuffs and wants a signature. You put the strongbox key into his hand and no other hand, and hear a bad knee drag across the boards, though it is only the crate settling. Deputy Pike has come in behind you, ducking. Mr Bell counts out ten silver dollars for the county\'s trouble; you have eleven now. The wire begins to talk.',
  L='telegraph office', N='Horace Bell; Eli Pike', gone='Billy Tolliver; Wen Li', X='strongbox key:@>Horace Bell', G='silver dollar x10', mood='bittersweet', n='The key went to the agent, Mr Horace Bell, on the stroke of noon.', say={'Horace Bell': 'Mr Bell'}),
T('"What does Reno say?" asks nobody, so I tell Eli: "Your saddle is ready, Sheriff."',
  'He looks round for his father. It takes him that long. Then he sits down on the crate, which holds, and holds his hat on his knees, and asks whether there is any coffee. Mr Bell has the tact to go out and shout at his horses. You pour two cups. On the step outside somebody has chalked the count of days until the circuit judge comes; somebody else has rubbed it out.',
  S='Horace Bell', mood='peaceful', n='Eli Pike is the sheriff of Sorrow Wells now.', say={'Horace Bell': 'Mr Bell'}),
]
SAY = {'Amos Pike': 'Sheriff Pike', 'Eli Pike': 'Deputy Pike', 'Adelaide Tolliver': 'Mrs Tolliver', 'Hugh Finnegan': 'Doctor Finnegan', 'Wen Li': 'Mr Wen'}
FIELDS = dict(G='items_gained', O='items_lost', X='items_transferred', N='npc_met', S='npc_separated', R='relationship_changes', C='status_changes', E='event_trigger')


def habit(t, k):
    """The narrator's way of writing; also names everybody who is here. -> the truth after it"""
    if 'bad' in k: return t
    after = form.fold(t, k)
    if not (k.get('L') and k['L'] != t['place']): k['N'] = '; '.join(sorted(after['here']))
    k['me'] = {'the operator': 'the operator'}.get(k.get('me'), 'You'); k['say'] = SAY | k.get('say', {})
    def w(p):
        if p == '@': return k['me']
        b, n = form.count(p)
        if n > 1: return f'{n} {b}s'
        return k['say'].get(b, f'the {b}' if b in PLAY['unique'] or b.startswith('bottle') else b)
    raw = {f: 'none' for a, f in FIELDS.items() if not k.get(a)}
    for a in 'GO':
        if k.get(a): raw[FIELDS[a]] = '[' + ', '.join(w(p) for p in form.parts(k[a])) + ']'
    if k.get('X'): raw['items_transferred'] = '[' + ', '.join('{item: %s, from: %s, to: %s}' % (w(i), w(a), w(b)) for i, a, b in form.transfers(k['X'])) + ']'
    k['raw'] = raw | k.get('raw', {})
    return after


def walk(ops, past):
    for op in ops:
        if op['op'] in ('turn', 'continue'):
            for o in op.get('before', []) + op.get('after', []): habit(past[-1], o['facts'])
            t = habit(past[-1], op['facts'])
            if op['op'] == 'continue': past[-1] = t
            elif not op.get('dropped'): past.append(t)
        elif op['op'] == 'branch': walk(op['turns'], past[:len(past) - op['back']])
walk(OPS, [form.fresh()])
