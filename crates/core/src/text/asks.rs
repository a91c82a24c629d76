//! What a question asks for, told from its question word: `when`, `где`, `谁`, `언제`.
//!
//! `What` and its like ask for whatever the rest of the question names, so they are fillers, not asks.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::words::words;

/// Something that two questions must both ask for to be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ask {
    When,
    Where,
    Who,
    Why,
    How,
    Count,
    Duration,
    /// Not a question word, but it turns a question round all the same.
    Not,
}

/// Words of scripts with spaces.
const WORDS: &[(Ask, &str)] = &[
    (Ask::When, "when date когда дата"),
    (Ask::Where, "where где куда откуда"),
    (Ask::Who, "who whom whose кто кого кому кем чей чья чье чьи"),
    (Ask::Why, "why reason почему зачем причина"),
    (Ask::How, "how"),
    (Ask::Count, "many сколько"),
    (Ask::Duration, "long долго"),
    (
        Ask::Not,
        "not no never without none cannot can't don't doesn't didn't isn't aren't wasn't won't нет не ни без нельзя",
    ),
];

/// Phrases of scripts that are read in pairs.
pub(super) const PHRASES: &[(Ask, &str)] = &[
    (Ask::When, "什么时候"),
    (Ask::When, "什么时间"),
    (Ask::When, "何时"),
    (Ask::When, "哪天"),
    (Ask::When, "日期"),
    (Ask::When, "いつ"),
    (Ask::When, "언제"),
    (Ask::When, "날짜"),
    (Ask::Where, "什么地方"),
    (Ask::Where, "哪里"),
    (Ask::Where, "哪儿"),
    (Ask::Where, "何处"),
    (Ask::Where, "在哪"),
    (Ask::Where, "どこ"),
    (Ask::Where, "어디"),
    (Ask::Who, "谁"),
    (Ask::Who, "誰"),
    (Ask::Who, "누구"),
    (Ask::Who, "누가"),
    (Ask::Why, "为什么"),
    (Ask::Why, "为何"),
    (Ask::Why, "なぜ"),
    (Ask::Why, "왜"),
    (Ask::Why, "原因"),
    (Ask::Why, "이유"),
    (Ask::Duration, "多久"),
    (Ask::Duration, "多长时间"),
    (Ask::Duration, "얼마나 오래"),
    (Ask::Duration, "얼마나 걸"),
    (Ask::How, "如何"),
    (Ask::How, "怎么"),
    (Ask::How, "怎样"),
    (Ask::How, "어떻게"),
    (Ask::Count, "多少"),
    (Ask::Count, "几"),
    (Ask::Count, "いくつ"),
    (Ask::Count, "몇"),
    (Ask::Not, "不"),
    (Ask::Not, "没"),
    (Ask::Not, "無"),
    (Ask::Not, "无"),
    (Ask::Not, "未"),
    (Ask::Not, "않"),
    (Ask::Not, "없"),
];

static STEMS: LazyLock<Vec<(Ask, BTreeSet<String>)>> = LazyLock::new(|| {
    WORDS.iter().map(|(ask, list)| (*ask, words(list).into_iter().collect())).collect()
});

impl Ask {
    /// What a stem asks for.
    pub(super) fn of(stem: &str) -> Option<Self> {
        STEMS.iter().find(|(_, stems)| stems.contains(stem)).map(|(ask, _)| *ask)
    }
}
