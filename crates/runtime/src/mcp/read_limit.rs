//! Counts what an MCP server sends.

use std::sync::Mutex;
use std::sync::PoisonError;

use countersign_contract::limits::{MAX_MCP_MESSAGE_BYTES, MAX_MCP_RESPONSE_BYTES};

/// Counts the bytes of one connection: those of the current message, and those since the current
/// request began. Once a limit is exceeded, nothing more is read.
#[derive(Debug, Default)]
pub(super) struct ReadLimit {
    counts: Mutex<ReadCounts>,
}

#[derive(Debug, Default)]
struct ReadCounts {
    message: usize,
    request: usize,
    exceeded: Option<String>,
}

impl ReadLimit {
    /// Starts counting for another request.
    pub(super) fn begin_request(&self) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).request = 0;
    }

    /// Counts received bytes. Returns whether they are within the limits. A line break ends a
    /// message if the transport has one message per line.
    pub(super) fn count(&self, bytes: &[u8], is_lines: bool) -> bool {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.request = counts.request.saturating_add(bytes.len());
        let mut longest = 0;
        if is_lines {
            for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
                counts.message = if index == 0 { counts.message + line.len() } else { line.len() };
                longest = longest.max(counts.message);
            }
        }
        if counts.exceeded.is_none() {
            counts.exceeded = if longest > MAX_MCP_MESSAGE_BYTES {
                Some(format!("it sent a message of more than {MAX_MCP_MESSAGE_BYTES} bytes"))
            } else if counts.request > MAX_MCP_RESPONSE_BYTES {
                Some(format!("it sent more than {MAX_MCP_RESPONSE_BYTES} bytes during one request"))
            } else {
                None
            };
        }
        counts.exceeded.is_none()
    }

    /// Returns which limit was exceeded, in a sentence.
    pub(super) fn describe_excess(&self) -> Option<String> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).exceeded.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_with_its_line_and_a_request_when_the_next_begins() {
        let limit = ReadLimit::default();
        let most = vec![b'x'; MAX_MCP_MESSAGE_BYTES];
        for _ in 0..3 {
            assert!(limit.count(&most, true));
            assert!(limit.count(b"\n", true));
        }
        limit.begin_request();
        assert!(limit.count(&most, true));
        assert!(!limit.count(b"x", true));
        assert!(limit.describe_excess().unwrap().contains("a message of more than 4194304 bytes"));
    }

    #[test]
    fn many_short_messages_are_too_many_as_well() {
        let limit = ReadLimit::default();
        let line = [b'x'; 1_023].iter().chain(b"\n").copied().collect::<Vec<_>>();
        let counted = (0..20_000).take_while(|_| limit.count(&line, true)).count();
        assert_eq!(counted, MAX_MCP_RESPONSE_BYTES / 1_024);
        assert!(limit.describe_excess().unwrap().contains("during one request"));
    }
}
