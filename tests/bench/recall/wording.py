"""The texts of the dialogues and plays of the recall benchmark.

A matter is one thing that can be asked about later. It has the lines in which it comes up, in turns of the two speakers,
and questions in other words. ``{a}`` is the speaker that it is about, and ``{b}`` the other one. Other slots are filled
from ``fillings.FILLINGS``. The line that starts with ``*`` answers the questions. In Korean, a slot names the particle
that follows it.
"""

# ruff: noqa: E501 - Korean letters count twice
from __future__ import annotations

from attrs import frozen


@frozen
class Matter:
    """A matter: its lines (speaker a first, then b, in turn), and its questions."""

    group: str
    lines: tuple[str, ...]
    questions: tuple[str, ...]

    def answer_to(self, question: str, language: str) -> str:
        """The answer to one of ``questions``, with its slots."""
        answers = _ANSWERS[language].get(self.group) or _ANSWERS[""][self.group]
        return answers[min(self.questions.index(question), len(answers) - 1)]


_ANSWERS: dict[str, dict[str, tuple[str, ...]]] = {
    "": {
        "name": ("{petname}",),
        "place": ("{city}",),
        "activity": ("{craft}",),
        "object": ("{made}",),
        "work": ("{workplace}",),
        "health": ("{weeks}",),
        "book": ("{book}",),
        "fear": ("{scare}",),
        "date": ("{when}",),
        "family": ("{kin}",),
        "money": ("{amount}",),
        "plan": ("{shop}",),
        "food": ("{dish}",),
        "advice": ("{remedy}",),
        "music": ("{band}",),
        "lost": ("{spot}",),
        "hidden": ("{spot}",),
        "word": ("{word}",),
        "debt": ("{amount}", "{feast}"),
        "kin": ("{petname}", "{city}"),
        "promise": ("{gift}",),
        "wound": ("{limb}", "{herb}"),
        "culprit": ("{petname}",),
        "meeting": ("{feast}", "{place}"),
        "trade": ("{gift}",),
    },
    "en": {"health": ("{weeks} weeks",), "money": ("{amount} dollars",), "debt": ("{amount} silver", "{feast}")},
    "ko": {"health": ("{weeks}주",), "debt": ("은화 {amount}닢", "{feast}")},
}
"""The answers to a matter's questions, by language and group, one for each question or one for all. Those that are the
same in all languages are under ""."""


def _matter(group: str, lines: str, questions: str) -> Matter:
    return Matter(group, *(tuple(line.strip() for line in text.split(" / ")) for text in (lines, questions)))


