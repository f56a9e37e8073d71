"""EN courtroom drama: the People v. Rusk, a murder trial without a body.
Habits of the narrator: it writes minutes. Everybody in the room is listed as met, counsel too; the place stands in every block; nothing is `none` or `N/A`; counts stand in brackets;
people go by title as in the court (Mr. Whitlock, Miss Pell), Mrs. Rusk is always the mother-in-law, plain Josie always the accused; an exhibit goes by its letter once it is marked."""
from form import *
PLAY = dict(id='1-nobody', char='Teddy Brandt', user='Adaeze Okafor', unique=['locker key', 'cassette', 'wedding ring', 'boat log', 'plea offer', 'insurance file'],
    card='''Teddy Brandt, 58, investigator for the Calder County public defender. Ex-cop, bad knees, worse jokes. He works for {{user}}, whom the courthouse calls Counsel or Ms. Okafor.
The case is the People v. Rusk: Josie Rusk, 29, is accused of killing her husband Calvin (Cal), whose boat came home bloody and empty. In Calder "Mrs. Rusk" means the mother-in-law, Dorothy; nobody ever gave Josie the title.
Judge Harriet Lund presides in Courtroom Two. Miles Whitlock prosecutes. The clerk is Josie Pell, whom everybody calls Miss Pell so that nobody hangs the wrong Josie. Amos Tull keeps the Rusk boathouse.
Keep the state block like court minutes: all persons in the room, counsel included.''',
    persona='Adaeze Okafor, 34, public defender in Calder County on the big lake. Stubborn, dry, sleeps badly, has not won a murder trial yet.',
    greeting='''*February. The lake is frozen to the lighthouse. At the county jail a deputy slides back the grille and yawns.* "Rusk? She's been asking for you since five, Ms. Okafor. Won't eat."''',
    me=['Ms. Okafor', 'Okafor', 'Counsel', 'Adaeze', 'the defense', 'defense counsel'], two=['Josie Rusk', 'Josie Pell'], disguised=['Leland Voss'],
    forms={'Josie Rusk': ['Josie', 'the accused', 'Ms. Rusk'], 'Josie Pell': ['Miss Pell', 'Pell', 'the clerk'], 'Dorothy Rusk': ['Mrs. Rusk', 'Dorothy', 'Mrs. Dorothy Rusk'], 'Miles Whitlock': ['Mr. Whitlock', 'Whitlock', 'the prosecutor'],
           'Harriet Lund': ['Judge Lund', 'Lund', 'Judge Harriet Lund', 'Her Honor', 'the judge'], 'Teddy Brandt': ['Teddy', 'Mr. Brandt', 'Brandt'], 'Calvin Rusk': ['Cal Rusk', 'Cal', 'Calvin', 'Mr. Rusk'], 'Amos Tull': ['Mr. Tull', 'Tull', 'Amos'],
           'Leland Voss': ['Mr. Voss', 'Voss', 'man in the Tigers cap', 'the man in the Tigers cap', 'Tigers cap'], 'Lorna Beck': ['Lorna', 'Ms. Beck'], 'Petey': ['Petey Rusk', 'Peter Rusk', 'Peter'],
           'Calder County Jail': ['county jail', 'the county jail', 'jail'], "public defender's office": ["the public defender's office", "PD's office", 'the office', 'office'], 'Courtroom Two': ['courtroom', 'the courtroom', 'Courtroom 2'],
           'Greyhound station': ['the Greyhound station', 'Greyhound station, Escanaba'], 'Rusk boathouse': ['the Rusk boathouse', 'boathouse', 'the boathouse'], 'Dockside Diner': ['the Dockside Diner', 'Dockside', 'diner'],
           "judge's chambers": ["Judge Lund's chambers", 'chambers', "the judge's chambers"], "Lorna's farm": ["Lorna Beck's farm", 'the farm', 'Beck farm'],
           'cassette': ['Exhibit D', 'Defense Exhibit D', 'cassette (Exhibit D)', 'the cassette'], 'crime scene photographs': ['crime scene photograph', 'photographs'], 'blank subpoenas': ['blank subpoena', 'subpoenas', 'subpoena']})
