"""The vocabulary of Chinese plays."""

# ruff: noqa: E501 - Chinese letters count twice

from __future__ import annotations

from tests.bench.story.words import Vocabulary, lines, words

CHINESE = Vocabulary(
    spaced=False,
    nouns=words(
        "门 窗户 楼梯 灯笼 蜡烛 火把 墙壁 屋顶 桥 河 小溪 雾 风 雨 雪 云 月光 阳光 影子 灰烬 烟 尘土 石头 岩石 树 树根 树枝 叶子 花 草 "
        "灌木 苔藓 狼 乌鸦 马 猫 蛇 蜘蛛 刀刃 箭 盾牌 盔甲 斗篷 靴子 手套 兜帽 戒指 项链 钥匙 锁 箱子 麻袋 地图 信 书 卷轴 墨水 封蜡 "
        "硬币 宝石 水晶 银币 面包 肉 酒 水壶 草药 药水 绷带 绳子 梯子 马车 船 帆 锚 钟 鼓 笛子 歌 传闻 诺言 誓言 秘密 谎话 梦 记忆 "
        "伤口 伤疤 手 目光 声音 脚步声 呼吸 心 肩膀 头发 微笑 眼泪 沉默 集市 巷子 广场 水井 客栈 铁匠铺 神庙 坟墓 牢房 塔楼 城墙 城门 "
        "阁楼 地窖 厨房 桌子 椅子 床 镜子 画 旗帜 王冠 王座 军队 士兵 商人 猎人 祭司 小偷 孩子 老人 魔法 咒语 诅咒 祝福 火焰 冰 闪电 毒 血"
    ),
    adjectives=words(
        "古老的 潮湿的 冰冷的 滚烫的 昏暗的 微弱的 红色的 蓝色的 白色的 黑色的 灰色的 金色的 银色的 破碎的 生锈的 深深的 狭窄的 宽阔的 "
        "高高的 低矮的 崭新的 陌生的 熟悉的 安静的 吵闹的 锋利的 迟钝的 沉重的 轻飘飘的 粗糙的 柔软的 干枯的 腐烂的 芬芳的 苦涩的 "
        "空荡荡的 冻僵的 燃烧的 闪光的 隐秘的 被遗忘的 受诅咒的 摇摇欲坠的 颤抖的 疲惫的 愤怒的 悲伤的"
    ),
    adverbs=words(
        "慢慢地 静静地 突然 忽然 再次 已经 勉强 急忙 小心地 无力地 坚决地 低声 远远地 悄悄地 久久地 终于 定定地 重重地 微微 粗暴地 "
        "温柔地 默默地 匆匆 清清楚楚地"
    ),
    heads=words(
        "霜 雾 鸦 银 石 月 影 烬 风 荆 沼 泉 星 血 骨 龙 狐 鹿 鹰 熊 晶 铜 铁 盐 沙 浪 雷 露 晨 暮 冬 春 秋 夏 夜 火 水 土 林 山 川 "
        "海 天 根 叶 花 种"
    ),
    tails=words(
        "纹 碎片 谣 守卫 小径 丘 渡口 关 谷 祭坛 灯塔 市 仓 篱 桥头 织物 香炉 号角 钩 碗 碑 壁画 钱袋 木雕 链 针 笔 烛台 铃 护符 腰带 "
        "刀鞘 纺车 桅杆 甲板 架 抽屉 门槛 窗板 烟囱 火炉 屋檐 地板 围墙 门闩 把手 路标"
    ),
    syllables=words("阿 艾 勒 根 克 鲁 米 莉 娜 索 拉 卡 温 丹 塞 伊 德 哈 贝 洛 文 塔 莫 琳 加 尤 黛 希 巴 奈"),
    sounds=words("嘎尔 肯姆 铎 涅斯 芬 扎格 莫尔 梵 缇斯 奥格 兰姆 施 贝克 诺夫 伊尔 格雷 卡斯 图 梅尔 赞"),
    titles=words("长老 骑士 祭司 商人 铁匠 猎人 女巫 船长 学者 盗贼"),
    sites=words("森林 山丘 渡口 废墟 城堡 高塔 矿山 沼泽 客栈 集市 神庙 墓地 山洞 峡谷 港口 花园 大桥 磨坊 哨所 书库"),
    things=words("之剑 匕首 之盾 之弓 药水 卷轴 钥匙 指环 项链 地图 灯笼 斗篷 长靴 号角 之镜 之书 护符 面具"),
    deeds=words("突袭 相遇 决斗 葬礼 庆典 背叛 大火 洪水 之誓 追击 会议 脱逃 发现 仪式 审判 归来"),
    groups=words("骑士团 商会 教团 结社 家族 行会 条约 传说 预言 习俗 历法 战争 瘟疫 王朝 学派 之歌"),
    moods=words("紧张 平静 害怕 愤怒 喜悦 悲伤 好奇 疲惫 安心 坚定"),
    relations=words("信任 戒备 友谊 敌对 尊敬 怀疑 爱慕 怨恨 同盟 亏欠"),
    narration=lines(
        """
        {who}{adv}望着{adj}{noun}。
        {adj}{noun}那边，{noun}{adv}摇晃着。
        从{place}的方向飘来{adj}{noun}的气味。
        {who}握着{noun}的手{adv}加了把劲。
        有人把{noun}搁下的地方，只剩下{adj}{noun}。
        {other}{adv}走到{who}跟前，递上{noun}。
        {adj}{noun}和{adj}{noun}混在一起，挡住了去路。
        {who}取出{item}，对着{adj}{noun}照了照。
        {place}今天{adv}沉了下来，只听得见{noun}的响动。
        {other}没有回答，只是指了指{adj}{noun}。
        {noun}{adv}倒下，{adj}{noun}在地上滚了开去。
        {who}一停步，{noun}也跟着停了。
        {place}的正中央摆着一个{adj}{noun}。
        {other}{adv}说起了{item}的来历。
        远处{noun}响了起来，{adj}{noun}{adv}掠过。
        {who}在{adj}{noun}前{adv}喘了口气。
        通往{place}的路上，{adj}{noun}一个接着一个。
        {other}的眼睛像{adj}{noun}一样发亮。
        看到{noun}，{who}想起了很久以前在{place}的那一夜。
        {noun}{adv}落在{adj}{noun}上。
        {item}在{who}身旁，依旧闪着{adj}光。
        {adv}回头看时，{noun}和{noun}都不见了。
        {other}和{who}隔着{adj}{noun}面对面站着。
        {adj}{noun}从{noun}的缝隙里{adv}透出来。
        """
    ),
    speech=lines(
        """
        “要找{noun}，就到{place}去。”{other}{adv}说。
        “那件{item}别随便拿出来。”{other}用{adj}声音低语。
        “{who}，你把{noun}忘了吗？”{other}{adv}摇了摇头。
        “听说有人在{place}见过{noun}。”{other}{adv}吐露道。
        “得赶在{adj}{noun}来之前动身。”{other}催促着。
        “比起{noun}，我更怕{noun}。”{other}苦笑了一下。
        """
    ),
    wishes=lines(
        """
        我去{place}找{adj}{noun}。
        我{adv}问{other}，{item}是从哪儿来的。
        还记得以前在{place}见过的{noun}吗？那跟{other}有什么关系？
        我拿着{item}，{adv}朝{noun}走去。
        我看着{other}说：“再跟我讲讲{noun}的事。”
        我{adv}看看四周，躲到{adj}{noun}后面。
        我决定和{other}一起离开{place}。
        我捡起{noun}，和{adj}{noun}比了比。
        刚拿到{item}的时候，{other}说什么来着？
        我在{noun}旁边坐下，{adv}歇着，听{other}说话。
        """
    ),
    lore=lines(
        """
        {name}以{adj}{noun}和{noun}闻名。
        自从很久以前{noun}从{place}消失，{adj}传闻就没有断过。
        知道{name}的人都说要当心{adj}{noun}。
        据说{noun}底下沉睡着{adj}{noun}。
        """
    ),
    rules=lines(
        """
        你是这个故事的讲述者，连{adj}{noun}也要描写得栩栩如生。
        不要替玩家决定言行，只写{noun}和{noun}带来的结果。
        已经发生的事不要推翻，失去{noun}的人就是失去了。
        """
    ),
)