CHAT_EN = (
    _matter(
        "name",
        "Guess what, I finally got a {pet}! Couldn't resist those eyes. / Aww, congrats! What are you calling it? "
        "/ *We went with {petname}. It just fits.",
        "What is the name of {a}'s {pet}? / What did {a} name the {pet}?",
    ),
    _matter(
        "place",
        "*Just got back from {city}, we spent four days walking around and eating way too much. "
        "/ Sounds lovely, I need a vacation too.",
        "Where did {a} travel on holiday? / Which city has {a} visited?",
    ),
    _matter(
        "activity",
        "*I signed up for a {craft} class on Thursdays, my hands were a mess after the first one. "
        "/ That is so cool! Show me what you make.",
        "Which class is {a} taking? / What new hobby did {a} start learning?",
    ),
    _matter(
        "object",
        "Check out this thing I made last weekend! / Wow, that looks professional. What is it? "
        "/ *It's a {made}, a present for my {kin}.",
        "What did {a} make for the {kin}? / What gift did {a} create?",
    ),
    _matter(
        "work",
        "*So I had the interview at the {workplace} and they offered me the job on the spot! "
        "/ Yesss! I knew you could do it.",
        "Where does {a} work now? / Which employer hired {a}?",
    ),
    _matter(
        "health",
        "Rough week, I hurt my {limb} while {sport}. / Ouch! What did the doctor say? "
        "/ *No training for {weeks} weeks, and a lot of ice.",
        "How long does {a} have to rest the {limb}? / For how many weeks can't {a} train?",
    ),
    _matter(
        "book",
        '*I stayed up until two finishing "{book}". I cried, not going to lie. / Adding it to my list right now.',
        "What book did {a} read? / Which novel made {a} emotional?",
    ),
    _matter(
        "fear",
        "*Honestly I've been terrified of {scare} since I was seven, that's why I never come along. "
        "/ I had no idea, thanks for telling me.",
        "What is {a} afraid of? / What has {a} feared since childhood?",
    ),
    _matter(
        "date",
        "Big news over here! / Don't keep me waiting! / *We set the date, the wedding is on {when}. You're invited.",
        "When is {a} getting married? / On what day will {a}'s wedding take place?",
    ),
    _matter(
        "family",
        "*My {kin} is moving in with us next month, we are painting the spare room {colour}. "
        "/ Full house! How do the kids feel about it?",
        "Who is going to live with {a}? / Which relative is joining {a}'s household?",
    ),
    _matter(
        "money",
        "*The charity {sport} raised {amount} dollars for the shelter, we all cheered. / Incredible, so proud of you.",
        "How much did {a} collect for charity? / What sum was raised at {a}'s fundraiser?",
    ),
    _matter(
        "plan",
        "I've been researching all week and I think I know what I want to do. / Ooh, tell me. "
        "/ *I want to open a {shop} downtown, nothing fancy.",
        "What kind of business does {a} plan to start? / What does {a} dream of opening?",
    ),
    _matter(
        "food",
        "*Tried cooking {dish} from my grandma's recipe and set off the smoke alarm, twice. "
        "/ Haha, the kitchen survived, I hope?",
        "What dish did {a} try to prepare? / What did {a} burn while cooking?",
    ),
    _matter(
        "advice",
        "Can I ask you something? I can't sleep lately. / *When that happened to me, {remedy} helped more than anything. "
        "/ I'll give that a try tonight, thank you.",
        "What did {b} suggest to {a} against insomnia? / Which remedy helped {b} sleep?",
    ),
    _matter(
        "music",
        "*Got tickets for {band} in the front row, I've been humming all day. / So jealous! Take videos for me.",
        "Which concert is {a} going to? / Whose show did {a} buy tickets for?",
    ),
    _matter(
        "lost",
        "I'm so mad at myself, I lost my {thing}. / Oh no, the one from your {kin}? Did it turn up? "
        "/ *Yes! It was {spot} the whole time.",
        "Where did {a} find the missing {thing}? / Where had {a}'s {thing} been?",
    ),
)

