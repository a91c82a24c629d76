//! Word classes and their members, so that a query for `pets` finds the dog.
//!
//! Only queries are expanded, and only short ones; the index does not contain word classes. The
//! list covers everyday things, one class per line, in `kinds.txt`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::extract_terms;

struct WordClass {
    /// The names of the class, each as its terms.
    names: Vec<Vec<String>>,
    members: BTreeSet<String>,
}

static WORD_CLASSES: LazyLock<Vec<WordClass>> = LazyLock::new(|| {
    let lines = include_str!("kinds.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('|'))
        .map(|(names, members)| WordClass {
            names: names.split_whitespace().map(extract_terms).collect(),
            members: extract_terms(members).into_iter().collect(),
        })
        .collect()
});

/// Returns the members of the classes that these terms name, without the terms themselves.
pub(super) fn expand_query_terms(terms: &BTreeSet<String>) -> BTreeSet<String> {
    let is_named = |kind: &&WordClass| {
        kind.names.iter().any(|name| name.iter().all(|word| terms.contains(word)))
    };
    let members = WORD_CLASSES.iter().filter(is_named).flat_map(|kind| &kind.members);
    members.filter(|member| !terms.contains(*member)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_members_in_every_language() {
        for (question, member) in [
            ("What pets does Nate have?", "turtl"),
            ("Какие у Пети питомцы?", "кошк"),
            ("他有什么宠物？", "小狗"),
            ("반려동물이 뭐야?", "고양"),
        ] {
            let terms: BTreeSet<String> = extract_terms(question).into_iter().collect();
            assert!(expand_query_terms(&terms).contains(member), "{question}");
        }
        let terms = extract_terms("turtles").into_iter().collect();
        assert!(expand_query_terms(&terms).is_empty(), "a member does not stand for its kind");
    }

    #[test]
    fn every_line_is_a_kind() {
        for kind in WORD_CLASSES.iter() {
            assert!(!kind.names.is_empty() && kind.members.len() >= 3);
            assert!(kind.names.iter().all(|name| !name.is_empty()));
        }
        assert!(WORD_CLASSES.len() >= 50);
    }
}
