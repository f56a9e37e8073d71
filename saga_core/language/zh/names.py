"""Chinese titles, which hang on a name without a space."""

from __future__ import annotations

from saga_core.language.names import NameWords

NAMES = NameWords(
    player=frozenset("玩家 你 您 我 主角 用户 用戶".split()),
    titles_around=frozenset(
        "师姐 师兄 师弟 师妹 大师兄 二师兄 大师姐 小师妹 小师弟 师父 师傅 师叔 师伯 师祖 师尊 师太 掌门 掌教 长老 "
        "宗主 门主 帮主 盟主 堂主 教主 庄主 谷主 峰主 城主 岛主 阁主 楼主 前辈 晚辈 真人 道长 大师 大侠 少侠 女侠 "
        "姑娘 公子 少爷 老爷 将军 元帅 太后 太子 公主 王爷 皇上 皇后 娘娘 丞相 老师 教授 医生 大夫 护士 警官 队长 "
        "队 局长 局 所长 处长 科长 主任 经理 总 总裁 总监 老板 老板娘 董事长 秘书 律师 记者 法官 大哥 大姐 大叔 "
        "大爷 大娘 大婶 大嫂 哥 姐 叔 姨 婶 爷 伯 嫂 妹 弟 公公 婆婆 爷爷 奶奶 阿姨 叔叔 伯伯 哥哥 姐姐 弟弟 妹妹 "
        "学长 学姐 学弟 学妹 同学 班长 社长 会长 校长 船长 店长 馆长 教官 教练 司令 上校 少校 中尉 探长 侦探 神父 "
        "修女 骑士 国王 王子 女王 伯爵 公爵 男爵 村长 族长 镇长".split()
    ),
    diminutives=("小", "老", "阿"),
    nicknames=tuple("外号 外號 绰号 綽號 人称 人稱 别名 別名 小名 道号 道號 法号 法號 化名 自称 自稱".split()),
    reveals=r"(?:真实身份(?:是|为)|真實身份(?:是|為)|身份是|真名(?:是|叫)|原来是|原來是|实为|實為)(?P<name>[^，。]+)",
    honorifics=("先生", "小姐", "女士", "夫人", "大人", "殿下", "陛下", "阁下", "閣下"),
    joint=r"(?<=[一-鿿])[和与與跟、](?=[一-鿿])",
    letters="[\u3400-\u4dbf\u4e00-\u9fff]",
)