CHAT_KO = (
    _matter(
        "name",
        "나 드디어 {pet} 데려왔어! 눈을 보니까 안 데려올 수가 없더라. / 와 축하해! 뭐라고 부를 거야? / *{petname:이/}라고 부르기로 했어, 딱 어울려.",
        "{a:이/가} 키우는 {pet} 이름이 뭐야? / {a:은/는} {pet}한테 무슨 이름을 지어 줬지?",
    ),
    _matter(
        "place",
        "*지난주에 {city} 다녀왔어, 나흘 내내 걷고 먹기만 했네. / 좋았겠다, 나도 좀 쉬고 싶어.",
        "{a:이/가} 여행 간 곳이 어디지? / {a:은/는} 어느 도시에 갔었어?",
    ),
    _matter(
        "activity",
        "*목요일마다 {craft} 배우러 다니기로 했어, 첫날부터 손이 엉망이 됐지만. / 멋지다! 만든 거 꼭 보여 줘.",
        "{a:이/가} 새로 배우기 시작한 게 뭐야? / {a:은/는} 목요일에 무슨 수업을 들어?",
    ),
    _matter(
        "work",
        "*{workplace} 면접 봤는데 그 자리에서 바로 붙었어! / 그럴 줄 알았어, 정말 잘됐다.",
        "{a:은/는} 어디에 취직했어? / {a:이/가} 지금 일하는 직장이 어디지?",
    ),
    _matter(
        "health",
        "이번 주 힘들었어, {sport} 하다가 {limb} 다쳤거든. / 저런, 병원에서는 뭐래? / *{weeks}주 동안 운동하지 말고 푹 쉬래.",
        "{a:은/는} {limb} 때문에 얼마나 쉬어야 해? / {a:이/가} 몇 주 동안 운동을 못 해?",
    ),
    _matter(
        "book",
        "*어제 새벽 두 시까지 『{book}』 다 읽었어, 솔직히 울었다. / 나도 읽을 책 목록에 넣어 둘게.",
        "{a:이/가} 밤새 읽은 책이 뭐였지? / {a:을/를} 울린 소설 제목이 뭐야?",
    ),
    _matter(
        "fear",
        "*사실 나 일곱 살 때부터 {scare:이/가} 너무 무서워, 그래서 맨날 빠진 거야. / 몰랐어, 말해 줘서 고마워.",
        "{a:이/가} 무서워하는 게 뭐야? / {a:은/는} 어릴 때부터 뭘 겁냈어?",
    ),
    _matter(
        "date",
        "나 큰 소식 있어! / 뜸 들이지 말고 얼른 말해! / *날 잡았어, 결혼식은 {when:이야/야}. 꼭 와야 해.",
        "{a:은/는} 언제 결혼해? / {a:의/의} 결혼 날짜가 며칠이지?",
    ),
    _matter(
        "family",
        "*다음 달부터 {kin:이/가} 우리 집에서 같이 살기로 했어, 작은방을 {colour}으로 칠하는 중이야. / 집이 북적북적하겠네!",
        "{a:와/과} 함께 살게 된 가족이 누구야? / 누가 {a} 집으로 들어오기로 했지?",
    ),
    _matter(
        "plan",
        "일주일 내내 알아봤는데 이제 뭘 하고 싶은지 알겠어. / 오 뭔데? / *시내에 작은 {shop:을/를} 차리고 싶어.",
        "{a:이/가} 열고 싶어 하는 가게가 뭐야? / {a:은/는} 무슨 장사를 시작하려고 해?",
    ),
    _matter(
        "food",
        "*할머니 조리법대로 {dish} 만들다가 화재경보기가 두 번이나 울렸어. / 하하, 부엌은 무사하지?",
        "{a:이/가} 태워 먹은 음식이 뭐지? / {a:은/는} 무슨 요리를 하다 소동을 냈어?",
    ),
    _matter(
        "advice",
        "뭐 하나 물어봐도 돼? 요즘 통 잠을 못 자겠어. / *나도 그랬는데 {remedy:이/가} 제일 잘 들었어. / 오늘 밤에 해 볼게, 고마워.",
        "{b:이/가} 잠 못 자는 {a}에게 권한 게 뭐야? / {b:은/는} 불면증에 뭐가 좋다고 했지?",
    ),
    _matter(
        "lost",
        "나 진짜 바보 같아, {thing} 잃어버렸어. / 설마 {kin:이/가} 준 그거? 찾았어? / *응! 내내 {spot}에 있었더라.",
        "{a:은/는} 없어진 {thing:을/를} 어디서 찾았어? / {a:이/가} 잃어버렸던 {thing:은/는} 어디 있었지?",
    ),
)

TALK_EN = tuple(
    "Hey {b}! Long time no see, how have you been? / Hi {a}! Busy as always, but I can't complain. / How was your day? / "
    "Wow, that's awesome! / Thanks, that means a lot to me. / Totally agree with you there. / What have you been up to "
    "lately? / I love that, good for you! / It's so good to catch up. / Anyway, how's work treating you? / Same old, same "
    "old, but the team is nice. / Did you do anything fun this weekend? / Mostly chores, and a long walk with the dog. / "
    "The weather has been terrible, it rained all week. / I could really use a holiday. / Take care, talk soon! / Bye {b}, "
    "have a great evening! / My {kin} says hi, by the way. / That reminds me of our trip to the lake. / We should go "
    "hiking again when it gets warmer. / I've been reading a lot recently. / Have you seen anything good on TV? / Not "
    "really, I fall asleep on the couch. / Cooking calms me down after a long day. / You always know what to say. / Family "
    "comes first, right? / I've been thinking about changing jobs, who knows. / The kids keep me on my toes. / Music helps "
    "me focus when things get loud. / I miss those days. / Let me know how it goes! / I bet it was worth it. / What's "
    "next for you? / One step at a time. / I was so nervous, you have no idea. / Sorry for the late reply, it's been "
    "hectic. / That sounds like a plan. / You inspire me, {b}. / Honestly, same here. / Do you still play on Sundays? / "
    "I painted a bit, nothing special. / The class was fun, but exhausting. / My back hurts from all that sitting. / "
    "I made dinner for everyone. / The doctor said it's nothing serious. / We finally cleaned the garage. / I keep "
    "forgetting things lately. / I took the day off to breathe. / Work gave me a small raise! / The concert was loud, in "
    "a good way.".split(" / ")
)

