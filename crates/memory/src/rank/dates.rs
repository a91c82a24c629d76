//! Days as index terms: an event is indexed by the day it happened, and a query by the days it
//! names.
//!
//! Each day has three terms: the year `@2022`, the month `@11` and the day of the year `@11-09`. A
//! query that names a day without a year matches it in every year.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use countersign_contract::Timestamp;
use countersign_contract::text::split_words;

/// Spellings of each month: full names, grammatical cases and abbreviations.
const MONTHS: [&str; 12] = [
    "january jan январь января январе",
    "february feb февраль февраля феврале",
    "march mar март марта марте",
    "april apr апрель апреля апреле",
    "may май мая мае",
    "june jun июнь июня июне",
    "july jul июль июля июле",
    "august aug август августа августе",
    "september sep sept сентябрь сентября сентябре",
    "october oct октябрь октября октябре",
    "november nov ноябрь ноября ноябре",
    "december dec декабрь декабря декабре",
];

/// Month names that have other meanings too and therefore need a number next to them.
const DOUBTFUL: &str = "may march mar jan jun dec sep май мая мае";

static STEMS: LazyLock<[Vec<String>; 12]> = LazyLock::new(|| MONTHS.map(split_words));
static DOUBTFUL_STEMS: LazyLock<Vec<String>> = LazyLock::new(|| split_words(DOUBTFUL));

/// Returns the terms for the day of a timestamp, in UTC.
pub(super) fn build_day_terms(ts: Timestamp) -> impl Iterator<Item = String> {
    let written = ts.to_string();
    let date = written.split('T').next().unwrap_or_default();
    let mut parts = date.rsplitn(3, '-').map(str::to_owned);
    let (day, month, year) = (parts.next(), parts.next(), parts.next());
    let month = month.unwrap_or_default();
    let terms = [year.map(|year| format!("@{year}")), day.map(|day| format!("@{month}-{day}"))];
    terms.into_iter().flatten().chain([format!("@{month}")])
}

/// Returns the terms of a time range: its days, months or years, the finest unit that gives few
/// enough terms.
pub(super) fn build_range_terms(from: Timestamp, to: Timestamp) -> BTreeSet<String> {
    const DAY: i64 = 86_400_000;
    const DAYS: i64 = 31;
    const MONTHS_OF: i64 = 300;
    const YEARS: i64 = 366 * 100;
    let days = (to.0.saturating_sub(from.0)) / DAY + 1;
    // Selects one of the three terms of a day.
    let (step, place) = if days <= DAYS {
        (1, 1)
    } else if days <= MONTHS_OF {
        (27, 2)
    } else {
        (360, 0)
    };
    let mut terms = BTreeSet::new();
    let mut at = from;
    while at < to && days <= YEARS {
        terms.extend(build_day_terms(at).nth(place));
        at = at.plus_millis(step * DAY);
    }
    terms.extend(build_day_terms(to).nth(place).filter(|_| days <= YEARS));
    terms
}

/// Returns the terms of the days that a text names.
pub(super) fn extract_day_terms(text: &str) -> BTreeSet<String> {
    let words = split_words(text);
    let mut terms = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        if let Some(year) = parse_year(word) {
            terms.insert(format!("@{year:04}"));
        }
        let Some((month, day)) = parse_month_at(&words, at) else { continue };
        terms.insert(match day {
            Some(day) => format!("@{month:02}-{day:02}"),
            None => format!("@{month:02}"),
        });
    }
    terms
}

/// Parses the month at a word index, with its day if there is one.
fn parse_month_at(words: &[String], at: usize) -> Option<(u32, Option<u32>)> {
    let word = |place: usize| words.get(place).map(String::as_str);
    let back = |by: usize| at.checked_sub(by).and_then(word);
    let (before, next) = (back(1), word(at + 1));
    let here = words[at].as_str();
    if let Some(number) = STEMS.iter().position(|stems| stems.iter().any(|stem| stem == here)) {
        let before = if before == Some("of") { back(2) } else { before };
        let day = before.and_then(parse_day).or_else(|| next.and_then(parse_day));
        let dated = day.is_some() || next.is_some_and(|next| parse_year(next).is_some());
        let doubtful = DOUBTFUL_STEMS.iter().any(|stem| stem == here);
        return (dated || !doubtful).then_some((number as u32 + 1, day));
    }
    let month = parse_day(here).filter(|month| (1..=12).contains(month))?;
    // Formats 11月9日 and 11월 9일.
    if next.is_some_and(|next| next.starts_with(['月', '월'])) {
        let marked = word(at + 3).is_some_and(|mark| mark.starts_with(['日', '号', '號', '일']));
        return Some((month, word(at + 2).filter(|_| marked).and_then(parse_day)));
    }
    // Format 2022-11-09.
    before.and_then(parse_year).and(next).and_then(parse_day).map(|day| (month, Some(day)))
}

/// Parses a day of a month: `9`, `09`, `9th`.
fn parse_day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|last: char| last.is_ascii_lowercase());
    let ordinal = matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    let day = digits.parse().ok()?;
    (ordinal && digits.len() <= 2 && (1..=31).contains(&day)).then_some(day)
}

fn parse_year(word: &str) -> Option<u32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..2100).contains(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_named_in_four_languages() {
        for (text, expected) in [
            ("What did Nate make on 9 November, 2022?", "@11-09 @2022"),
            ("on November 9th", "@11-09"),
            ("the 3rd of May", "@05-03"),
            ("in June", "@06"),
            ("may I march in?", ""),
            ("Что было 9 ноября 2022 года?", "@11-09 @2022"),
            ("в марте", "@03"),
            ("2022年11月9日晚上吃了什么", "@11-09 @2022"),
            ("五月去哪了", ""),
            ("11월 9일에 뭐 했어?", "@11-09"),
            ("3월에", "@03"),
            ("since 2022-11-09", "@11-09 @2022"),
            ("version 4.11.9", ""),
            ("between August 11 and August 15", "@08-11 @08-15"),
        ] {
            let named: Vec<String> = extract_day_terms(text).into_iter().collect();
            assert_eq!(named.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn an_event_has_its_day() {
        let mut terms: Vec<String> = build_day_terms(Timestamp(1_667_952_000_000)).collect();
        terms.sort();
        assert_eq!(terms, ["@11", "@11-09", "@2022"]);
    }
}
