"""The vocabularies of plays in Korean and English, and all vocabularies by language."""

from __future__ import annotations

from tests.bench.story.vocabulary_ja import JAPANESE
from tests.bench.story.vocabulary_zh import CHINESE
from tests.bench.story.words import Vocabulary, lines, words

KOREAN = Vocabulary(
    nouns=words(
        "문 창문 계단 등불 촛불 횃불 벽 지붕 다리 강 개울 안개 바람 비 눈 구름 달빛 햇살 그림자 재 연기 "
        "먼지 돌 바위 나무 뿌리 가지 잎 꽃 풀 덤불 이끼 늑대 까마귀 말 고양이 뱀 거미 칼날 화살 방패 갑옷 "
        "망토 장화 장갑 모자 반지 목걸이 열쇠 자물쇠 상자 자루 지도 편지 책 두루마리 잉크 봉인 동전 보석 "
        "수정 은화 빵 고기 술 물통 약초 물약 붕대 밧줄 사다리 수레 배 돛 닻 종 북 피리 노래 소문 약속 맹세 "
        "비밀 거짓말 꿈 기억 상처 흉터 손 눈빛 목소리 발소리 숨 심장 어깨 머리카락 미소 눈물 침묵 시장 골목 "
        "광장 우물 여관 대장간 사원 무덤 감옥 탑 성벽 성문 다락 지하실 부엌 식탁 의자 침대 거울 그림 깃발 "
        "왕관 옥좌 군대 병사 상인 사냥꾼 사제 도둑 아이 노인 마법 주문 저주 축복 불꽃 얼음 번개 독 피"
    ),
    adjectives=words(
        "낡은 젖은 차가운 뜨거운 어두운 희미한 붉은 푸른 하얀 검은 잿빛 금빛 은빛 부서진 녹슨 깊은 좁은 "
        "넓은 높은 낮은 오래된 새로운 낯선 익숙한 조용한 시끄러운 날카로운 무딘 무거운 가벼운 거친 부드러운 "
        "마른 썩은 향긋한 쓴 텅빈 얼어붙은 불타는 빛나는 숨겨진 잊힌 저주받은 축복받은 위태로운 굳은 떨리는 "
        "지친 성난 슬픈"
    ),
    adverbs=words(
        "천천히 조용히 갑자기 문득 다시 이미 아직 겨우 서둘러 조심스럽게 힘없이 단호하게 나직이 멀리서 "
        "가까이 잠시 오래 한참 곧 마침내 가만히 슬며시 크게 살짝 거칠게 부드럽게 묵묵히 황급히 비틀비틀 "
        "또박또박"
    ),
    heads=words(
        "서리 안개 까마귀 은빛 돌 달 그늘 잿불 바람 가시 늪 샘 별 피 뼈 용 여우 사슴 매 곰 수정 구리 쇠 "
        "소금 모래 파도 천둥 이슬 새벽 황혼 겨울 봄 가을 여름 밤 낮 불 물 흙 숲 산 강 바다 하늘 땅 뿌리 "
        "잎새 꽃 씨앗 열매"
    ),
    tails=words(
        "문양 조각 노래 지기 길목 언덕 나루 고개 골짜기 우물 제단 등대 장터 창고 울타리 다리목 샘터 무늬 "
        "향로 나팔 갈고리 그릇 비석 벽화 주머니 목각 사슬 바늘 붓 촛대 방울 부적 허리띠 단검집 물레 돛대 "
        "갑판 선반 서랍 문턱 덧창 굴뚝 화로 처마 마루 담장 빗장 손잡이 이정표"
    ),
    syllables=words(
        "아 에 르 겐 크 룩 미 리 나 소 라 카 온 단 세 이 든 하 벨 로 웬 타 모 린 가 율 데 시 바 네 오 엘 휘 진 무 란"
    ),
    sounds=tuple(
        "갈감강거견경골곡관광교궁귀극금기길난날남녹눌능늑단달담당덕도독돈동두둔등란람량려련령록론룡루류륜"
        "름릉림막만매맥명모목몽묘무문민밀박반발방백번벽변별병보복본봉부북분비빈사산살삼상새생서석선설섬성"
        "세소솔송수순술숭승시신실심쌍안앙야약양어언여역연열염엽영예오옥온올완왕외요용우운울원월위유육윤은"
        "음응의이익인임입자작잔장재전절점정제조종주중지진집차찬창채처천철청초촉총추축출충취칠침탁탄태토통"
        "파판패편평포표품풍필하학한함항해향허험현혈협형혜호혼홍화환활황회효후훈휘흉흑흥희"
    ),
    titles=words("장로 기사 사제 상인 대장장이 사냥꾼 마녀 선장 학자 도적"),
    sites=words("숲 언덕 나루 폐허 성채 탑 광산 늪 여관 시장 사원 묘지 동굴 협곡 항구 정원 다리 방앗간 초소 도서관"),
    things=words("검 단검 방패 활 물약 두루마리 열쇠 반지 목걸이 지도 등불 망토 장화 수정 나팔 거울 책 부적 가면 밧줄"),
    deeds=words("습격 만남 결투 장례 축제 배신 화재 홍수 맹세 추격 회의 탈출 발견 의식 재판 귀환"),
    groups=words("기사단 상단 교단 결사 가문 길드 조약 전설 예언 관습 역법 전쟁 역병 왕조 학파 노래"),
    moods=words("긴장 평온 두려움 분노 기쁨 슬픔 호기심 피로 안도 결의"),
    relations=words("신뢰 경계 우정 적대 존경 의심 애정 원한 동맹 빚"),
    narration=lines(
        """
        {who:이/가} {adj} {noun:을/를} {adv} 바라본다.
        {adj} {noun} 너머로 {noun:이/가} {adv} 흔들린다.
        {place} 쪽에서 {adj} {noun} 냄새가 풍겨 온다.
        {who:은/는} {noun:을/를} 쥔 손에 {adv} 힘을 준다.
        누군가 {noun:을/를} 두고 간 자리에 {adj} {noun:만/만} 남아 있다.
        {other:이/가} {who}에게 {adv} 다가와 {noun:을/를} 내민다.
        {adj} {noun:과/와} {adj} {noun:이/가} 뒤섞여 길을 가린다.
        {who:은/는} {item:을/를} 꺼내 {adj} {noun:에/에} 비추어 본다.
        {place:은/는} 오늘따라 {adv} 가라앉아 있고, {noun} 소리만 들린다.
        {other:은/는} 대답 대신 {adj} {noun:을/를} 가리킨다.
        {adv} {noun:이/가} 쓰러지고, {adj} {noun:이/가} 바닥을 구른다.
        {who:이/가} 걸음을 멈추자 {noun:도/도} 따라 멎는다.
        {adj} {noun} 하나가 {place} 한가운데에 놓여 있다.
        {other:이/가} {item:에/에} 얽힌 이야기를 {adv} 꺼낸다.
        먼 곳에서 {noun:이/가} 울리고, {adj} {noun:이/가} {adv} 스쳐 지나간다.
        {who:은/는} {adj} {noun} 앞에서 {adv} 숨을 고른다.
        {place:으로/로} 이어지는 길에는 {adj} {noun:이/가} 늘어서 있다.
        {other:의/의} 눈이 {adj} {noun:처럼/처럼} 빛난다.
        {noun:을/를} 본 {who:은/는} 오래전 {place}에서의 밤을 떠올린다.
        {adj} {noun} 위로 {noun:이/가} {adv} 내려앉는다.
        {item:은/는} {adj} 빛을 잃지 않은 채 {who} 곁에 있다.
        {adv} 돌아본 자리에는 {noun:도/도} {noun:도/도} 없다.
        {other:과/와} {who:은/는} {adj} {noun:을/를} 사이에 두고 마주 선다.
        {noun} 틈으로 {adj} {noun:이/가} {adv} 새어 나온다.
        """
    ),
    speech=lines(
        """
        "{noun:을/를} 찾는다면 {place:으로/로} 가게." {other:이/가} {adv} 말한다.
        "그 {item:은/는} 함부로 꺼내지 마." {other:이/가} {adj} 목소리로 속삭인다.
        "{who}, 자네는 {noun:을/를} 잊은 건가?" {other:은/는} {adv} 고개를 젓는다.
        "{place}에서 {noun:을/를} 보았다는 소문이 있어요." {other:이/가} {adv} 털어놓는다.
        "{adj} {noun:이/가} 오기 전에 떠나야 해." {other:이/가} 재촉한다.
        "나는 {noun:보다/보다} {noun:이/가} 더 두렵소." {other:이/가} 쓴웃음을 짓는다.
        """
    ),
    wishes=lines(
        """
        {place:으로/로} 가서 {adj} {noun:을/를} 찾아본다.
        {other}에게 {item:이/가} 어디서 났는지 {adv} 묻는다.
        전에 {place}에서 본 {noun:을/를} 기억해? 그게 {other:과/와} 무슨 상관이지?
        {item:을/를} 꺼내 들고 {noun} 쪽으로 {adv} 다가간다.
        {other:을/를} 바라보며 "{noun} 이야기를 더 해 줘."라고 말한다.
        {adv} 주위를 살피고 {adj} {noun} 뒤에 몸을 숨긴다.
        {other:과/와} 함께 {place:을/를} 떠나기로 한다.
        {noun:을/를} 집어 들고 {adj} {noun:과/와} 비교해 본다.
        {item:을/를} 처음 얻었을 때 {other:이/가} 뭐라고 했더라?
        {noun} 옆에 앉아 {adv} 쉬면서 {other}의 말을 듣는다.
        """
    ),
    lore=lines(
        """
        {name:은/는} {adj} {noun:과/와} {noun:으로/로} 알려져 있다.
        오래전 {place}에서 {noun:이/가} 사라진 뒤로 {adj} 소문이 끊이지 않는다.
        {name:을/를} 아는 이는 {adj} {noun:을/를} 조심하라고 말한다.
        {noun} 아래에는 {adj} {noun:이/가} 잠들어 있다고 한다.
        해마다 {adj} {noun:이/가} 돌아오면 사람들은 {noun:을/를} 바친다.
        {name:의/의} 유래는 {adj} {noun:에/에} 새겨져 있으나 아무도 읽지 못한다.
        """
    ),
    rules=lines(
        """
        너는 이 이야기의 진행자이며, {adj} {noun} 하나까지 생생하게 묘사한다.
        플레이어의 말과 행동을 대신 정하지 말고, {noun:과/와} {noun:의/의} 결과만 보여 준다.
        인물은 저마다 {adj} 말투와 {noun:에/에} 대한 제 생각을 지닌다.
        {noun:이/가} 나오는 장면에서는 {adv} 긴장을 쌓고 {adj} {noun:으로/로} 끝맺는다.
        이미 일어난 일을 뒤집지 말고, {noun:을/를} 잃은 이는 잃은 채로 둔다.
        """
    ),
)

