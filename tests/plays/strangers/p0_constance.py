"""EN nautical gothic: the whaling barque Constance, 1847. The persona is the surgeon's mate; a sailor is not who he seems, one is lost overboard, and the keys of the hold change hands.
Habits of the narrator: third person, past tense; it names all who are present in npc_met every time, the persona too; ranks and surnames (Mr Pell, Captain Thorne, young Pell); counts in front (3 vials of laudanum),
articles on things (the bone saw, a chart), `none` for nothing, places with a preposition now and then."""
from form import *
PLAY = dict(id='10-constance', char='Obadiah Thorne', user='Christopher Ferris', hp=True, unique=['bone saw', 'scrimshaw tooth', 'sea chart', 'brass key', 'pistol'],
    card='Captain Obadiah Thorne, 54, master of the whaling barque Constance out of New Bedford, fourteen months at sea with the hold half empty. Reads one psalm a day aloud and answers no questions. '
         'Aboard the Constance {{user}} is Ferris, or Kit to those who like him, and to the quarterdeck "the surgeon\'s mate". Afterguard: first mate Josiah Pell (always Mr Pell) and Dr Amos Wray, surgeon. '
         'Mr Pell\'s nephew Toby Pell, eleven, is cabin boy; some call him young Pell. Forward: Will Hatch, harpooner; Anton Skaar, helmsman; Ruiz, cook.',
    persona='Christopher "Kit" Ferris, 24, half a medical education from Edinburgh and a good reason not to go back there. Steady hands, uneasy stomach.',
    greeting='*A lamp swings over the operating table. Somewhere aft eight bells are struck, and nobody in the sick bay of the Constance is sober but one.* "Ferris! Is that you, or the other one?"',
    me=['Ferris', 'Kit', 'Kit Ferris', "the surgeon's mate", "surgeon's mate", 'Mr Ferris'], two=['Josiah Pell', 'Toby Pell'],
    forms={'Josiah Pell': ['Mr Pell', 'Mr. Pell', 'Mr Josiah Pell', 'the mate'], 'Toby Pell': ['Toby', 'young Pell'], 'Obadiah Thorne': ['Captain Thorne', 'the Captain', 'Captain Obadiah Thorne', 'Captain', 'Thorne'],
           'Amos Wray': ['Dr Wray', 'Dr Amos Wray', 'Wray', 'Dr. Wray'], 'Will Hatch': ['Hatch', 'Will'], 'Anton Skaar': ['Skaar', 'Anton'], 'Ruiz': ['Old Ruiz', 'the cook'],
           'sick bay': ['the sick bay'], 'galley': ['the galley'], 'quarterdeck': ['the quarterdeck'], 'hold': ['the hold', 'the after hold'], 'great cabin': ['the great cabin'], 'forecastle': ['the forecastle'],
           'Cinder Island': ['the beach of Cinder Island'], 'wreck of the Aurora': ['the wreck of the Aurora', 'the Aurora'], 'Hobart Town': ['Hobart', 'the quay at Hobart Town'],
           'bone saw': ['the bone saw'], 'scrimshaw tooth': ['the scrimshaw tooth', 'a scrimshaw tooth'], 'sea chart': ['the sea chart', 'a sea chart', 'the chart'], 'brass key': ['the brass key', 'a brass key'], 'pistol': ['the pistol', 'a pistol'],
           'vial of laudanum': ['vials of laudanum', 'a vial of laudanum', 'laudanum'], "ship's biscuit": ["ship's biscuits", "a ship's biscuit"], 'musket ball': ['musket balls', 'a musket ball'], 'plug of tobacco': ['plugs of tobacco', 'a plug of tobacco'],
           'coil of rope': ['a coil of rope', 'the coil of rope'], 'length of rope': ['lengths of rope', 'a length of rope'], 'log book': ['the log book', 'a log book']})
SAY = {'Josiah Pell': 'Mr Pell', 'Toby Pell': 'Toby', 'Obadiah Thorne': 'Captain Thorne', 'Amos Wray': 'Dr Wray', 'Will Hatch': 'Hatch', 'Anton Skaar': 'Skaar',
       'bone saw': 'the bone saw', 'scrimshaw tooth': 'the scrimshaw tooth', 'sea chart': 'the sea chart', 'brass key': 'the brass key', 'pistol': 'the pistol'}