TALK_KO = tuple(
    "{b:아/야}, 오랜만이야! 잘 지냈어? / {a:이/}구나! 늘 바쁘지 뭐. / 오늘 하루 어땠어? / 와, 정말 대단하다! / 고마워, 큰 힘이 돼. / 나도 "
    "그렇게 생각해. / 요즘 뭐 하고 지내? / 좋네, 잘했어! / 이렇게 얘기하니까 좋다. / 그나저나 일은 할 만해? / 맨날 똑같지, 그래도 팀은 좋아. / "
    "주말에 재밌는 일 있었어? / 집안일하고 강아지랑 산책했지. / 날씨가 영 별로야, 일주일 내내 비가 와. / 나도 휴가 가고 싶다. / 조심히 들어가, "
    "또 얘기하자! / 우리 {kin:도/도} 안부 전해 달래. / 그러고 보니 호수 갔던 생각난다. / 따뜻해지면 또 등산 가자. / 요즘 책을 많이 읽어. / "
    "텔레비전에 볼만한 거 있어? / 소파에서 금방 잠들어. / 요리하면 마음이 편해져. / 넌 항상 좋은 말을 해 줘. / 가족이 먼저지. / 이직할까 생각 "
    "중이야. / 애들 때문에 정신이 없어. / 음악 들으면 집중이 잘돼. / 그때가 그립다. / 어떻게 됐는지 알려 줘! / 보람 있었겠다. / 다음 계획은 "
    "뭐야? / 하나씩 해 나가야지. / 얼마나 떨렸는지 몰라. / 답이 늦어서 미안해. / 좋은 생각이야. / 네 덕분에 힘이 나. / 솔직히 나도 그래. / "
    "일요일에 아직도 운동해? / 그림 조금 그렸어. / 수업 재밌는데 힘들더라. / 하도 앉아 있었더니 허리가 아파. / 다 같이 저녁 해 먹었어. / 병원에서 "
    "별거 아니래. / 드디어 창고 치웠어. / 자꾸 깜빡깜빡해. / 하루 쉬면서 숨 좀 돌렸어. / 월급이 조금 올랐어! / 공연이 시끄러웠는데 좋았어.".split(
        " / "
    )
)

