"""The words for the slots in the recall benchmark's texts, and small talk that uses many of them."""

from __future__ import annotations


def _some(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


FILLINGS = {
    "en": {
        "pet": _some("kitten, puppy, rabbit, parrot, hamster, turtle"),
        "petname": _some("Biscuit, Olive, Comet, Maple, Pepper, Juno, Waffles, Tilda, Bruno, Saffron, Quill, Dorian"),
        "city": _some("Lisbon, Kyoto, Oslo, Prague, Quebec, Naples, Dublin, Seville, Tallinn, Granada"),
        "craft": _some("pottery, woodworking, knitting, watercolor, calligraphy, glassblowing, upholstery"),
        "made": _some("birdhouse, quilt, wooden bowl, lampshade, clay mug, photo album, scarf"),
        "kin": _some("sister, brother, mother, father, cousin, aunt, uncle, nephew, grandmother"),
        "workplace": _some("city library, animal hospital, bakery, museum, primary school, radio station, greenhouse"),
        "limb": _some("knee, wrist, ankle, shoulder, elbow, hip"),
        "sport": _some("climbing, running, skating, rowing, cycling, bowling"),
        "weeks": _some("three, five, six, eight, ten"),
        "book": _some("The Glass Orchard, Winter's Ledger, A Map of Salt, The Ninth Lantern, Paper Tigers, Low Tide"),
        "scare": _some("heights, spiders, thunder, deep water, snakes, elevators, owls, mirrors"),
        "when": _some("June 14th, September 2nd, May 27th, October 19th, August 8th, March 30th"),
        "colour": _some("yellow, mint green, lavender, navy, coral"),
        "amount": _some("340, 720, 1250, 2100, 485, 960, 57, 83"),
        "shop": _some("bookstore, flower shop, dance studio, coffee truck, repair workshop, cheese counter"),
        "dish": _some("goulash, paella, dumplings, lasagna, pierogi, curry, ratatouille"),
        "remedy": _some("warm milk with honey, journaling before bed, a weighted blanket, lavender oil, no screens"),
        "band": _some("The Velvet Foxes, Marble Coast, Ninefold, Harbor Ghosts, The Tin Sparrows"),
        "thing": _some("ring, locket, notebook, watch, bracelet, camera, compass, flute"),
        "spot": _some(
            "under the car seat, behind the bookshelf, in the laundry basket, inside the piano, in the hollow oak, "
            "beneath the third stair, under a loose tile"
        ),
        "word": _some("nightjar, ember, seven salmon, old winter, thistle, no moon"),
        "feast": _some("harvest feast, new moon, midsummer, feast of lamps, frost fair"),
        "gift": _some(
            "a white raven feather, three river pearls, a jar of bees, her grandfather's sword, a dragon scale"
        ),
        "herb": _some("yarrow, comfrey, moss, wild garlic, willow bark"),
        "name": _some("Caroline, Marcus, Priya, Jonas, Elena, Tobias, Amara, Felix, Nadia, Owen, Ingrid, Dev"),
    },
    "ko": {
        "pet": _some("고양이, 강아지, 토끼, 앵무새, 햄스터, 거북이"),
        "petname": _some("보리, 두부, 초코, 별이, 모카, 구름이, 단추, 나비, 호두, 율무, 감자"),
        "city": _some("강릉, 통영, 경주, 여수, 전주, 춘천, 목포, 안동, 속초"),
        "craft": _some("도예, 목공, 뜨개질, 수채화, 서예, 유리공예"),
        "kin": _some("언니, 동생, 어머니, 아버지, 사촌, 이모, 삼촌, 조카, 할머니"),
        "workplace": _some("시립도서관, 동물병원, 빵집, 박물관, 초등학교, 방송국, 식물원"),
        "limb": _some("무릎, 손목, 발목, 어깨, 팔꿈치, 허리"),
        "sport": _some("등산, 달리기, 스케이트, 조정, 자전거, 볼링"),
        "weeks": _some("삼, 오, 육, 팔, 십"),
        "book": _some("유리 과수원, 겨울 장부, 소금 지도, 아홉 번째 등불, 종이 호랑이, 썰물"),
        "scare": _some("높은 곳, 거미, 천둥, 깊은 물, 뱀, 승강기, 부엉이, 거울"),
        "when": _some("6월 14일, 9월 2일, 5월 27일, 10월 19일, 8월 8일, 3월 30일"),
        "colour": _some("노란색, 연두색, 보라색, 남색, 산호색"),
        "amount": _some("34, 72, 125, 210, 48, 96, 57, 83"),
        "shop": _some("책방, 꽃집, 무용 학원, 커피 트럭, 수리점, 치즈 가게"),
        "dish": _some("육개장, 파에야, 만두, 잡채, 갈비찜, 카레, 닭볶음탕"),
        "remedy": _some("꿀 넣은 우유, 자기 전에 일기 쓰기, 무거운 이불, 라벤더 향, 족욕"),
        "thing": _some("반지, 목걸이, 공책, 시계, 팔찌, 사진기, 나침반, 피리"),
        "spot": _some(
            "자동차 의자 밑, 책장 뒤, 빨래 바구니, 피아노 안, 속이 빈 참나무, 셋째 계단 아래, 헐거운 기와 밑"
        ),
        "word": _some("쏙독새, 잿불, 연어 일곱, 묵은 겨울, 엉겅퀴, 그믐"),
        "feast": _some("추수제, 초하루, 하지, 등불 축제, 서리 장날"),
        "gift": _some("흰 까마귀 깃털, 강 진주 세 알, 벌 한 단지, 할아버지의 칼, 용의 비늘"),
        "herb": _some("톱풀, 쑥, 이끼, 산마늘, 버드나무 껍질"),
        "name": _some("지민, 서연, 도윤, 하은, 준호, 유진, 민재, 수아, 태오, 나래, 은우, 가람"),
    },
    "ja": {
        "petname": _some("コハク, ソラ, リンドウ, ミオ, ハヤテ, ツバキ, ユズ, クレハ, シグレ, ナギ, トワ"),
        "city": _some("金沢, 松江, 長崎, 弘前, 尾道, 萩, 高山, 函館, 倉敷"),
        "kin": _some("姉, 弟, 母, 父, 従兄, 叔母, 叔父, 甥, 祖母"),
        "limb": _some("膝, 手首, 足首, 肩, 肘, 腰"),
        "weeks": _some("三, 五, 六, 八, 十"),
        "scare": _some("高い所, 蜘蛛, 雷, 深い水, 蛇, 井戸, 梟, 鏡"),
        "amount": _some("34, 72, 125, 210, 48, 96, 57, 83"),
        "shop": _some("本屋, 花屋, 踊りの教場, 茶店, 修理屋, 乾酪の店"),
        "spot": _some("荷車の座席の下, 本棚の裏, 洗濯籠の中, 風琴の中, 樫の木のうろ, 三段目の階段の下, 緩んだ瓦の下"),
        "word": _some("夜鷹, 熾火, 鮭が七匹, 古い冬, 薊, 月のない夜"),
        "feast": _some("収穫祭, 新月, 夏至, 灯籠祭り, 霜の市"),
        "gift": _some("白い鴉の羽根, 川の真珠を三粒, 蜂を一壺, 祖父の剣, 竜の鱗"),
        "herb": _some("ノコギリソウ, ヨモギ, 苔, 野蒜, 柳の皮"),
    },
    "zh": {
        "petname": _some("阿满, 小棠, 石榴, 云生, 半夏, 青禾, 豆蔻, 阿苓, 松针, 晚晴, 老葛"),
        "city": _some("苏州, 大理, 洛阳, 泉州, 敦煌, 徽州, 襄阳, 青州, 潮州"),
        "kin": _some("姐姐, 弟弟, 母亲, 父亲, 表哥, 姑姑, 舅舅, 侄子, 奶奶"),
        "limb": _some("膝盖, 手腕, 脚踝, 肩膀, 胳膊肘, 腰"),
        "weeks": _some("三, 五, 六, 八, 十"),
        "scare": _some("高处, 蜘蛛, 打雷, 深水, 蛇, 枯井, 猫头鹰, 镜子"),
        "amount": _some("34, 72, 125, 210, 48, 96, 57, 83"),
        "shop": _some("书铺, 花店, 舞馆, 茶摊, 修理铺, 奶酪店"),
        "spot": _some("车座底下, 书架后面, 洗衣筐里, 风琴里面, 空心的橡树里, 第三级台阶下面, 松动的瓦片底下"),
        "word": _some("夜鹰, 余烬, 七条鲑鱼, 旧年冬, 蓟草, 无月"),
        "feast": _some("丰收节, 初一, 夏至, 灯会, 霜集"),
        "gift": _some("白乌鸦的羽毛, 三颗河珠, 一罐蜜蜂, 祖父的剑, 龙鳞"),
        "herb": _some("蓍草, 艾叶, 苔藓, 野蒜, 柳树皮"),
    },
}

DOINGS = {
    "en": (
        "My {kin} saw a documentary about {scare} and could not stop talking about it.",
        "We had {dish} at that new place, nothing to write home about.",
        "A colleague of mine moved to {city}, can you imagine?",
        "The neighbours lost their {pet} again, it was {spot}.",
        "My {kin} is on the third {craft} video this week.",
        'I still have to return "{book}" to the library.',
        "Somebody at work collects {thing}s, of all things.",
        "They are closing the {shop} around the corner, such a pity.",
        "I paid {amount} dollars for the car repair, what a joke.",
        "The hallway is {colour} now, it looks bigger.",
        "There was a {sport} race and the whole street was blocked.",
        "They played {band} on the radio this morning.",
        "My boss keeps saying that {remedy} would do us all good.",
        "School starts on {when}, time flies.",
    ),
    "ko": (
        "우리 {kin:이/가} {scare} 다큐멘터리를 보고 그 얘기만 해.",
        "새로 생긴 집에서 {dish} 먹었는데 그저 그랬어.",
        "회사 동료가 {city:으로/로} 이사 갔대, 상상이 돼?",
        "옆집 {pet:이/가} 또 없어졌는데 {spot}에 있었대.",
        "우리 {kin:은/는} 이번 주에만 {craft} 영상을 세 개나 봤어.",
        "도서관에 『{book}』 아직 못 돌려줬어.",
        "회사에 {thing:을/를} 모으는 사람이 있더라, 별일이지.",
        "모퉁이 {shop:이/가} 문을 닫는대, 아쉽다.",
        "차 고치는 데 {amount}만 원이나 들었어, 어이가 없네.",
        "복도를 {colour}으로 칠했더니 넓어 보여.",
        "{sport} 대회 때문에 길이 다 막혔어.",
        "{workplace} 앞에서 동창을 만났지 뭐야.",
        "부장님은 {remedy:이/가} 최고라는 말만 해.",
        "개학이 {when:이래/래}, 시간 참 빠르다.",
    ),
}
"""Small talk about others, with names, numbers and things. No question asks about it."""