OPS = [
T('"There is only the one of me, Dr Wray. Sit down before the ship sits you down."',
  'Dr Wray sat, rather harder than he had meant to, on a cask of vinegar. His spectacles had slid to the end of his nose and he peered over them at Ferris with enormous goodwill. "Fourteen months," he said, "and not a broken leg among them. It is unnatural. They are saving them up." The lamp swung. Above, somebody laughed at something and stopped, as men had begun to do lately on the Constance.',
  L='sick bay', N='Amos Wray', R='Amos Wray>@:paternal+1', mood='queasy', n='Evening watch. Dr Wray is drunk.', say={'sick bay': 'the sick bay'}),
T('"Then let me at least put an edge on the tools."',
  'Wray fumbled along the rack and held out the bone saw by its blade. "Have it. I have not the wrist for it any longer; do not tell the Captain." After it, out of the locked drawer, came three vials of laudanum, which he counted twice into the palm of the surgeon\'s mate. "Nor the nerve for these. If I ask you for one, Kit, you are to say no. That is an order, or it will be when I can stand."',
  X='bone saw:Amos Wray>@', G='vial of laudanum x3', mood='confiding', n='Dr Wray handed over his saw and the laudanum, and ordered Ferris to refuse him any.'),
T('I lock the drawer and pocket the lot. "Who is that on the ladder?"',
  'It was two men carrying a third. They rolled Will Hatch, harpooner, on to the table and went off quickly, wiping their hands. Hatch was grey, with teeth going like a loom. "I am f-fit for duty," said Hatch to the lamp. Ferris laid the back of a hand on the forehead and took it away. Dr Wray peered across and crossed himself, although he was a Presbyterian.',
  N='Will Hatch', C='Will Hatch=burning with fever', mood='alarmed', n='Will Hatch was carried in.', me='Ferris', say={'Will Hatch': 'Will Hatch'}),
T('*Half a dose of laudanum, then cold cloths.* "Doctor, go and tell the Captain. I will see to the shirt."',
  'The vial emptied drop by drop, and two were left. When Wray\'s boots had gone up the ladder Ferris cut the shirt, found the linen bindings beneath it, stopped, and very carefully drew the blanket up again. One eye had opened. "Winifred," whispered the harpooner. "Since you will want something to write down. Don\'t." "I have no pencil," said Kit. A hot hand took hold of his. "Swear you\'ll tell no one aboard." He swore.',
  O='vial of laudanum', S='Amos Wray', R='Will Hatch>@:trust+2', mood='hushed', n='Secret: only Ferris knows that Will Hatch was born Winifred Hatch. Ferris swore silence.', secret=('winifred', ('only Ferris', 'Ferris knows')), me='Kit'),
T('I leave Hatch asleep and go forward to the galley for broth.',
  'The galley was the one warm place in the ship. Ruiz was beating a cockroach time on a kettle lid while Toby Pell, all ears and elbows, picked weevils from a sack. "Broth? For the sick, yes. For the mate of the surgeon, six biscuits, and you owe me two plugs of tobacco. Before the Line." Ferris, who did not smoke and had no tobacco, agreed at once and stowed the biscuits in his coat.',
  L='galley', N='Ruiz; Toby Pell', gone='Will Hatch', G="ship's biscuit x6", R='Ruiz>@:amused+1', mood='cosy', n='Ferris owes Ruiz two plugs of tobacco, due before the Line.', debt=('tobacco', ('two plugs',), 'Ruiz'), say={'galley': 'the galley', 'Toby Pell': 'Toby Pell'}),
T('"You look hungry, Toby. Is your uncle feeding you?" I hold out two of the biscuits.',
  'Both biscuits went inside the boy as if down a well, and four remained. "Uncle says a full belly makes a slow topman." He looked about, then drew something from his shirt and pushed it at Ferris: a scrimshaw tooth, yellow, with a ship scratched on one side and a face on the other. "You keep it. He\'d only take it off me. He takes things off everybody." Ruiz had stopped drumming on the lid.',
  X="ship's biscuit x2:@>Toby Pell; scrimshaw tooth:Toby Pell>@", R='Toby Pell>@:devoted+2; Toby Pell>Josiah Pell:afraid-2', mood='uneasy', n='Toby is afraid of his uncle, Mr Pell.', me='Kit',
  raw={'items_transferred': "[{item: 2 ship's biscuits, from: Kit, to: Toby}, {item: the scrimshaw tooth, from: Toby, to: Kit}]"}),
T('*Up to the quarterdeck, to report the fever.*',
  'Captain Thorne stood at the weather rail with his hat tied on under the chin and a psalter in his pocket. Mr Pell stood a yard behind him, where he always stood, like a man next in a queue. At the wheel the big Dane, Skaar, gave Ferris a wink. "A fever," said the Captain, when he had been told. "One only?" "One only, sir." "There will be more," said Mr Pell, and seemed to find it convenient.',
  L='quarterdeck', N='Obadiah Thorne; Josiah Pell; Anton Skaar', S='Ruiz; Toby Pell', R='Josiah Pell>@:disdain-1; Anton Skaar>@:friendly+1', mood='brooding', n='Ferris reported one fever to Captain Thorne.', me="the surgeon's mate",
  say={'quarterdeck': 'the quarterdeck', 'Anton Skaar': 'Anton Skaar', 'Josiah Pell': 'Mr Josiah Pell'},
  before=[W('The Captain did not turn round. When Ferris touched his sleeve the whole coat swayed, and it was seen that Obadiah Thorne had been dead for some hours, lashed upright to the mizzen shrouds with his own telescope cord. "He wished to see the ice," said Mr Pell. "Congratulate me, Mr Ferris. I am your master now."',
            L='quarterdeck', N='Josiah Pell', C='Obadiah Thorne=dead', R='Josiah Pell>@:gloating-3', n='The Captain hung lashed to the mizzen shrouds.', mood='horror', lies=['mizzen', 'gloating'])]),
T('"Glass is dropping, Skaar." I hook an elbow round the binnacle.',
  'The squall arrived all at once, like a door. Ferris saw a green hill with the sky behind it, and then the binnacle hit him in the chest and he was swimming on the deck. When it had drained away through the scuppers there was nobody at the wheel. Mr Pell had it. "Skaar is gone!" he shouted. "Overboard! No boat will live in this!" The Captain uncovered his head. In the log it was put down as death by drowning.',
  C='Anton Skaar=dead', hp=-10, E='Skaar was washed overboard in a squall', mood='stricken', n='Mr Pell took the wheel and had Skaar entered as drowned.', me='Ferris', say={'Anton Skaar': 'Anton Skaar'}, raw={'status_changes': '[{name: Anton Skaar, status: drowned}]'}),
T('"He was a strong swimmer, sir. Is there land to leeward?"',
  'Thorne considered him for longer than was comfortable. Then he drew a rolled sea chart from his breast and gave it, not to his first mate, but to Ferris. "You write a fair hand. Copy me the reefs about Cinder Island, and have this in my own hands again by the forenoon watch. In mine, sir, and no other man\'s." Behind him Mr Pell looked at the wet deck and smiled a little.',
  X='sea chart:Obadiah Thorne>@', R='Obadiah Thorne>@:measuring+1', mood='charged', n='Ferris is to return the chart to Captain Thorne by the forenoon watch.', debt=('chart', ('forenoon',), 'Obadiah Thorne'), me="the surgeon's mate"),
T('I go below with the chart under my shirt. First things first: Hatch.',
  'The fever had broken. In the sick bay Hatch sat up against the bulkhead, hollow as a gourd, eating cold broth with great concentration. "Skaar?" the harpooner asked, having heard the shouting; and, when Ferris shook his head: "He never slipped in his life. He\'d walk a wet yard to fetch his pipe." Neither of them said the next thing. A rat did, a long way off, behind the planking.',
  L='sick bay', N='Will Hatch', S='Obadiah Thorne; Josiah Pell', C='Will Hatch=healed', mood='suspicious', n='Hatch is over the fever and does not believe that Skaar slipped.', me='Ferris', raw={'status_changes': '[{name: Hatch, status: recovered}]'}),
CONT('By the time the reefs were half copied, the pen had worn a groove in his finger, and the broth was gone to the last drop.', mood='watchful', n='Ferris copied half of the reefs.', me='Ferris'),
T('"Footsteps. Small ones. Come in, Toby."',
  'Young Pell was the colour of tallow. "It\'s the doctor. He\'s at the bottom of the hold ladder and his head\'s on wrong." Ferris was up before he knew it, and sat down again, because the boy had hold of his coat with both fists. Dr Amos Wray was dead; had been, they said forward, since the dog watch. "They\'re saying drink," said Toby. "But he\'d not got any, Kit. He came to the galley begging for some."',
  N='Toby Pell', C='Amos Wray=dead', E='Dr Wray was found dead in the hold', mood='grief', n='They say that Dr Wray fell drunk; Toby says that he was sober.', me='Kit', say={'Toby Pell': 'young Pell'}, raw={'status_changes': '[{name: Dr Amos Wray, status: dead}]'}),
T('"Show me. Hatch, bolt the door after us." I take Toby by the hand, down to the hold.',
  'There was a lantern in the hold before them. Mr Pell rose from beside the body with the unhurried air of a man who has finished looking for something. "Do your office, surgeon. You are the surgeon now, I suppose." He went up past them. Wray\'s right hand was shut like a limpet; it took Ferris some time, and an apology, to open it. In it was a brass key.',
  L='hold', N='Toby Pell; Josiah Pell', gone='Will Hatch', S='Josiah Pell', G='brass key', R='Josiah Pell>@:suspicion-2', mood='dread', n='The brass key was in Dr Wray\'s closed hand. Mr Pell had been looking for something.', me='Ferris', say={'hold': 'the hold'},
  after=[W('The hold was dry and smelt of violets. On a tea chest sat a lady in a bonnet, mending a glove. "I have been here since Nantucket," said Lady Araminta Vane. "Your poor doctor brought me my suppers. Shall you do it now?" Toby dropped the lantern.',
           L='hold', N='Toby Pell', G='kid glove', n='Lady Araminta Vane has been a stowaway since Nantucket.', mood='dreamlike', me='Ferris', lies=['Araminta', 'kid glove', 'stowaway'])]),
T('*To the great cabin, at a run, before the forenoon watch is called.* "Captain. Your chart, and something else."',
  'He sent Toby back to Hatch, and went in alone. Captain Thorne unrolled the chart, found every reef, and grunted; it was his whole vocabulary of praise. But at the brass key he went very still. "That opens my strong-box," he said, "and was stolen a week ago." He closed his fist on it. "So Amos found the thief before I did. You will say nothing, Mr Ferris. You will be seen to know nothing." He read that day\'s psalm twice.',
  L='great cabin', N='Obadiah Thorne', S='Toby Pell', X='sea chart:@>Obadiah Thorne; brass key:@>Obadiah Thorne', R='Obadiah Thorne>@:respect+1', paid='chart', settled=('forenoon', ('returned', 'settled', 'gave back')), mood='grave', n='Ferris returned the chart to Captain Thorne. The brass key opens the strong-box and had been stolen.', me='Mr Ferris', say={'great cabin': 'the great cabin'}),
EDIT(1, 'found every reef, and grunted', 'found every reef in its place, and grunted'),
DROP('"Give me men, sir, and I will arrest the mate this minute."',
  'Thorne pulled a speaking-tube from the wall. There was a shot on deck before he could say a word into it. The skylight burst and Hatch came through it in a shower of glass, and lay across the psalter, and did not move. "Now you see," said the Captain.',
  C='Will Hatch=dead', hp=-5, n='Hatch fell through the skylight.', mood='shock', lies=['skylight', 'speaking-tube']),
T('"Aye, sir." I go forward and try to look like a man who knows nothing.',
  'The forecastle was playing cards without much noise. Hatch had been carried back to a hammock by common consent and was darning a sock. Ruiz, visiting, shuffled as though he were chopping onions. "Pell has asked for the keys of the arms chest," he told his cards. "Every man knows it. Nobody says it." Under the table something nudged Ferris\'s knee: a coil of rope, new manila, passed across by the cook.',
  L='forecastle', N='Will Hatch; Ruiz', S='Obadiah Thorne', G='coil of rope', R='Ruiz>Josiah Pell:hostile-2', mood='conspiratorial', n='Mr Pell has asked for the keys of the arms chest.', me='Ferris', say={'forecastle': 'the forecastle', 'Will Hatch': 'Will Hatch'}),
T('*I cut the coil in two with the bone saw and give Hatch one of the halves.* "For whoever goes over the side next."',
  'Two lengths of rope lay where one coil had been, and Hatch took one and wound it round a narrow waist under the jersey. "If you hear me whistle three times, come to the boats and bring nothing." Ruiz dealt another hand with eyes lowered. The other length went into the coat of the surgeon\'s mate, on top of the four biscuits. Nobody at the table had seen a thing; forty eyes had taken care not to.',
  O='coil of rope', G='length of rope x2', X='length of rope:@>Will Hatch', R='Will Hatch>@:comrade+1', mood='conspiratorial', n='The rope was cut in two. Three whistles mean: to the boats.', me="the surgeon's mate",
  raw={'items_lost': '[the coil of rope]', 'items_gained': '[2 lengths of rope]', 'items_transferred': "[{item: one length of rope, from: the surgeon's mate, to: Hatch}]"}),
T('"How long do we have?"',
  '"Till there\'s land," said Hatch; and on the word, thin and high, came the cry from the masthead. Land, two points on the bow. Ruiz laid down four queens that he could not possibly have been dealt, and went off to his fires without collecting. "Cinder Island," said Hatch. "He\'ll send off the boats for water, and everyone he doesn\'t like will be in them. You wait and see who\'s asked."',
  S='Ruiz', mood='foreboding', n='Land in sight: Cinder Island.', me='Kit'),
T('I am asked, of course. Into the whaleboat, with a bag of lint.',
  'So were Hatch, and Toby, and nobody else but four casks. The boat grated on black sand, the beach of Cinder Island steamed faintly between their boots, and half a mile out the Constance stood on and off with all her windows shining. Hatch reached under a thwart and slapped a pistol into Ferris\'s hand, and six musket balls after it, still warm. "Cook keeps a good larder," said the harpooner.',
  L='Cinder Island', N='Will Hatch; Toby Pell', X='pistol:Will Hatch>@', G='musket ball x6', mood='exposed', n='Mr Pell sent Ferris, Hatch and Toby ashore for water.', me='Ferris', say={'Cinder Island': 'the beach of Cinder Island'}),
T('"What is that, behind the point? Spars?"',
  'It was a wreck: the Aurora, of Sag Harbour, eleven years on the reef by the look of the weed. Smoke was rising from her galley funnel. Hatch went in first with a boat-hook and came out backwards. After the boat-hook, holding the other end, bearded with salt and grinning like a dog, came Anton Skaar. "Kit!" he roared. "You took your time!" Toby screamed, then flung both arms around him to see if they would go through.',
  L='wreck of the Aurora', N='Will Hatch; Toby Pell; Anton Skaar', C='Anton Skaar=alive', E='Skaar was found alive on Cinder Island', R='Anton Skaar>@:friendly+2', mood='overjoyed', n='Skaar did not drown; he swam ashore and lives in the wreck.', me='Kit', say={'wreck of the Aurora': 'the wreck of the Aurora'}),
T('"They wrote you down as drowned. How did you fall, Anton?"',
  '"Fall?" The grin went. "He hit me, the mate, with a belaying pin, when the sea came over. I had seen him at the strong-box. So." He showed the dent. Hatch wanted a look at the far side of the reef before dark, and took Skaar to point out the channel; they would all meet on the beach at sundown. That left Ferris with the boy, a dying fire, and a noise in the bushes.',
  S='Will Hatch; Anton Skaar', R='Anton Skaar>Josiah Pell:vengeful-3', mood='ominous', n='Mr Pell struck Skaar down because Skaar had seen him at the strong-box. All meet on the beach at sundown.', me='Ferris'),
BRANCH(4,
  T('"And if I go to Mr Pell first, and offer to join him?"', 'Hatch put the sock down. "Then you\'d be in his boat, and I\'d have to kill you kindly." From under the hammock came a flat bottle of green absinthe, and a long swallow went each way before the cork was back. "Keep it. Courage for cowards," said Hatch, without malice. Outside the watch was changing.',
    G='absinthe', R='Will Hatch>@:scorn-1', mood='bitter', n='Hatch scorned the offer and gave Ferris absinthe.', lies=['absinthe', 'scorn']),
  T('I go down to the orlop, where Pell has his friends.', 'There were three round a candle, and the one who spoke had no nose. "Call me Lazarus," he said, "the mate does. You\'ll sign?" He pushed over a Bible with the Psalms cut out of it, and a pen. Ferris thought of Edinburgh, and signed somebody else\'s name.',
    L='orlop', N='Lazarus', gone='Will Hatch', mood='sordid', n='Ferris signed the articles of Lazarus under a false name.', lies=['Lazarus', 'orlop']),
  spoil=['Aurora', 'pistol']),
T('*I load, prime, and push Toby behind me.* "Climb that mast, and do not look down."',
  'The boar came out like a thrown trunk. The first ball took it in the shoulder and annoyed it; its tusk opened Ferris from the knee half-way to the hip. The second, at a distance of no feet whatever, did what was needed. Four balls remained. "You\'re leaking," Toby observed from above. Kit, tying off his own thigh with lint, agreed that he was. They roasted what they could, and had something like a feast.',
  O='musket ball x2', hp=-18, mood='savage', n='Ferris shot a boar with two balls and was gashed in the thigh.', me='Kit', raw={'items_lost': '[2 musket balls]'}),
T('"Sundown. Lean on me, or I on you. To the beach."',
  'Four casks, four people and one whaleboat: Hatch and Skaar were on the beach already with the boat half launched. Nobody wasted a word. From the ship there came, small and clear over the flat water, the pop of a musket, and then several together. "It has begun without us," said Hatch. Skaar spat on both palms and took the stroke oar. Toby had stopped shaking, which was somehow worse.',
  L='Cinder Island', N='Will Hatch; Toby Pell; Anton Skaar', mood='grim', n='Sundown. Musket shots aboard the Constance.', me='Ferris', say={'Toby Pell': 'young Pell'}),
T('"Pull for the dark side. They will not look for a dead man."',
  'They pulled with rags in the rowlocks. The Constance grew until she had no top. Twice a lantern went along the rail, and twice Skaar bent forward until his beard touched his knees, and the lantern passed. Ferris held the boy\'s head against his good side and counted strokes. At two hundred and eleven the bow kissed copper, and a rope\'s end, let down by somebody who smelt of onions, tapped him on the hat.', bad='\n\n```state\nlocation: the beach of Cinder Island\nhp_change: 0\nitems_gained: none\nnpc_met: [Ferris, Hatch, Sk'),
T('Up the rope, Skaar before me. I want Pell to see him first.',
  'On the quarterdeck Mr Pell had a boarding pistol in either hand, and Captain Thorne sat against the binnacle with his left arm in ruins. "Put down the ship, Mr Pell," said a voice out of the sea. Then Skaar came over the rail with the weed still on him, and the mate\'s mouth fell open and both his hands with it. Hatch had him on the planks directly. Toby stayed below with Ruiz, at the galley door, by order.',
  L='quarterdeck', N='Anton Skaar; Will Hatch; Obadiah Thorne; Josiah Pell', gone='Toby Pell', C='Obadiah Thorne=left arm shattered', E='The mutiny of Mr Pell failed', R='Josiah Pell>Anton Skaar:terror-3', mood='fierce', n='Hatch overpowered Mr Pell. Toby stayed with Ruiz.', me='Ferris', say={'Josiah Pell': 'Mr Josiah Pell'}),
T('"Irons for him. And turn out his pockets."',
  'In the second pocket was the brass key. He had it off the Captain with the first shot. Ferris held it up, and for once nobody on that deck looked elsewhere. "I should have been master within the year," Mr Pell said reasonably, as they dragged him forward, "and you, sir, a surgeon with a diploma. Think about that when it gets cold." Then the hatch shut on him. The Captain said the word Amen and fainted.',
  X='brass key:Josiah Pell>@', S='Josiah Pell', mood='stern', n='Mr Pell had taken the brass key from Captain Thorne. He is in irons in the hold.', me="the surgeon's mate"),
T('"Carry him to the great cabin. Hatch, light. Skaar, hold him down."',
  'They laid him on his own table under his own lamp. One vial of laudanum went between his teeth, and one was left. "Ferris," said Captain Thorne distinctly, "is that you or the other one?" "There is only the one of me, sir." He took up the bone saw. Hatch did not look away and Skaar did. It was over in the time of a psalm; when the stump was tied the Captain was still breathing, somewhat to the general surprise.',
  L='great cabin', N='Obadiah Thorne; Will Hatch; Anton Skaar', O='vial of laudanum', C='Obadiah Thorne=left arm amputated', R='Obadiah Thorne>@:gratitude+2', mood='harrowing', n='Ferris took off the Captain\'s left arm. One vial of laudanum left.', me='Ferris', raw={'items_lost': '[one vial of laudanum]'}),
T('*The key into the strong-box. I want to know what two men were to die for.*',
  'No gold. A log book, in the hand of Amos Wray: every cask of oil that Mr Pell had sold over the side to Yankee traders, with the date and the price. "He kept it for me," the Captain murmured from the table, eyes shut. "Drunk every night, and never once out by a gallon." Ferris took the book out and locked the box, and hung the key about the old man\'s neck himself. "Keep the book. You will be asked."',
  G='log book', X='brass key:@>Obadiah Thorne', mood='sober', n='Dr Wray\'s log book proves that Mr Pell sold oil over the side.', me='Mr Ferris'),
T('I need hot water and an hour without blood in it. Galley.',
  'Hatch and Skaar kept watch over the table; Ferris went forward by himself, hand over hand. Ruiz put him on the flour barrel with a bowl of hot lobscouse, and it went through him like good news, while Toby pulled off his boots. Then from the slop chest, as his share of a mutineer\'s effects, he was solemnly handed three plugs of black tobacco. He looked at them for some time. He had a feeling that they ought to remind him of something.',
  L='galley', N='Ruiz; Toby Pell', S='Obadiah Thorne; Will Hatch; Anton Skaar', G='plug of tobacco x3', hp=6, mood='exhausted', n='Ferris received his share of the mutineers\' effects.', me='Ferris', say={'Toby Pell': 'young Pell', 'galley': 'the galley'}, raw={'items_gained': '[3 plugs of tobacco]'}),
T('"Ruiz! Have we crossed the Line yet?"',
  '"Tomorrow, they say, at noon." The cook held out a palm like a spade, without any reproach. Ferris laid the debt upon it, one, two, and kept the third for appearances. "I had you dead and written off," Ruiz said, sniffing each in turn. "To be paid by a dead man, that is luck for a whole year." Toby was asleep against the oven door, with his mouth open and a biscuit that was not one of Kit\'s in his fist.',
  X='plug of tobacco x2:@>Ruiz', R='Ruiz>@:loyal+2', paid='tobacco', settled=('two plugs', ('paid', 'settled')), mood='warm', n='Ferris paid Ruiz the two plugs; nothing is owing.', me='Ferris',
  raw={'items_transferred': '[{item: 2 plugs of tobacco, from: Ferris, to: Ruiz}]'}),
T('*Down to the hold, with a lantern and one biscuit.* "Eat, Mr Pell. And then tell me how Dr Wray came by his broken neck."',
  'Mr Pell, in irons against the foremost cask, ate half of the biscuit before he spoke. Three were left in the coat. "It was never the doctor that I was after. I came for the key. He would not open his hand." He seemed to want this understood. "Is the boy well?" "He is asleep." "Good," said Mr Pell, and turned his face to the wood; it was the only question that Ferris ever heard him ask.',
  L='hold', N='Josiah Pell', gone='Ruiz; Toby Pell', X="ship's biscuit:@>Josiah Pell", R='Josiah Pell>@:resigned+1', E='Mr Pell confessed to the death of Dr Wray', mood='bleak', n='Mr Pell confessed that he killed Dr Wray for the key.', me="the surgeon's mate", tell=[('sober', 'closed hand')]),
T('Forecastle. I owe Hatch a pistol.',
  'The cards were out again, with noise this time. Hatch checked the flint, the pan and the barrel, and tucked the pistol away beneath the jersey. The four balls Ferris was told to keep, for ballast. "Skaar means to ship home," said the harpooner. "I\'ll go on at Hobart. A new ship, where nobody has had the fever and talked." It was said to the cards; but under the table a boot came down lightly on his and remained there.',
  L='forecastle', N='Will Hatch', S='Josiah Pell', X='pistol:@>Will Hatch', R='Will Hatch>@:tender+2', mood='wistful', n='Hatch means to leave the ship at Hobart.', me='Kit', say={'Will Hatch': 'Will Hatch'}),
T('*Hobart Town, five weeks later. I find Toby on the quay with his bundle.* "You will be wanting this back."',
  'The tooth lay yellow in the sun between them, the ship on one side and the face on the other. "That\'s my dad," said Toby, turning it over. "Uncle\'s brother. He could draw anything." Skaar, who was taking him home to New Bedford, blew his nose like a conch. Hatch stood somewhat apart with a sea-bag and a new hat. The Constance lay behind them, sold, with another master\'s washing in her rigging.',
  L='Hobart Town', N='Toby Pell; Anton Skaar; Will Hatch', X='scrimshaw tooth:@>Toby Pell', R='Anton Skaar>Toby Pell:guardian+2', mood='bittersweet', n='Five weeks later. Skaar takes Toby home. The face on the tooth is Toby\'s father.', me='Kit', say={'Hobart Town': 'the quay at Hobart Town'}),
T('I wait until the others are out of earshot. "Well, Hatch. What name shall I write to?"',
  'Skaar and young Pell had gone on to see about the packet, hand in hand, the largest and the smallest thing on that quay. Hatch looked out over the water for a while. "The old one," she said; it was the first time that he had heard the word used of her, even in his own head. "Care of the post office. You\'ve a pencil now, I hope." "I have," said Kit Ferris, and could not for the life of him find it.',
  S='Anton Skaar; Toby Pell', R='Will Hatch>@:love+2', mood='tender', n='Hatch will wait for a letter from Ferris.', me='Kit', say={'Toby Pell': 'young Pell'}, tell=[('winifred',)]),
]

