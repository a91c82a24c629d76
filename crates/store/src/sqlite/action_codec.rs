//! Encodes the pending actions of a run as one text, so that a step writes no row other than the
//! run's own.
//!
//! Each action is a line `id kind length`, its body of that many bytes, and a line break. The text
//! is readable, and no body can be mistaken for a header line.

use std::borrow::Cow;

use crate::{ActionRow, StoreError};

/// Encodes actions as one text.
pub(super) fn encode_actions<'a>(actions: impl Iterator<Item = &'a ActionRow>) -> String {
    let mut text = String::new();
    for ActionRow { id, kind, body } in actions {
        // Spaces separate the fields, so spaces in an id or a kind are escaped.
        let (id, kind) = (escape(id), escape(kind));
        text.push_str(&format!("{id} {kind} {}\n{body}\n", body.len()));
    }
    text
}

/// Decodes the text of [`encode_actions`].
pub(super) fn decode_actions(text: &str) -> Result<Vec<ActionRow>, StoreError> {
    let mut actions = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let number = actions.len() + 1;
        let (action, after) = decode_next_action(rest).ok_or_else(|| StoreError::Corrupt {
            reason: format!("the actions of a run cannot be read at action {number}"),
        })?;
        actions.push(action);
        rest = after;
    }
    Ok(actions)
}

fn decode_next_action(text: &str) -> Option<(ActionRow, &str)> {
    let (line, rest) = text.split_once('\n')?;
    let mut parts = line.split(' ');
    let (id, kind) = (unescape(parts.next()?), unescape(parts.next()?));
    let length: usize = parts.next()?.parse().ok()?;
    let body = rest.get(..length)?.to_owned();
    let after = rest.get(length..)?.strip_prefix('\n')?;
    Some((ActionRow { id, kind, body }, after))
}

fn escape(text: &str) -> Cow<'_, str> {
    if text.contains(['%', ' ', '\n']) {
        text.replace('%', "%25").replace(' ', "%20").replace('\n', "%0A").into()
    } else {
        text.into()
    }
}

fn unescape(text: &str) -> String {
    text.replace("%0A", "\n").replace("%20", " ").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(id: &str, kind: &str, body: &str) -> ActionRow {
        ActionRow { id: id.to_owned(), kind: kind.to_owned(), body: body.to_owned() }
    }

    #[test]
    fn actions_come_apart_as_they_were() {
        let actions = [
            action("1.1", "one", "{\"a\": 1}"),
            action("a %20 b\nc", " ", ""),
            action("", "", "two\nlines 0 h 3\nх"),
        ];
        assert_eq!(decode_actions(&encode_actions(actions.iter())).unwrap(), actions);
        assert!(decode_actions("").unwrap().is_empty());
    }

    #[test]
    fn a_torn_text_is_told_with_its_place() {
        let whole = encode_actions([action("1", "one", "body"), action("2", "two", "боди")].iter());
        for end in (1..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let torn = decode_actions(&whole[..end]);
            let alone = torn.as_ref().is_ok_and(|actions| actions.len() == 1);
            assert!(torn.is_err() || alone, "{end}: {torn:?}");
        }
        let told = decode_actions("x y").unwrap_err().to_string();
        assert_eq!(
            told,
            "the database is damaged: the actions of a run cannot be read at action 1"
        );
    }
}
