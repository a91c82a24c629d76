//! What holds of every text, whatever its script and however broken.

use std::collections::BTreeSet;

use countersign_contract::text::{
    compute_fingerprint, extract_numbers, measure_similarity, slugify, split_words,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Letters of many scripts, marks that stand on nothing, words that stem, numbers, signs.
fn known() -> impl Strategy<Value = String> {
    let words = [
        "contracts",
        "running",
        "y",
        "'s",
        "ies",
        "договорами",
        "вший",
        "ё",
        "й",
        "合同",
        "价",
        "請問",
        "계약은",
        "입니까",
        "가",
        "ｶﾞ",
        "क्षि",
        "\u{94d}",
        "\u{301}",
        "\u{200d}",
        "ß",
        "İ",
        "ŉ",
        "ﷺ",
        "1,250.50",
        "0",
        "1 250",
        "%",
        "-",
        "'",
        "’",
        ".",
        " ",
        "\n",
        "\0",
        "не",
        "can't",
        "when",
        "\u{1112}\u{1161}",
    ];
    select(words.to_vec()).prop_map(str::to_owned)
}

/// Any text.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![3 => known(), 1 => any::<String>(), 1 => "[a-zа-яё' ]{0,12}"];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// Text that people may write.
fn written() -> impl Strategy<Value = String> {
    let part = prop_oneof![2 => known(), 1 => "[a-zA-Zа-яА-ЯёЁά-ώ가-힣一-龥 .,']{0,12}"];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn words_are_words(text in text()) {
        for word in split_words(&text) {
            prop_assert!(word.chars().any(char::is_alphanumeric), "{word:?} of {text:?}");
            prop_assert!(!word.contains(char::is_whitespace), "{word:?} of {text:?}");
        }
    }

    #[test]
    fn case_and_repetition_do_not_matter(text in written()) {
        prop_assert_eq!(split_words(&text.to_uppercase()), split_words(&text), "{:?}", &text);
        let doubled = format!("{text} ; {text}");
        prop_assert_eq!(compute_fingerprint(&doubled), compute_fingerprint(&text));
    }

    #[test]
    fn similarity_is_a_measure(left in text(), right in text()) {
        let near = measure_similarity(&left, &right);
        prop_assert_eq!(near, measure_similarity(&right, &left));
        prop_assert!((0.0..=1.0).contains(&near));
        prop_assert_eq!((near * 1000.0).round() / 1000.0, near);
        let own = measure_similarity(&left, &left);
        prop_assert_eq!(own, if split_words(&left).is_empty() { 0.0 } else { 1.0 }, "{:?}", left);
    }

    #[test]
    fn numbers_are_plain_decimals(text in text()) {
        for number in extract_numbers(&text) {
            let plain = number.trim_end_matches('%').trim_start_matches('-');
            let (whole, fraction) = plain.split_once('.').unwrap_or((plain, "1"));
            prop_assert!(whole == "0" || !whole.starts_with('0'), "{number}");
            prop_assert!(!whole.is_empty() && !fraction.is_empty() && !fraction.ends_with('0'), "{number}");
            prop_assert!((whole.to_owned() + fraction).bytes().all(|digit| digit.is_ascii_digit()), "{number}");
            prop_assert_eq!(extract_numbers(&number), vec![number.clone()]);
        }
    }

    #[test]
    fn slugs_are_safe(text in text()) {
        let slug = slugify(&text);
        prop_assert!(!slug.is_empty() && slug.len() <= 81, "{slug}");
        prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"), "{slug}");
        let bad = |character: char| character.is_control() || character.is_whitespace() || "/\\.:*?\"<>|'".contains(character);
        prop_assert!(!slug.contains(bad), "{slug:?}");
    }
}

#[test]
fn a_long_text_takes_no_long_time() {
    let long: Vec<String> = (0..20_000).map(|index| format!("word{index} слово{index}")).collect();
    let long = long.join(" ");
    let other = long.replace("word1", "wort1");
    assert!(measure_similarity(&long, &other) < 1.0);
    assert_eq!(split_words(&"a".repeat(200_000)).len(), 1);
    let all: BTreeSet<String> = split_words(&long).into_iter().collect();
    assert_eq!(all.len(), 40_000);
}
