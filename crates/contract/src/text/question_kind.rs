//! Question kinds: what a question asks for, derived from its question word: `when`, `где`, `谁`,
//! `언제`.
//!
//! `What` and similar words ask for whatever the rest of the question names, so they are stop
//! words, not question kinds.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::words::split_words;

/// Kind of a question. Two questions are the same only if their kinds are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum QuestionKind {
    When,
    Where,
    Who,
    Why,
    How,
    Count,
    Duration,
    /// Not a question word, but it inverts the question.
    Negation,
}

/// Question words of scripts with spaces.
const QUESTION_WORDS: &[(QuestionKind, &str)] = &[
    (QuestionKind::When, "when date когда дата"),
    (QuestionKind::Where, "where где куда откуда"),
    (QuestionKind::Who, "who whom whose кто кого кому кем чей чья чье чьи"),
    (QuestionKind::Why, "why reason почему зачем причина"),
    (QuestionKind::How, "how"),
    (QuestionKind::Count, "many сколько"),
    (QuestionKind::Duration, "long долго"),
    (
        QuestionKind::Negation,
        "not no never without none cannot can't don't doesn't didn't isn't aren't wasn't won't нет не ни без нельзя",
    ),
];

/// Question phrases of scripts that are split into pairs of characters.
pub(super) const QUESTION_PHRASES: &[(QuestionKind, &str)] = &[
    (QuestionKind::When, "什么时候"),
    (QuestionKind::When, "什么时间"),
    (QuestionKind::When, "何时"),
    (QuestionKind::When, "哪天"),
    (QuestionKind::When, "日期"),
    (QuestionKind::When, "いつ"),
    (QuestionKind::When, "언제"),
    (QuestionKind::When, "날짜"),
    (QuestionKind::Where, "什么地方"),
    (QuestionKind::Where, "哪里"),
    (QuestionKind::Where, "哪儿"),
    (QuestionKind::Where, "何处"),
    (QuestionKind::Where, "在哪"),
    (QuestionKind::Where, "どこ"),
    (QuestionKind::Where, "어디"),
    (QuestionKind::Who, "谁"),
    (QuestionKind::Who, "誰"),
    (QuestionKind::Who, "누구"),
    (QuestionKind::Who, "누가"),
    (QuestionKind::Why, "为什么"),
    (QuestionKind::Why, "为何"),
    (QuestionKind::Why, "なぜ"),
    (QuestionKind::Why, "왜"),
    (QuestionKind::Why, "原因"),
    (QuestionKind::Why, "이유"),
    (QuestionKind::Duration, "多久"),
    (QuestionKind::Duration, "多长时间"),
    (QuestionKind::Duration, "얼마나 오래"),
    (QuestionKind::Duration, "얼마나 걸"),
    (QuestionKind::How, "如何"),
    (QuestionKind::How, "怎么"),
    (QuestionKind::How, "怎样"),
    (QuestionKind::How, "어떻게"),
    (QuestionKind::Count, "多少"),
    (QuestionKind::Count, "几"),
    (QuestionKind::Count, "いくつ"),
    (QuestionKind::Count, "몇"),
    (QuestionKind::Negation, "不"),
    (QuestionKind::Negation, "没"),
    (QuestionKind::Negation, "無"),
    (QuestionKind::Negation, "无"),
    (QuestionKind::Negation, "未"),
    (QuestionKind::Negation, "非"),
    (QuestionKind::Negation, "勿"),
    (QuestionKind::Negation, "않"),
    (QuestionKind::Negation, "아닙"),
    (QuestionKind::Negation, "아니"),
    (QuestionKind::Negation, "없"),
];

static QUESTION_STEMS: LazyLock<Vec<(QuestionKind, BTreeSet<String>)>> = LazyLock::new(|| {
    QUESTION_WORDS
        .iter()
        .map(|(ask, list)| (*ask, split_words(list).into_iter().collect()))
        .collect()
});

impl QuestionKind {
    /// Returns the kind of a Korean word that is a question kind only if it stands alone: `안` in
    /// `안 포함됩니까` negates, in `안에서` it does not.
    pub(super) fn from_korean_word(word: &str) -> Option<Self> {
        matches!(word, "안" | "못").then_some(Self::Negation)
    }

    /// Returns the question kind of a stem, or `None` if the stem is not a question word.
    pub(super) fn from_stem(stem: &str) -> Option<Self> {
        QUESTION_STEMS.iter().find(|(_, stems)| stems.contains(stem)).map(|(ask, _)| *ask)
    }
}
