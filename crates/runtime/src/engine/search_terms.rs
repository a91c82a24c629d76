//! The words that a run is found by: those of its title, its input and its document, in any script.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_contract::text::split_words;
use countersign_protocol::Protocol;
use countersign_run::RunState;
use countersign_store::{MAX_SEARCH_TERM_BYTES, MAX_SEARCH_TERMS};
use serde_json::Value;

/// Maximum size of the text of a run that is searched, in bytes; the rest is not found.
const MAX_SEARCH_TEXT_BYTES: usize = 64 * 1024;

/// Maximum size of a search query, in bytes; the rest is ignored.
const MAX_QUERY_BYTES: usize = 1_000;

/// Maximum number of words of a search query; the rest is ignored.
const MAX_QUERY_TERMS: usize = 16;

/// Splits a search query into the words that a run must have, each once.
#[must_use]
pub fn split_search_query(query: &str) -> Vec<String> {
    let query = &query[..query.floor_char_boundary(MAX_QUERY_BYTES)];
    let mut terms: Vec<String> = Vec::new();
    for word in split_words(query).into_iter().map(shorten_word) {
        if terms.len() < MAX_QUERY_TERMS && !terms.contains(&word) {
            terms.push(word);
        }
    }
    terms
}

/// Collects the words that a run is found by if they differ from those of the state before.
pub(super) fn collect_changed_terms(
    protocol: &Protocol,
    before: &RunState,
    after: &RunState,
) -> Option<Vec<String>> {
    // Most steps leave the document as it is.
    let same = Arc::ptr_eq(&before.document, &after.document) && before.title == after.title;
    if before.version > 0 && same {
        return None;
    }
    let text = collect_search_text(protocol, after);
    if before.version > 0 && collect_search_text(protocol, before) == text {
        return None;
    }
    Some(split_terms(&text))
}

/// Collects the words that a run is found by, sorted.
pub(crate) fn collect_search_terms(protocol: &Protocol, state: &RunState) -> Vec<String> {
    split_terms(&collect_search_text(protocol, state))
}

fn split_terms(text: &str) -> Vec<String> {
    let mut terms = BTreeSet::new();
    for word in split_words(text) {
        if terms.len() == MAX_SEARCH_TERMS {
            break;
        }
        terms.insert(shorten_word(word));
    }
    terms.into_iter().collect()
}

/// Cuts a word at the length that stores accept; a query is cut in the same way.
fn shorten_word(mut word: String) -> String {
    word.truncate(word.floor_char_boundary(MAX_SEARCH_TERM_BYTES));
    word
}

/// Collects the texts of a run, one per line. Engine-owned fields are left out: they change with
/// every step, and nobody searches for them.
fn collect_search_text(protocol: &Protocol, state: &RunState) -> String {
    let mut text = String::new();
    for part in [&state.run, &state.workflow, &state.title, &state.input_text] {
        push_line(&mut text, part);
    }
    let workflow = protocol.workflows.get(&state.workflow);
    let engine = workflow.map_or(&[][..], |found| &protocol.document_for(found).engine);
    let mut skipped = Vec::with_capacity(engine.len());
    skipped.extend(engine.iter().filter_map(|field| state.document.pointer(&field.pointer)));
    let mut open = vec![&*state.document];
    while let Some(value) = open.pop() {
        if text.len() >= MAX_SEARCH_TEXT_BYTES {
            break;
        }
        if skipped.iter().any(|one| std::ptr::eq(*one, value)) {
            continue;
        }
        match value {
            Value::String(found) => push_line(&mut text, found),
            Value::Number(found) => push_line(&mut text, &found.to_string()),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(members) => {
                let first = open.len();
                open.extend(members.values());
                open[first..].reverse();
            }
            _ => {}
        }
    }
    text
}

fn push_line(text: &mut String, line: &str) {
    let room = MAX_SEARCH_TEXT_BYTES.saturating_sub(text.len());
    text.push_str(&line[..line.floor_char_boundary(room)]);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_script_are_split_alike() {
        let terms = split_terms("Contracts\nЦены договора\n合同价格\n가격");
        for query in ["contract", "цена", "договоры", "价格", "가격", "CONTRACTS цен"]
        {
            let asked = split_search_query(query);
            assert!(asked.iter().all(|term| terms.contains(term)), "{query}: {asked:?} {terms:?}");
        }
        assert!(split_search_query(" \u{0} — ").is_empty());
    }

    #[test]
    fn words_and_queries_are_bounded() {
        let long = "é".repeat(100);
        let terms = split_terms(&long);
        assert!(terms.iter().all(|term| term.len() <= MAX_SEARCH_TERM_BYTES));
        assert_eq!(split_search_query(&long), terms);
        let many: Vec<String> = (0..10_000).map(|number| format!("w{number}x")).collect();
        let many = many.join(" ");
        assert_eq!(split_terms(&many).len(), MAX_SEARCH_TERMS);
        assert_eq!(split_search_query(&many).len(), MAX_QUERY_TERMS);
    }

    #[test]
    fn the_text_of_a_run_is_bounded() {
        let mut text = "x".repeat(MAX_SEARCH_TEXT_BYTES - 3);
        push_line(&mut text, "жжж");
        assert!(text.len() <= MAX_SEARCH_TEXT_BYTES + 1, "{}", text.len());
        assert!(text.ends_with("xж\n"), "the rest is left out");
    }
}
