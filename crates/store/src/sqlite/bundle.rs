//! The events of one commit as one text: a step then writes one row of the log, not one an event.
//!
//! Each event is a line `kind time hash length`, its body of that many bytes, and a line break: a
//! person can read it, and no body can be taken for a line.

use crate::{EventRow, StoreError};

/// Puts the events of a commit together.
pub(super) fn pack(events: &[EventRow]) -> String {
    let size = events.iter().map(|event| event.kind.len() + event.body.len() + 100).sum();
    let mut text = String::with_capacity(size);
    for EventRow { kind, time, hash, body, .. } in events {
        // Spaces end the parts of the line, and a kind or hash may be any text.
        let (kind, hash) = (escape(kind), escape(hash));
        text.push_str(&format!("{kind} {time} {hash} {}\n{body}\n", body.len()));
    }
    text
}

/// Takes them apart again; `first` is the place of the first one in the log.
pub(super) fn unpack(first: u64, version: u64, text: &str) -> Result<Vec<EventRow>, StoreError> {
    let mut events = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let seq = first + events.len() as u64;
        let (event, after) = next(seq, version, rest).ok_or_else(|| StoreError::Corrupt {
            what: format!("the row of events from {first} on cannot be read at event {seq}"),
        })?;
        events.push(event);
        rest = after;
    }
    Ok(events)
}

fn next(seq: u64, version: u64, text: &str) -> Option<(EventRow, &str)> {
    let (line, rest) = text.split_once('\n')?;
    let mut parts = line.split(' ');
    let (kind, time, hash) = (parts.next()?, parts.next()?, parts.next()?);
    let length: usize = parts.next()?.parse().ok()?;
    let body = rest.get(..length)?.to_owned();
    let after = rest.get(length..)?.strip_prefix('\n')?;
    let (kind, hash, time) = (unescape(kind), unescape(hash), time.parse().ok()?);
    Some((EventRow { seq, version, time, kind, hash, body }, after))
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace(' ', "%20").replace('\n', "%0A")
}

fn unescape(text: &str) -> String {
    text.replace("%0A", "\n").replace("%20", " ").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(seq: u64, kind: &str, body: &str) -> EventRow {
        let (kind, hash, body) = (kind.to_owned(), format!("h{seq}"), body.to_owned());
        EventRow { seq, version: 3, time: -7, kind, hash, body }
    }

    #[test]
    fn events_come_apart_as_they_were() {
        let events = [
            event(5, "one", "{\"a\": 1}"),
            event(6, "a %20 b\nc", ""),
            event(7, "", "two\nlines 0 h 3\nх"),
        ];
        assert_eq!(unpack(5, 3, &pack(&events)).unwrap(), events);
        assert!(unpack(5, 3, "").unwrap().is_empty());
    }

    #[test]
    fn a_torn_row_is_told_with_its_place() {
        let whole = pack(&[event(5, "one", "body"), event(6, "two", "боди")]);
        for end in (1..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let torn = unpack(5, 3, &whole[..end]);
            let alone = torn.as_ref().is_ok_and(|events| events.len() == 1);
            assert!(torn.is_err() || alone, "{end}: {torn:?}");
        }
        let told = unpack(5, 3, "x y").unwrap_err().to_string();
        assert_eq!(
            told,
            "the database is damaged: the row of events from 5 on cannot be read at event 5"
        );
    }
}