ENGLISH = Vocabulary(
    nouns=words(
        "door window stair lantern candle torch wall roof bridge river brook mist wind rain snow cloud "
        "moonlight sunlight shadow ash smoke dust stone boulder tree root branch leaf flower grass thicket "
        "moss wolf raven horse cat snake spider blade arrow shield armour cloak boot glove hood ring "
        "necklace key lock chest sack map letter book scroll ink seal coin jewel crystal silver bread meat "
        "wine flask herb potion bandage rope ladder cart boat sail anchor bell drum flute song rumour "
        "promise oath secret lie dream memory wound scar hand glance voice footstep breath heart shoulder "
        "hair smile tear silence market alley square well inn forge temple grave prison tower rampart gate "
        "attic cellar kitchen table chair bed mirror painting banner crown throne army soldier merchant "
        "hunter priest thief child elder magic spell curse blessing flame ice thunder poison blood"
    ),
    adjectives=words(
        "old wet cold hot dark dim red blue white black grey golden silver broken rusty deep narrow wide "
        "high low ancient new strange familiar quiet loud sharp blunt heavy light rough soft dry rotten "
        "fragrant bitter empty frozen burning shining hidden forgotten cursed blessed crooked firm "
        "trembling weary angry sad"
    ),
    adverbs=words(
        "slowly quietly suddenly again already barely hurriedly carefully weakly firmly softly distantly "
        "nearby briefly long finally calmly stealthily loudly slightly roughly gently silently hastily "
        "unsteadily clearly"
    ),
    heads=words(
        "frost mist raven silver stone moon shade ember wind thorn marsh spring star blood bone dragon fox "
        "deer hawk bear crystal copper iron salt sand wave thunder dew dawn dusk winter harvest summer "
        "night day fire water earth forest hill river sea sky root leaf flower seed storm ash wolf"
    ),
    tails=words(
        "mark shard song warden path hill ford pass vale well altar light market store fence gate spring "
        "weave censer horn hook bowl pillar mural purse carving chain needle brush stick bell charm belt "
        "sheath wheel mast deck shelf drawer sill shutter flue hearth eave floor wall bar grip post"
    ),
    syllables=words(
        "ar el mir ka thor en wyn ra dor bel sha lin os fen gar iv ith mor na per quil ros sel tan ul var "
        "wen yor zan da li mo"
    ),
    sounds=words(
        "bar bel bor bran cal cor dal den dor dun el eth fal fen fer gal gim gor hal har hel ib ish jor kal "
        "kel kor lam lor lun mal mar mel mor nal neth nor oc or pal pel quin ral ren rim sal ser sil sor "
        "tal tam ter thal tor ul um ur val ven vor wal wen wil xan yal yor zel zor"
    ),
    titles=words("Elder Knight Priest Merchant Smith Hunter Witch Captain Scholar Rogue"),
    sites=words(
        "Forest Hill Ferry Ruins Keep Tower Mine Marsh Inn Market Temple Graveyard Cave Gorge Harbour "
        "Garden Bridge Mill Outpost Library"
    ),
    things=words(
        "Sword Dagger Shield Bow Potion Scroll Key Ring Necklace Map Lantern Cloak Boots Crystal Horn "
        "Mirror Book Charm Mask Rope"
    ),
    deeds=words(
        "Raid Meeting Duel Funeral Festival Betrayal Fire Flood Oath Pursuit Council Escape Discovery Rite Trial Return"
    ),
    groups=words(
        "Order Company Church Circle House Guild Treaty Legend Prophecy Custom Calendar War Plague Dynasty School Song"
    ),
    moods=words("tense calm afraid angry glad sad curious weary relieved resolved"),
    relations=words("trust wary friendship hostile respect doubt affection grudge alliance debt"),
    narration=lines(
        """
        {who} watches the {adj} {noun} {adv}.
        Beyond the {adj} {noun} a {noun} sways {adv}.
        From {place} comes the smell of a {adj} {noun}.
        {who} {adv} tightens a hand around the {noun}.
        Where somebody left the {noun}, only a {adj} {noun} remains.
        {other} steps up to {who} {adv} and holds out a {noun}.
        A {adj} {noun} and a {adj} {noun} crowd the road ahead.
        {who} takes out the {item} and holds it against the {adj} {noun}.
        {place} lies {adv} still today, and there is nothing to hear but a {noun}.
        Instead of an answer {other} points at the {adj} {noun}.
        The {noun} falls {adv}, and a {adj} {noun} rolls across the floor.
        When {who} stops walking, the {noun} stops as well.
        A single {adj} {noun} stands in the middle of {place}.
        {other} {adv} begins the tale of the {item}.
        Far away a {noun} rings out, and a {adj} {noun} brushes past.
        {who} draws breath {adv} before the {adj} {noun}.
        The road to {place} is lined by one {adj} {noun} after another.
        The eyes of {other} gleam like a {adj} {noun}.
        At the sight of the {noun}, {who} remembers a night in {place}.
        A {noun} settles {adv} on the {adj} {noun}.
        The {item} keeps its {adj} glow at the side of {who}.
        There is neither {noun} nor {noun} where they look back {adv}.
        {other} and {who} face each other across a {adj} {noun}.
        Through a crack in the {noun} a {adj} {noun} seeps out {adv}.
        """
    ),
    speech=lines(
        """
        "If it is the {noun} you want, go to {place}," {other} says {adv}.
        "Do not bring out that {item} lightly," {other} whispers in a {adj} voice.
        "{who}, have you forgotten the {noun}?" {other} asks and {adv} turns away.
        "They say that a {noun} was seen in {place}," {other} admits {adv}.
        "We must leave before the {adj} {noun} comes," {other} urges.
        "I fear the {noun} less than the {noun}," {other} says with a {adj} smile.
        """
    ),
    wishes=lines(
        """
        I go to {place} and look for the {adj} {noun}.
        I {adv} ask {other} where the {item} came from.
        Do you remember the {noun} we saw in {place}? What has {other} to do with it?
        I draw the {item} and walk {adv} towards the {noun}.
        I look at {other} and say, "Tell me more about the {noun}."
        I look around {adv} and hide behind the {adj} {noun}.
        I decide to leave {place} together with {other}.
        I pick up the {noun} and hold it beside the {adj} {noun}.
        What was it that {other} said when I first got the {item}?
        I sit down by the {noun}, rest {adv} and listen to {other}.
        """
    ),
    lore=lines(
        """
        {name} is known for a {adj} {noun} and a {noun}.
        Since the {noun} vanished from {place} long ago, the {adj} rumours have not ceased.
        Those who know {name} warn of the {adj} {noun}.
        Beneath the {noun} a {adj} {noun} is said to sleep.
        Each year, when the {adj} {noun} returns, people offer a {noun}.
        The origin of {name} is carved into a {adj} {noun}, but nobody can read it.
        """
    ),
    rules=lines(
        """
        You are the narrator of this story and describe everything vividly, down to the last {adj} {noun}.
        Never decide for the player; show what comes of a {noun} and a {noun}.
        Each character speaks in a {adj} voice and has an own opinion about the {noun}.
        In a scene with a {noun}, build tension {adv} and end on a {adj} {noun}.
        Do not undo what has happened: who lost a {noun} has lost it.
        """
    ),
)

VOCABULARIES = {"ko": KOREAN, "en": ENGLISH, "ja": JAPANESE, "zh": CHINESE}