SAY = {'Josie Rusk': 'Josie', 'Josie Pell': 'Miss Pell', 'Dorothy Rusk': 'Mrs. Rusk', 'Miles Whitlock': 'Mr. Whitlock', 'Harriet Lund': 'Judge Lund', 'Teddy Brandt': 'Teddy', 'Calvin Rusk': 'Cal Rusk', 'Amos Tull': 'Mr. Tull', 'Lorna Beck': 'Lorna', 'Leland Voss': 'Mr. Voss'}


class Minutes(dict):
    """none, N/A, brackets for counts."""
    def __ror__(self, fields):
        out = dict(fields) | dict(self)
        for a in ('items_gained', 'items_lost', 'items_transferred'): out[a] = re.sub(r' x(\d+)(?=[,\]])', r' (\1)', out[a])
        return {a: 'none' if b == '[]' else 'N/A' if b == 'null' else b for a, b in out.items()}


def minutes(t, k):
    k.setdefault('me', 'Ms. Okafor'); k['say'] = SAY | k.get('say', {}); after = fold(t, k)
    if k.get('N'): k['N'] = '@; ' + k['N']
    raw = {} if 'L' in k or not after['place'] else {'location': after['place']}
    k['raw'] = Minutes(raw | k.get('raw', {}))
    return after