ONE = {"ship's biscuit": "a ship's biscuit", 'vial of laudanum': 'a vial of laudanum'}
MANY = {"ship's biscuit": "ship's biscuits", 'vial of laudanum': 'vials of laudanum', 'musket ball': 'musket balls', 'plug of tobacco': 'plugs of tobacco', 'length of rope': 'lengths of rope'}


def habit(k, truth=None):
    if 'bad' in k: return
    k['say'] = {**SAY, **k.get('say', {})}
    k.setdefault('me', 'Ferris')
    raw = dict(k.get('raw', {}))
    say = lambda x: k['me'] if x == '@' else k['say'].get(x, x)
    def thing(i):
        base, n = count(i)
        return f'{n} {MANY.get(base, base)}' if n > 1 else ONE.get(base, say(base))
    for f, key in (('items_gained', 'G'), ('items_lost', 'O')):
        if k.get(key): raw.setdefault(f, '[' + ', '.join(thing(i) for i in parts(k[key])) + ']')
    for f, key in (('items_gained', 'G'), ('items_lost', 'O'), ('npc_separated', 'S'), ('items_transferred', 'X'), ('status_changes', 'C'), ('relationship_changes', 'R'), ('event_trigger', 'E')):
        if not k.get(key): raw.setdefault(f, 'none')
    if truth: raw.setdefault('npc_met', '[' + ', '.join([k['me'], *(say(p) for p in sorted(truth['here']))]) + ']')     # everybody present, anew each time
    k['raw'] = raw


t = fresh()
for op in OPS:
    for x in (*op.get('before', ()), *op.get('after', ()), *op.get('turns', ())): habit(x['facts'])
    if 'facts' in op:
        after = fold(t, op['facts'])
        here = dict(after, here=after['here'] | {p for p in parts(op['facts'].get('S', '')) if p in parts(op['facts'].get('N', ''))})
        habit(op['facts'], here)
        if not op.get('dropped'): t = after
PLAY['known'] = [*PLAY['forms'], *(f for v in PLAY['forms'].values() for f in v), 'strong-box', 'Constance', 'the Constance', 'kid glove', 'Araminta', 'Lady Araminta Vane', 'absinthe', 'Lazarus', 'orlop']
