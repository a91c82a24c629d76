//! Postings of a term and their encoding in blocks.
//!
//! A list is stored as blocks of at most [`BLOCK_CAPACITY`] postings, ascending by location.
//! Sessions are written concurrently, so new postings may arrive out of order; [`sort_postings`]
//! sorts them.

use crate::record::EventLocation;

/// The maximum number of postings in a block.
pub const BLOCK_CAPACITY: usize = 128;

/// An entry of a term's posting list, with what ranking needs to know of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posting {
    /// The location of the event.
    pub location: EventLocation,
    /// The term frequency: how often the event contains the term.
    pub tf: u16,
    /// The number of terms in the event.
    pub length: u16,
    /// Whether the event is more than a turn of a conversation; then it does not score for its
    /// neighbours.
    pub prose: bool,
    /// Whether an assistant or a tool wrote this prose, and not the person.
    pub assistant: bool,
}

/// Error for bytes that are not a valid block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PostingBlockError {
    /// The bytes end within the posting with this index.
    #[error("the block ends inside posting {0}")]
    Ends(usize),
    /// A number of the posting with this index is out of range.
    #[error("posting {0} of the block has a number out of range")]
    Range(usize),
    /// The posting with this index is not in ascending order.
    #[error("posting {0} of the block does not come after the one before it")]
    Order(usize),
}

/// Encodes postings. They are sorted first; of two for one location the later one is kept.
#[must_use]
pub fn encode_block(postings: &[Posting]) -> Vec<u8> {
    let mut sorted = postings.to_vec();
    sort_postings(&mut sorted);
    let mut bytes = Vec::with_capacity(sorted.len() * 4);
    let mut before = EventLocation { session: 0, position: 0 };
    for Posting { location: place, tf, length, prose, assistant } in sorted {
        let sessions = place.session - before.session;
        let from = if sessions == 0 { before.position } else { 0 };
        write_varint(&mut bytes, u64::from(sessions));
        write_varint(&mut bytes, u64::from(place.position - from));
        let kind = u64::from(assistant) << 1 | u64::from(prose);
        write_varint(&mut bytes, u64::from(tf) << 2 | kind);
        write_varint(&mut bytes, u64::from(length));
        before = place;
    }
    bytes
}

/// Decodes a block and appends its postings to `postings`.
pub fn decode_block(bytes: &[u8], postings: &mut Vec<Posting>) -> Result<(), PostingBlockError> {
    // A posting has at least four bytes.
    postings.reserve(bytes.len() / 4);
    let mut rest = bytes;
    let mut before: Option<EventLocation> = None;
    for number in 0.. {
        if rest.is_empty() {
            break;
        }
        let last = before.unwrap_or(EventLocation { session: 0, position: 0 });
        let ends = PostingBlockError::Ends(number);
        let range = PostingBlockError::Range(number);
        let mut next = || read_varint(&mut rest).ok_or(ends);
        let (sessions, positions, tf_kind, length) = (next()?, next()?, next()?, next()?);
        let from = if sessions == 0 { last.position } else { 0 };
        let place = EventLocation {
            session: u32::try_from(u64::from(last.session) + sessions).map_err(|_| range)?,
            position: u32::try_from(u64::from(from).saturating_add(positions))
                .map_err(|_| range)?,
        };
        if before.is_some_and(|before| place <= before) {
            return Err(PostingBlockError::Order(number));
        }
        postings.push(Posting {
            location: place,
            tf: u16::try_from(tf_kind >> 2).map_err(|_| range)?,
            length: u16::try_from(length).map_err(|_| range)?,
            prose: tf_kind & 1 == 1,
            assistant: tf_kind & 2 == 2,
        });
        before = Some(place);
    }
    Ok(())
}

/// Sorts postings by location; of two for one location the later one is kept.
pub fn sort_postings(postings: &mut Vec<Posting>) {
    if postings.windows(2).all(|pair| pair[0].location < pair[1].location) {
        return;
    }
    postings.reverse();
    postings.sort_by_key(|posting| posting.location);
    postings.dedup_by_key(|posting| posting.location);
}

/// Writes seven bits per byte, lowest first; the high bit says that more bytes follow.
fn write_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Returns `None` if the bytes end, or if the number has more than 35 bits, which no valid number
/// has.
#[inline]
fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let (&first, behind) = rest.split_first()?;
    if first < 0x80 {
        *rest = behind;
        return Some(u64::from(first));
    }
    read_long_varint(rest)
}

/// Reads a number of more than one byte; most numbers of a posting have one.
fn read_long_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let (first, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posting(session: u32, position: u32, tf: u16, length: u16, prose: bool) -> Posting {
        let location = EventLocation { session, position };
        Posting { location, tf, length, prose, assistant: prose && tf > 1 }
    }

    fn read(bytes: &[u8]) -> Result<Vec<Posting>, PostingBlockError> {
        let mut postings = Vec::new();
        decode_block(bytes, &mut postings).map(|()| postings)
    }

    #[test]
    fn a_block_is_read_as_it_was_written() {
        let postings = [
            posting(1, 1, 1, 12, false),
            posting(1, 2, 3, 200, true),
            posting(1, 400, 1, 1, false),
            posting(7, 3, u16::MAX, u16::MAX, true),
            posting(u32::MAX, u32::MAX, 1, 0, false),
        ];
        let bytes = encode_block(&postings);
        assert_eq!(read(&bytes).unwrap(), postings);
        assert!(encode_block(&postings[..2]).len() <= 9, "small numbers take a byte");
        let mut backwards = postings;
        backwards.reverse();
        assert_eq!(encode_block(&backwards), bytes, "the order of writing does not show");
        assert_eq!(read(&[]).unwrap(), []);
    }

    #[test]
    fn of_two_for_one_place_the_later_stays() {
        let twice =
            [posting(1, 1, 1, 5, false), posting(1, 2, 1, 5, false), posting(1, 1, 2, 6, true)];
        let expected = [posting(1, 1, 2, 6, true), posting(1, 2, 1, 5, false)];
        assert_eq!(read(&encode_block(&twice)).unwrap(), expected);
    }

    #[test]
    fn other_bytes_are_refused() {
        let bytes = encode_block(&[posting(1, 1, 1, 300, false), posting(2, 1, 1, 300, false)]);
        for end in 1..bytes.len() {
            let whole = end == bytes.len() / 2;
            assert_eq!(read(&bytes[..end]).is_ok(), whole, "{end}");
        }
        assert_eq!(read(&[1, 1, 2, 5, 0, 0, 2, 5]), Err(PostingBlockError::Order(1)));
        assert_eq!(read(&[1, 1, 0xfe, 0xff, 0x7f, 5]), Err(PostingBlockError::Range(0)));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 1]), Err(PostingBlockError::Ends(0)));
    }
}