OPS = [
T('''I sit down across from her and put my pen away before I say anything. "Josie. I'm Adaeze. I'm the one who's on your side."''',
  '''She is smaller than her mug shot. Somebody has given her a sweater with reindeer on it, in February, and she has pulled the cuffs over her hands. "They say Cal's dead," says Josie, to the table. "The county signed the paper on Friday. No body, but they signed it, blood on the deck was enough for them." She looks up. "So I'm a widow, right? That's what you call it. Even when it's supposed to be you that did it."''',
  L='Calder County Jail', N='Josie Rusk', C='Calvin Rusk=dead', R='Josie Rusk>@:guarded+1; Josie Rusk>Calvin Rusk:husband-1', mood='bleak, watchful', n='The county has declared Cal Rusk dead, without a body. Josie is charged with his murder.', me='Adaeze', say={'Josie Rusk': 'Josie Rusk'}),
T('"Tell me about that night. All of it. Nothing you say leaves this room."',
  '''It takes her four tries. "I wasn't on the boat. I was at the bus depot in Escanaba with a one-way to Duluth in my pocket, and I'd left Petey asleep by himself. Six years old. If that gets out they take him, Ms. Okafor, and Dorothy gets him." She works something out of the hem of the sweater: a locker key, number 41. "And don't you ever put him on that stand." You take the key, and you give her your word on it.''',
  X='locker key:Josie Rusk>@', R='Josie Rusk>@:pleading+1', mood='raw, hushed', n='Privileged, only Ms. Okafor knows: Josie had a one-way ticket to Duluth that night. Ms. Okafor gave Josie her word never to put Petey on the stand.', me='Adaeze',
  secret=('one-way', ('only Ms. Okafor', 'privileged')), debt=('petey', ('Petey on the stand', 'never to put Petey'), 'Josie Rusk')),
T('Back to the office. "Teddy, what did the state send over?"',
  '''"Misery," says Teddy, "in triplicate." The radiator clanks; his feet are on your desk, on your only clean blotter. He deals six crime scene photographs across it like a poker hand: deck, gaff, blood, blood, a child's life jacket, blood. "Twenty bucks says Whitlock offers manslaughter before lunch tomorrow." You say he will make you wait until the afternoon. You shake on it, and Teddy's hand is as warm as a baked potato.''',
  L="public defender's office", N='Teddy Brandt', G='crime scene photographs x6', gone='Josie Rusk', R='Teddy Brandt>@:loyal+2', mood='grim, companionable', n='Bet with Teddy for twenty bucks: will Whitlock offer a plea before lunch?', debt=('bet', ('twenty bucks',), 'Teddy Brandt'), say={'Teddy Brandt': 'Teddy Brandt'}),
T('"I need paper. Who saw the boat come in?"',
  '''"Amos Tull, who keeps the boathouse. Saw it, tied it up, called it in. Drinks, but on a schedule." Teddy rummages in the filing cabinet that is mostly his lunch, and comes up with three blank subpoenas, already signed by a clerk who loves him. "Make 'em count. She only loves me so much." He slides them under the elastic of your folder and takes back the last of your coffee as a fee.''',
  G='blank subpoenas x3', mood='brisk, wry', n='Amos Tull of the boathouse saw the boat come in.',
  before=[W('''"Nobody," says Teddy, and closes the door behind him. "And you won't need any. My brother-in-law has a friend in the evidence room." He puts a grocery sack in your lap. Inside, wet and rusty, lies the gaff hook, with the tag still on it. "Now it never existed. You can thank me at the barbecue." Your fingerprints are on the sack already.''',
            X='gaff hook:Teddy Brandt>@', R='Teddy Brandt>@:reckless-1', n='Teddy stole the gaff hook out of the evidence room.', mood='sick', lies=['gaff hook', 'evidence room', 'reckless'])]),
T('Nine o\'clock, Courtroom Two. "Adaeze Okafor for the defense, Your Honor."',
  '''"I know who you are, Counsel. You're the one who always asks for a glass of water and never drinks it." Judge Lund has glasses on a chain and a cold. At the other table Miles Whitlock buttons a very good jacket. The clerk, Miss Pell, reads the charge in a voice for bake sales, and when she comes to the name she goes pink, since half of it is her own. Josie stands in her reindeer. Teddy has found the bench with the cushion.''',
  L='Courtroom Two', N='Teddy Brandt; Josie Rusk; Harriet Lund; Miles Whitlock; Josie Pell', R='Harriet Lund>@:sardonic-1; Miles Whitlock>@:collegial+1', mood='formal, tight', n='Motions in People v. Rusk before Judge Lund.', me='Counsel', say={'Josie Pell': 'Josie Pell', 'Miles Whitlock': 'Miles Whitlock'}),
T('I turn and look over the gallery. Who comes to a motions hearing in a snowstorm?',
  '''Two. In the first row sits a woman in black astrakhan with a purse like a strongbox: Mrs. Rusk, who raised Cal and is not done with it. "Murderess," she says, not loudly, in the tone of someone correcting a price. And in the last row there is a man in a Tigers cap, with a thermos, who writes nothing down and misses nothing. When he notices you noticing, he touches the brim.''',
  N='Dorothy Rusk; Leland Voss', R='Dorothy Rusk>Josie Rusk:hatred-3', mood='hostile, uneasy', n='Mrs. Rusk and an unknown man in a Tigers cap watch from the gallery.', me='Counsel', say={'Leland Voss': 'man in the Tigers cap', 'Dorothy Rusk': 'Mrs. Rusk'}),
T('"Your Honor, two of these pictures were taken a day after the rest. Look at the ice." I hand up the two.',
  '''Miss Pell stamps both, A and B, blows on the ink, and carries them to the bench as if they were hot. That leaves four in your folder. Judge Lund looks from the one to the other for some time. "Mr. Whitlock, in this one the lake's open, and in that one a man could drive a truck on it. When did your people photograph this boat?" Whitlock unbuttons his jacket. "I'd have to inquire." "Do," says the judge, and sneezes.''',
  X='crime scene photographs x2:@>Josie Pell', R='Harriet Lund>@:attentive+1', mood='small triumph', n='Photographs A and B show different ice; Whitlock must say when they were taken. Four photographs left.', me='Counsel'),
T('At the recess I let Whitlock come to me.',
  '''He does, at eleven forty, with two paper cups and an envelope. Across the aisle Teddy holds up his wristwatch and beams. "Manslaughter," Whitlock says. "Eight years, out in five. The boy'll be in middle school." He lays the plea offer by your water glass. "I've got blood, I've got a policy for half a million, and I've got a mother. You've got ice." The coffee, it must be said, is good.''',
  X='plea offer:Miles Whitlock>@', R='Miles Whitlock>@:patronizing-1', mood='tempted, cold', n='Whitlock offered manslaughter, eight years, before lunch: Ms. Okafor lost the bet to Teddy and owes him twenty bucks. The life policy on Cal is half a million.', raw={'location': 'Courtroom Two'}),
T('"Get your coat, Teddy. We\'re going to Escanaba." Everybody else can stay and argue about ice.',
  '''Two hours behind a snowplow, and Teddy sings for both of them. The Greyhound station is a room with a stove and a row of grey lockers. Number 41 sticks; then it gives. There is a child's drawing of a boat, which you leave where it is, and a cassette in a sandwich bag, with CAL + A.T. on it in ballpoint. The key will not come out of the lock again, so it stays there, wagging its tag.''',
  L='Greyhound station', N='Teddy Brandt', gone='Josie Rusk; Harriet Lund; Miles Whitlock; Josie Pell; Dorothy Rusk; Leland Voss', O='locker key', G='cassette', mood='hopeful, freezing', n='In locker 41 lay a cassette marked CAL + A.T.', say={'Teddy Brandt': 'Teddy Brandt'}),
T('"Please tell me that heap of yours still has a tape deck."',
  '''It has, and a blanket. Two men's voices come out of the dashboard, with water slapping under them. "...so I'm dead, and you find the boat. That's all you do, Amos. Find it." A long breath. "And Josie?" "Josie'll cry. Then she'll cash it and we split." Click. Teddy does not make a joke. You give him the tape to have it dubbed before anything can happen to it, and he buttons it in over his heart.''',
  X='cassette:@>Teddy Brandt', E='Counsel heard the cassette', mood='electrified', n='On the tape Cal and Amos Tull plan to fake a death for the insurance. Teddy took the tape to have it dubbed.'),
T('He drops me at the boathouse. "Mr. Tull? Got a minute? I brought you something."',
  '''Teddy drives on to the copy shop. Amos Tull is planing a board which does not need it, in a boathouse as neat as an altar, a thermos cup of rye at his elbow, level with the three o'clock mark. He reads the subpoena twice, moving his lips, and folds it in four. "I wondered when," he says. "You'd be surprised how heavy it is, finding a boat." Two of the papers are left in your folder.''',
  L='Rusk boathouse', N='Amos Tull', S='Teddy Brandt', X='blank subpoenas:@>Amos Tull', R='Amos Tull>@:ashamed+1', mood='quiet, heavy', n='Amos Tull was served. Two blank subpoenas left.', say={'Amos Tull': 'Amos Tull'}),
T('"Then put it down, Amos. Say it in court and put it down."',
  '''He looks out at the lake so long that you think he has gone to sleep standing. Then he reaches up to the rafter and takes down the boat log, wrapped in a feed sack. "Out at nine with one aboard. In at four with none. I wrote it true that night, God knows why, and I wrote what he took along: skis. You tell me why a dead man packs skis." He puts the log into your arms. "Thursday. I'll say it Thursday."''',
  X='boat log:Amos Tull>@', R='Amos Tull>@:trusting+2', E='Amos Tull agreed to testify', mood='hopeful', n='Amos Tull will testify on Thursday. The boat log says that Cal took skis along.',
  after=[W('''Amos laughs till he coughs. "Court! Lady, the Rusks own the court." There is a flare pistol in his hand, an orange toy of a thing, and he fires it into the varnish shelf without even looking angry. The whole wall goes up. You get out through the slip, through the ice, and lose both your shoes.''',
           C='Amos Tull=dead', R='Amos Tull>@:murderous-3', n='Amos Tull fired a flare pistol and burned with the boathouse.', mood='terror', lies=['flare pistol', 'murderous', 'varnish'])]),
T('The Dockside Diner, corner booth. I owe a man some pie.',
  '''Teddy has already ordered the pie. He pushes the cassette back to you under a napkin, and pats his breast pocket, where the dub lives now. "Copy kid thought it was a radio play. Wanted to know who did it." You show him the log, and he reads the page with the skis, and then the page again, while the cherry filling goes cold. "We're going to win one," says Teddy slowly. "What do people wear to that?"''',
  L='Dockside Diner', N='Teddy Brandt', gone='Amos Tull', X='cassette:Teddy Brandt>@', R='Teddy Brandt>@:proud+1', mood='giddy', n='Teddy keeps a dub of the tape.'),
DROP('I ask the waitress whether she knew Cal Rusk.',
  '''She drops the whole tray. "Knew him? He's my husband," says the waitress, whose badge says Bernadette, and she shows you the license, Reno, two years ago, laminated. "He's got a trailer up at Copper Harbor. He'll be wanting his supper." She writes the address on your check, and her hand does not shake at all.''',
  N='Bernadette', G='laminated license', n='Bernadette the waitress says that she is married to Cal, too; he has a trailer at Copper Harbor.', mood='dizzy', lies=['Bernadette', 'laminated', 'Copper Harbor']),
T('"Black, for me. And quit grinning, it\'s bad luck."',
  '''The phone rings behind the counter, and it is for you, which it never is. A nurse at St. Luke's. Amos Tull was brought in at six with his chest, and at ten past seven he died; he had a paper in his shirt with your name on it, so she thought. You thank her. You are still holding the receiver when Teddy takes it out of your hand and hangs it up. "Thursday," he says. He has stopped grinning.''',
  C='Amos Tull=dead', E='Amos Tull died in the hospital before he could testify', mood='gutted', n='Amos Tull died of his heart at St. Luke\'s. The defense has lost its witness.', raw={'status_changes': '[{name: Mr. Tull, status: deceased}]'}),
T('I go and tell Josie myself. It isn\'t a thing to hear from a deputy.',
  '''Teddy waits in the car. She takes it without a sound, the cuffs of the sweater in her fists. "He taught Petey to tie a bowline," says Josie after a while. Then she twists at her finger, and it needs spit and a good deal of swearing before the wedding ring comes off. "My sister Lorna's got him, out on her farm. Take it to her. If it goes bad it'll buy them gas as far as Canada. You'll take it to her?" You say that you will.''',
  L='Calder County Jail', N='Josie Rusk', S='Teddy Brandt', X='wedding ring:Josie Rusk>@', R='Josie Rusk>@:desperate+1', mood='sorrowful', n='Ms. Okafor promised Josie to deliver the wedding ring to her sister Lorna, who hides Petey on her farm.', me='Adaeze', debt=('ring', ('deliver the wedding ring', 'wedding ring to her sister'), 'Josie Rusk')),
T('"Eat something. Trial\'s tomorrow, and I won\'t have you faint in front of twelve people."',
  '''She eats half a sandwich, for you, like a child taking medicine. You show her the plea offer, because the law says you must, and she reads every word, her finger under the line. "Eight years," she says. "He'd be fourteen." She tears it once across, squares the halves and tears them again, and drops the pieces into the soup. "There. Now you can't be talked into it either."''',
  O='plea offer', E='Josie refused the plea', R='Josie Rusk>@:steadfast+2', mood='defiant', n='Josie tore up the plea offer. Trial begins tomorrow.', me='Adaeze'),
T('Trial, day one. Courtroom Two, and I\'m early for once.',
  '''So is everybody. Whitlock speaks for fifty minutes without a note, and you can see twelve people wish that he were their son-in-law. "You'll hear there's no body. The lake's got four hundred feet of places to put one." Judge Lund writes. Miss Pell types. Josie keeps her hands flat, as you told her, in a borrowed blue dress. In the gallery Mrs. Rusk nods at every comma; Teddy, behind you, sharpens a pencil that he has no use for.''',
  L='Courtroom Two', N='Teddy Brandt; Josie Rusk; Harriet Lund; Miles Whitlock; Josie Pell; Dorothy Rusk', mood='formal, ominous', n='Trial day one: Whitlock opened for the People.', me='Counsel'),
T('"Mrs. Rusk, who pays the premiums on your son\'s policy?"',
  '''On the stand she has taken off one glove, and that is all she means to take off. "I do. He was careless with money. He was a Rusk." "Half a million dollars, and the beneficiary?" Whitlock is up, and is waved down. "My daughter-in-law," says Mrs. Rusk as if it were a disease, "until last October. Then me." A juror in the back row lets out a breath. It is news to Whitlock, by the look of his ears.''',
  E='Mrs. Rusk admitted that she became the beneficiary in October', R='Dorothy Rusk>@:venomous-2', mood='charged', n='Mrs. Rusk pays the premiums, and since October she is the beneficiary herself.', me='Counsel'),
CONT('''She puts the glove back on, one finger after another. "You may look at me as you like, young woman. I have buried a husband and a son." Over in the last row the man in the Tigers cap, who must have come in late, unscrews his thermos.''',
  N='Leland Voss', mood='charged', n='The man in the Tigers cap is back.', me='Counsel', say={'Leland Voss': 'man in the Tigers cap'}),
T('"Defense moves to admit a recording." I hold up the sandwich bag.',
  '''Whitlock's objection arrives before the bag has stopped swinging: no foundation, no witness, the only man who could swear to the voice is lying at Gunderson's under a sheet. "Mark it anyway, I'll rule in chambers," says Judge Lund. So Miss Pell sticks a label on the cassette, Defense Exhibit D, and drops it into the drawer with the stapler. Josie turns to you. She did not know what was in the locker; Cal only told her to be careful with the key.''',
  X='cassette:@>Josie Pell', mood='contentious', n='The cassette was marked Defense Exhibit D and is with Miss Pell until the ruling.', me='Counsel',
  before=[W('''"Play it," says Judge Lund, and Miss Pell does. It is forty minutes of accordion. Polkas. Somebody in the jury box starts tapping a foot. Whitlock weeps with laughter, and has to be excused. "Counsel," the judge says, when it is over, "you're fined five hundred dollars, and that was the Pulaski Polka Kings."''',
            n='The recording was polkas; Counsel was fined five hundred dollars.', R='Harriet Lund>@:contemptuous-3', mood='humiliated', me='Counsel', lies=['polka', 'accordion', 'contemptuous'])]),
EDIT(1, 'drops it into the drawer with the stapler', 'locks it into the drawer with the stapler'),
T('In chambers I talk until I run out of statutes.',
  '''Judge Lund hears you out with her shoes off, Whitlock by the window, nobody else; Miss Pell only puts her head in with the drawer key. "I believe it," says the judge, "and I can't let it in. Find me one living soul who knows that voice and was there. Until then it's a very sad radio play." So Exhibit D comes back to you, label and all. "For what it's worth," Whitlock says in the doorway, "I didn't know about October."''',
  L="judge's chambers", N='Harriet Lund; Miles Whitlock; Josie Pell', X='cassette:Josie Pell>@', gone='Teddy Brandt; Josie Rusk; Dorothy Rusk; Leland Voss', R='Harriet Lund>@:regretful+1; Miles Whitlock>@:doubting+1', mood='thwarted', n='The judge kept the recording out for want of a living witness. Exhibit D is back with the defense.', me='Counsel', say={'cassette': 'Exhibit D'}),
T('Nine at night. I go back to the office for my notes.',
  '''The glass is out of the door. Your files lie in drifts; the feed sack is there, flat and empty, and the boat log that was in it is not. Under the desk you find a pair of brown shoes with Teddy in them. "Didn't see him," he says thickly. "Smelled him, though. Two-stroke oil." There is blood in his hair, and he asks you what day it is, and then he asks again. You still have the tape, because you sleep with it.''',
  L="public defender's office", N='Teddy Brandt', gone='Harriet Lund; Miles Whitlock; Josie Pell', O='boat log', C='Teddy Brandt=concussed', E='Somebody broke into the office and took the boat log', mood='violated', n='A burglar who smelled of two-stroke oil knocked Teddy down and stole the boat log.'),
T('"Tuesday, Teddy. It\'s Tuesday. Don\'t you dare close your eyes."',
  '''"He should have a doctor," somebody says from the broken door, "but he'll live, I've seen worse hit by a boom." Snow on the shoulders, a thermos under the arm: the man in the Tigers cap. Without the cap he is bald and about fifty, and he has a card. "Leland Voss. Great Lakes Mutual. We hold the paper on Cal Rusk, and ma'am, I haven't believed in that boat since the day I saw it." He sweeps the glass off a chair, and asks leave to sit down.''',
  N='Leland Voss', E='The man in the Tigers cap turned out to be Leland Voss', R='Leland Voss>@:courteous+1', mood='startled', n='The man in the Tigers cap is Leland Voss, who investigates for Great Lakes Mutual and does not believe that Cal drowned.', say={'Leland Voss': 'Leland Voss'}),
T('"Then we want the same thing, Mr. Voss. What have you got, and what do you want for it?"',
  '''"Four months of gas receipts, and a fellow with a limp buying ski wax in Thunder Bay." He puts an insurance file on the wreck of your desk. "What I've never had is his voice. Give me something to play to a motel clerk." You look at Teddy, who nods, and regrets it. So Exhibit D goes into the thermos man's inside pocket, and the file stays with you. "Give me two days," says Voss, "and keep that trial alive."''',
  X='cassette:@>Leland Voss; insurance file:Leland Voss>@', R='Leland Voss>@:allied+2', mood='dangerous, hopeful', n='Trade: Voss has the recording and looks for Cal in Thunder Bay; Ms. Okafor has his insurance file. Two days.', say={'cassette': 'Exhibit D'}),
BRANCH(8,
  T('"Read it again, Josie. Five with good behavior. I think you should take it."', '''She looks at you as at a door that has been painted on a wall. Then she signs, and the pen is a crayon, because that is what they let her have. "Tell Petey I'm at sea," says Josie. A chaplain named Father Kowalski witnesses it, and gives you both a peppermint.''',
    N='Josie Rusk; Father Kowalski', X='plea offer:@>Josie Rusk', G='peppermint', R='Josie Rusk>@:broken-2', n='Josie signed the plea in crayon; Father Kowalski witnessed it.', mood='shame', me='Adaeze', lies=['Kowalski', 'peppermint', 'crayon']),
  T('I drive home and don\'t answer the phone.', '''Your apartment has a leak, a cat called Brandeis, and eleven messages. The twelfth is Father Kowalski. "She's asking if she can take it back," says the machine. The cat walks across the button, and the tape eats itself with a sound like a small animal.''',
    L='apartment', N='Brandeis', gone='Josie Rusk; Father Kowalski', n='Josie wants to take the plea back.', mood='dread', me='Adaeze', lies=['Brandeis', 'eleven messages']),
  spoil=['Great Lakes Mutual', 'beneficiary', 'concussed']),
T('Teddy to the emergency room; I take his heap and drive out to Lorna Beck\'s farm with the ring.',
  '''Voss is on the road north by now, and Teddy is being shone into with a flashlight. Lorna Beck meets you on the porch with a shotgun, and puts it down when she sees what lies in your palm. She has her sister's mouth. "She never took that off to do dishes," she says, and shuts it in her apron pocket. A boy in a snowsuit looks round her hip: Petey. He has a length of rope, and shows you a perfect bowline.''',
  L="Lorna's farm", N='Lorna Beck; Petey', S='Teddy Brandt; Leland Voss', X='wedding ring:@>Lorna Beck', paid='ring', settled=(('promised Josie to deliver the wedding ring',), ('delivered', 'handed over', 'paid', 'kept', 'settled', 'fulfilled')), R='Lorna Beck>@:grateful+1; Lorna Beck>Josie Rusk:sister+3', mood='tender', n='Promise kept: the wedding ring was delivered to Lorna.', say={'Lorna Beck': 'Lorna Beck'}),
T('I crouch in the snow. "Good knot. Who taught you that one?"',
  '''"Amos. And Daddy does the double one, he says he'll show me when the lake's open." He says it the way that boys talk about the weather. "When did he say that, Petey?" "Sunday. On the phone. He calls Sundays." Over his head Lorna has gone quite white. There it is, your living soul; and the word that you gave in the jail lies across the path like a chain. You tell him that it is a very good knot.''',
  E='Petey said that his father calls him on Sundays', R='Petey>@:chatty+1', mood='torn', n='Petey told Ms. Okafor that Cal calls him on Sundays: Cal may be alive. She will not use the boy.'),
T('Day three. With Amos Tull in the ground I stand up with an empty list of witnesses. "The defense asks for an hour, Your Honor."',
  '''"The defense has asked for an hour since Tuesday," says Judge Lund. They are all there: Whitlock, who does not object, Miss Pell, Mrs. Rusk in her astrakhan, Josie with her hands flat, Teddy with a bandage like a turban. "You may have until that clock strikes eleven, Counsel. I'll be blowing my nose." And then she stays where she is and does just that. You drink your glass of water. The whole room sees it.''',
  L='Courtroom Two', N='Josie Rusk; Harriet Lund; Miles Whitlock; Josie Pell; Dorothy Rusk; Teddy Brandt', gone='Lorna Beck; Petey', R='Harriet Lund>@:patient+1', mood='suspended', n='The judge gave the defense until eleven.', me='Counsel'),
T('"Josie. Look at me, not at the clock. Whatever you asked of me in that jail, I\'m keeping it."',
  '''"I know you are," says Josie under her breath. "I can tell because you look like you've swallowed a fork." Her sleeve touches yours. At the other table Whitlock is reading the October policy for what must be the tenth time, and now and then he looks across the aisle at the astrakhan, as one looks at a dog that has always been friendly. Ten fifty-one. Somewhere down in the building a door bangs.''',
  me='Counsel', bad='\n\n```state\nlocation: Courtroom Two\nlocation_moved: false\nhp_change: 0\nitems_gained: none\nitems_lost: none\nnpc_met: [Counsel, Jos'),
T('"If it please the court," I begin, at one minute to eleven, with no idea how to go on.',
  '''The doors do it for you. Leland Voss comes up the aisle in his cap, snow to the knees, and by the elbow he has a bearded man with a limp, who is saying, over and over, that he wants a lawyer. Nobody breathes. "He was told to stay put," says somebody, quite distinctly; it is Mrs. Rusk. Josie is on her feet. "Cal," she says. "You son of a bitch. You're tan." Miss Pell, whose hands have never stopped in eleven years, has stopped typing.''',
  N='Leland Voss; Calvin Rusk', C='Calvin Rusk=alive', E='Voss brought Cal Rusk into the courtroom alive', R='Josie Rusk>Calvin Rusk:fury-3', mood='thunderstruck', n='Cal Rusk is alive: he hid in Thunder Bay. Voss found him by his voice.', me='Counsel'),
T('"The defense calls Calvin Rusk. Since he\'s here."',
  '''It is the shortest direct examination in the history of the county. "State your name." He does. "Are you dead?" "No, ma'am." Judge Lund has to use the gavel and then her shoe. Mrs. Rusk gets up, says in a clear voice that the boy was always careless, and goes down along the bench like a felled coat rack; a bailiff and Teddy carry her out between them. Voss lays the tape on your table with a small bow: sold, one motel clerk.''',
  S='Dorothy Rusk; Teddy Brandt', X='cassette:Leland Voss>@', C='Dorothy Rusk=fainted', E='Cal Rusk testified that he is alive', R='Calvin Rusk>@:sullen-1', mood='uproar', n='Mrs. Rusk fainted and was carried out by Teddy and a bailiff. Exhibit D is back with Counsel.', me='Counsel', say={'cassette': 'Exhibit D'}),
T('"Move to dismiss. With everything that goes with it."',
  '''"The People join," says Whitlock, and he has taken off the jacket altogether. "And the People would like a word with Mr. Rusk, and with his mother when she comes round." The gavel comes down. Two deputies walk Cal out the way that she used to come in. Josie does not seem to know what to do with her hands. "Nobody's got to put him up there now," she says. "Petey. You don't have to keep it anymore." "I know," you say. "I kept it anyhow."''',
  S='Calvin Rusk', paid='petey', settled=(('never to put Petey on the stand',), ('released', 'kept', 'fulfilled', 'over', 'settled', 'no longer', 'freed')), E='The case against Josie was dismissed', R='Josie Rusk>@:devoted+3; Miles Whitlock>@:respectful+2', mood='released', n='Case dismissed. The promise about Petey was kept and is over. Cal is under arrest.', me='Counsel'),
T('I find Teddy at the Dockside, in the corner booth, and I count it out on the pie plate. "Eleven forty, you crook."',
  '''He watches the bills come down, a ten and two fives, without touching them. "Twenty. Paid in full. I ought to frame it." The turban has slipped over one ear; the doctor says his head is sound again, as far as it ever was. "You know what day it is?" you ask him. "The day we won one," says Teddy, and slides half of the pie across to you. Outside on the lake the ice lets go with a boom like a door.''',
  L='Dockside Diner', N='Teddy Brandt', gone='Josie Rusk; Harriet Lund; Miles Whitlock; Josie Pell; Leland Voss', C='Teddy Brandt=recovered', paid='bet', settled=(('owes him twenty bucks',), ('paid', 'settled')), R='Teddy Brandt>@:jubilant+1', mood='warm, tired', n='The bet is settled: Ms. Okafor paid Teddy his twenty. Teddy is well again.'),
T('"Who was it who hit you, in the end? Did they find the log?"',
  '''"Cal. Smelled of the snowmobile he came over the ice on." The bell over the door rings, and there is Josie, in her own coat, with Petey on her shoulders holding on to her ears; he has the boat log under his arm, feed-sack dust and all. "Deputy found it in his bag," she says. "Petey thinks it should be yours, because you like knots." The boy bends all the way down from up there and gives it to you with both hands.''',
  N='Josie Rusk; Petey', X='boat log:Petey>@', E='The boat log came back', R='Petey>@:admiring+1', mood='peaceful', n='It was Cal who broke into the office. Petey gave the boat log to Ms. Okafor.', tell=['boat log']),
]
def run(ops):
    ts = [fresh()]
    for o in ops:
        t = ts[-1]
        for w in [*o.get('before', []), *o.get('after', [])]: minutes(t, w['facts'])
        if o['op'] == 'turn':
            after = minutes(t, o['facts'])
            if not o.get('dropped'): ts.append(after)
        elif o['op'] == 'continue': ts[-1] = minutes(t, o['facts'])
        elif o['op'] == 'branch':
            b = ts[len(ts) - o['back'] - 1]
            for x in o['turns']: b = minutes(b, x['facts'])
run(OPS)
