"""Chinese, as data. Words are not separated, so its patterns have no word boundaries."""

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.words.chinese import WORDS

CHINESE = Language(
    name="zh",
    words=WORDS,
    common="",
    has_words=False,
    features={
        "task_verb_first": r"(?:请)?(?:帮我|修复|修一下|添加|删除|删掉|看一下|看看|运行|改一下|把|取消|查一下|查找|创建|解释|给我|重启|更新|发|订|打开|关闭|翻译|检查一下|写一个|写个|加一个|加上|再)",
        "task_object": r"(?:一下|这个|那个|一个|把.{1,14}(?:改|删|换|移|加|发|重命名)|给我看|帮我)",
        "polite_task": r"(?:帮我|能不能|可以帮|能帮|麻烦你|请你帮|我想|我要(?:订|买|去|退|换)|我们来|你能|可否|想要)",
        "chatter": r"(?:谢谢|好的|好|可以|行|嗯|你好|是的|对|太好了|完美|不错|收到|明白)(?:[，。！,!]|$)",
        "plan": r"(?:我会|我来|我们会|让我|我打算)",
    },
)
