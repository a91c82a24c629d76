//! Stop words, phrases and endings that do not show what a question is about: articles, courtesies,
//! auxiliaries.
//!
//! Only comparison drops them; search still finds them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::words::split_words;

/// English and Russian stop words, before stemming.
const STOP_WORDS: &str = "
    a an the this that these those it its of to in on at by for from with about as into and or so
    is are was were be been being am do does did have has had having will would shall should can
    could may might must there here
    i me my you your we us our they them their he she his her
    what which please tell let know say give provide specify clarify describe explain like want need
    ask question would kindly just also exactly exact want
    much
    и а но или же ли бы в во на по с со к ко у о об от из за для при над под между через
    это эта этот эти того этого этой тот та те то там тут здесь как так уже еще
    я мы вы ты он она они мне нам вам меня нас вас мой наш ваш их его ее ей им себя свой
    быть есть был была было были будет будут является являются являться
    что чего чему чем какой какая какое какие каков какова каково каковы какую каким какого каком
    который которая которое которые которого
    скажите скажи сказать подскажите подскажете подсказать сообщите сообщить уточните уточнить
    укажите указать расскажите рассказать опишите объясните назовите дайте знать узнать
    пожалуйста можете могли можно нужно нужен нужна нужны надо необходимо требуется требуются хотел хотела хотелось хочу именно
    составляет составит
";

/// Ways to say the same, in folded text: the longer one is replaced.
pub(super) const SAME_PHRASES: &[(&str, &str)] = &[
    ("in what way", "how"),
    ("in which way", "how"),
    ("bears liability", "is liable"),
    ("bear liability", "are liable"),
    ("сколько будет стоить", "какая цена"),
    ("сколько будут стоить", "какая цена"),
    ("сколько стоит", "какая цена"),
    ("сколько стоят", "какая цена"),
    ("каким образом", "как"),
    ("несет ответственность", "отвечает"),
    ("несут ответственность", "отвечают"),
    ("с какого числа", "когда"),
    ("с какой даты", "когда"),
    ("多少钱", "价格"),
];

/// Words with the same meaning in every question, by their stems; the second stands for both.
const SAME_WORDS: &[(&str, &str)] =
    &[("cost", "price"), ("begin", "start"), ("commenc", "start"), ("стоимост", "цен")];

/// Returns the word that stands for a stem and its synonyms.
pub(super) fn unify_synonym(stem: &str) -> &str {
    SAME_WORDS.iter().find(|(word, _)| *word == stem).map_or(stem, |(_, same)| same)
}

/// Russian verbs before which `не` asks politely and negates nothing.
const COURTESY_WORDS: &str = "подскажете подскажешь скажете могли мог уточните уточнили сообщите назовете напомните расскажете";

/// Stop phrases of scripts that are split into pairs of characters.
pub(super) const STOP_PHRASES: &[&str] = &[
    "能不能告诉我",
    "可以告诉我",
    "请告诉我",
    "告诉我",
    "告诉我们",
    "能不能",
    "可不可以",
    "有没有",
    "是不是",
    "能否",
    "能",
    "是否",
    "想知道",
    "请问",
    "请您",
    "请你",
    "一下",
    "是多少",
    "为多少",
    "是什么",
    "是哪些",
    "有哪些",
    "哪些",
    "哪个",
    "什么",
    "怎么样",
    "我们",
    "你们",
    "您们",
    "他们",
    "这个",
    "那个",
    "这些",
    "那些",
    "可以",
    "需要",
    "您",
    "你",
    "我",
    "的",
    "是",
    "了",
    "吗",
    "呢",
    "吧",
    "请",
    "由",
    "被",
    "会",
    "要",
    "将",
    "教えてください",
    "いただけますか",
    "でしょうか",
    "ください",
    "ですか",
    "ますか",
    "ません",
    "です",
    "ます",
    "何",
    "は",
    "が",
    "を",
    "の",
    "알려주시겠습니까",
    "알려주실수있나요",
    "알려주시겠어요",
    "알려주실",
    "알려주세요",
    "알려줄",
    "말씀해",
    "주시겠습니까",
    "주시겠어요",
    "주실 수 있나요",
    "주세요",
    "수 있나요",
    "수 있습니까",
    "수 있을까요",
    "무엇입니까",
    "무엇인가요",
    "무엇인지",
    "무엇",
    "어떻게 되나요",
    "어떻게 됩니까",
    "어떤",
    "얼마입니까",
    "얼마인가요",
    "얼마인지",
    "얼마예요",
    "얼마나",
    "얼마",
];

/// Korean endings, longest first.
const KOREAN_ENDINGS: &[&str] = &[
    "되었습니까",
    "하였습니까",
    "했습니까",
    "합니까",
    "됩니까",
    "되었나요",
    "되나요",
    "하나요",
    "했나요",
    "입니까",
    "인가요",
    "습니까",
    "이에요",
    "되는지",
    "하는지",
    "인지",
    "예요",
    "나요",
    "니까",
    "에서는",
    "에서",
    "으로",
    "까지",
    "부터",
    "에게",
    "한테",
    "이나",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "로",
    "와",
    "과",
    "도",
    "만",
];

static STOP_WORD_STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| split_words(STOP_WORDS).into_iter().collect());

static COURTESY_STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| split_words(COURTESY_WORDS).into_iter().collect());

/// Returns whether a stem is a verb of a polite request.
pub(super) fn is_courtesy_word(stem: &str) -> bool {
    COURTESY_STEMS.contains(stem)
}

/// Returns whether a stem is a stop word.
pub(super) fn is_stop_word(stem: &str) -> bool {
    STOP_WORD_STEMS.contains(stem)
}

/// Removes the ending of a Korean word; a word that is only an ending becomes empty. A particle is
/// one syllable, which is also the last syllable of many words, so it is removed only if two
/// syllables remain.
pub(super) fn strip_korean_ending(word: &str) -> Cow<'_, str> {
    const SYLLABLE: usize = '가'.len_utf8();
    if KOREAN_ENDINGS.contains(&word) {
        return Cow::Borrowed("");
    }
    if let Some(stem) = strip_polite_question(word) {
        return Cow::Owned(stem);
    }
    let left = |ending: &&str| {
        let least = if ending.len() > SYLLABLE { SYLLABLE } else { 2 * SYLLABLE };
        word.strip_suffix(*ending).filter(|left| left.len() >= least)
    };
    Cow::Borrowed(KOREAN_ENDINGS.iter().find_map(left).unwrap_or(word))
}

/// Returns the stem of a polite Korean question, whose ending adds a final consonant to the last
/// syllable: `내립니까` and `내리나요` have the stem `내리`. Listed endings come first.
fn strip_polite_question(word: &str) -> Option<String> {
    const FIRST: u32 = '가' as u32;
    const FINALS: u32 = 28;
    const FINAL_BIEUP: u32 = 17;
    let stem = word.strip_suffix("니까")?;
    let last = stem.chars().next_back()?;
    let code = u32::from(last).checked_sub(FIRST)?;
    if code % FINALS != FINAL_BIEUP || matches!(last, '합' | '됩' | '입' | '습') {
        return None;
    }
    let plain = char::from_u32(FIRST + code - FINAL_BIEUP)?;
    let rest = &stem[..stem.len() - last.len_utf8()];
    Some(format!("{rest}{plain}"))
}