PLAY_EN = (
    _matter(
        "hidden",
        "*When nobody is looking, {a} hides the {thing} {spot}.",
        "Where did {a} put the {thing}? / I want the {thing} back. Where has {a} hidden it?",
    ),
    _matter(
        "word",
        "*\"The guards let you pass if you say '{word}',\" whispers {a}.",
        "What was the password {a} told me? / I try to remember the watchword that I heard from {a}.",
    ),
    _matter(
        "debt",
        '*{a} counts {amount} silver coins into my hand. "Until the {feast}, not a day longer."',
        "How much money do I owe {a}? / By when must I pay back what {a} lent me?",
    ),
    _matter(
        "fear",
        "*{a} goes pale and admits to fearing {scare} more than death.",
        "What is {a} so afraid of? / Is there anything that frightens {a}?",
    ),
    _matter(
        "kin",
        "*By the fire {a} speaks of a {kin} called {petname}, who lives in {city}.",
        "What was the name of {a}'s {kin}? / Where does the {kin} of {a} live?",
    ),
    _matter(
        "promise",
        "*I swear to {a} that I will bring {gift} before the first snow.",
        "What did I promise {a}? / Which oath did I give to {a}?",
    ),
    _matter(
        "wound",
        "*The beast tears open the {limb} of {a}, and we bind it with {herb}.",
        "How was {a} hurt? / With what did we treat the wound of {a}?",
    ),
    _matter(
        "culprit",
        "*{a} confesses, out of everyone's hearing, that {petname} was the one who poisoned the well.",
        "Who poisoned the well, according to {a}? / What was the secret that {a} confessed?",
    ),
    _matter(
        "meeting",
        '*"Come to the {place} on the night of the {feast}," says {a}, "and come alone."',
        "When does {a} want to meet me? / Where am I supposed to meet {a}?",
    ),
    _matter(
        "trade",
        "*After much haggling {a} hands me the {thing} for {gift}.",
        "What did I give {a} in exchange for the {thing}? / How did I get the {thing} from {a}?",
    ),
)

PLAY_KO = (
    _matter(
        "hidden",
        "*아무도 보지 않는 사이 {a:이/가} {thing:을/를} {spot}에 감춘다.",
        "{a:이/가} {thing:을/를} 어디에 숨겼지? / {thing:을/를} 되찾고 싶다. {a:이/가} 둔 곳이 어디였더라?",
    ),
    _matter(
        "word",
        '*"\'{word:이/}라고 말하면 문지기가 보내 줄 거야." {a:이/가} 속삭인다.',
        "{a:이/가} 알려 준 암호가 뭐였지? / {a}에게 들은 암구호를 떠올려 본다.",
    ),
    _matter(
        "debt",
        '*{a:이/가} 은화 {amount}닢을 세어 건넨다. "{feast}까지야, 하루도 넘기지 마."',
        "내가 {a}에게 빌린 돈이 얼마지? / {a}에게 언제까지 갚아야 하지?",
    ),
    _matter(
        "fear",
        "*{a:은/는} 하얗게 질려 죽음보다 {scare:이/가} 더 무섭다고 털어놓는다.",
        "{a:이/가} 두려워하는 게 뭐였지? / {a:을/를} 겁먹게 하는 것이 있던가?",
    ),
    _matter(
        "kin",
        "*모닥불 곁에서 {a:이/가} {city}에 사는 {kin} {petname:의/의} 이야기를 꺼낸다.",
        "{a:의/의} {kin:은/는} 이름이 뭐라고 했지? / {a:의/의} {kin:이/가} 사는 데가 어디였더라?",
    ),
    _matter(
        "promise",
        "*나는 첫눈이 오기 전에 {gift:을/를} 가져오겠다고 {a}에게 맹세한다.",
        "내가 {a}에게 한 약속이 뭐였지? / {a}에게 뭘 가져다주기로 했더라?",
    ),
    _matter(
        "wound",
        "*짐승이 {a:의/의} {limb:을/를} 찢어 놓아 {herb:으로/로} 싸맨다.",
        "{a:은/는} 어디를 다쳤지? / {a:의/의} 상처에 뭘 썼더라?",
    ),
    _matter(
        "culprit",
        "*{a:이/가} 아무도 없는 데서 우물에 독을 탄 사람은 {petname:이라고/라고} 고백한다.",
        "{a:의/의} 말로는 누가 우물에 독을 풀었지? / {a:이/가} 털어놓은 비밀이 뭐였더라?",
    ),
    _matter(
        "meeting",
        '*"{feast} 밤에 {place:으로/로} 와." {a:이/가} 말한다. "꼭 혼자서."',
        "{a:이/가} 언제 만나자고 했지? / {a:을/를} 어디서 만나기로 했더라?",
    ),
    _matter(
        "trade",
        "*한참 흥정한 끝에 {a:이/가} {gift:을/를} 받고 {thing:을/를} 넘겨준다.",
        "{a}에게 {thing} 값으로 뭘 줬지? / {thing:은/는} {a}한테서 어떻게 얻었더라?",
    ),
)
