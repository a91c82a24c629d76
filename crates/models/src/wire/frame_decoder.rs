//! Divides a byte stream into chunks: server-sent events, or one JSON value per line.
//!
//! Accepts the bytes in portions of any size, also if a portion splits a character. It does not
//! interpret the chunks.

use crate::ResponseDefect;

/// How a response stream is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamFraming {
    /// Server-sent events; a chunk is the data of one event.
    ServerSentEvents,
    /// One chunk per line.
    NdJson,
}

impl StreamFraming {
    /// Media types that a response with this framing may have; the first is the usual one.
    pub(crate) fn media_types(self) -> &'static [&'static str] {
        match self {
            Self::ServerSentEvents => &["text/event-stream"],
            Self::NdJson => &["application/x-ndjson", "application/json"],
        }
    }
}

/// Decodes frames as bytes arrive.
pub(crate) struct FrameDecoder {
    framing: StreamFraming,
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// Whether the last byte was a carriage return: a line feed after it does not end a second
    /// line.
    after_return: bool,
    is_first_line: bool,
}

impl FrameDecoder {
    /// Creates a decoder at the beginning of a stream.
    pub(crate) fn new(framing: StreamFraming) -> Self {
        Self { framing, line: Vec::new(), data: None, after_return: false, is_first_line: true }
    }

    /// Adds bytes and returns the chunks that are now complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, ResponseDefect> {
        let mut pieces = Vec::new();
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => pieces.extend(self.end_of_line()?),
                byte => self.line.push(*byte),
            }
        }
        Ok(pieces)
    }

    /// Ends the stream and returns a chunk that was started and not terminated.
    pub(crate) fn finish(mut self) -> Result<Option<String>, ResponseDefect> {
        let last = if self.line.is_empty() { None } else { self.end_of_line()? };
        match (last, self.data.take()) {
            (Some(piece), _) => Ok(Some(piece)),
            (None, Some(data)) => decode_utf8(data).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn end_of_line(&mut self) -> Result<Option<String>, ResponseDefect> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::replace(&mut self.is_first_line, false) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if self.framing == StreamFraming::NdJson {
            return if line.trim_ascii().is_empty() {
                Ok(None)
            } else {
                decode_utf8(line).map(Some)
            };
        }
        if line.is_empty() {
            return self.data.take().map(decode_utf8).transpose();
        }
        // Comments begin with a colon; `event`, `id` and `retry` add nothing to the data.
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &b""[..]),
        };
        if field == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        Ok(None)
    }
}

fn decode_utf8(bytes: Vec<u8>) -> Result<String, ResponseDefect> {
    String::from_utf8(bytes).map_err(|_| ResponseDefect::UnexpectedFormat {
        expected: "UTF-8 text",
        found: "other bytes".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(framing: StreamFraming, portions: &[&[u8]]) -> Vec<String> {
        let mut frames = FrameDecoder::new(framing);
        let mut pieces = Vec::new();
        for portion in portions {
            pieces.extend(frames.push(portion).unwrap());
        }
        pieces.extend(frames.finish().unwrap());
        pieces
    }

    #[track_caller]
    fn check(framing: StreamFraming, bytes: &[u8], pieces: &[&str]) {
        assert_eq!(cut(framing, &[bytes]), pieces, "whole");
        for at in 0..=bytes.len() {
            assert_eq!(cut(framing, &[&bytes[..at], &bytes[at..]]), pieces, "split at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(cut(framing, &single), pieces, "byte by byte");
    }

    #[test]
    fn events_are_cut_wherever_the_bytes_are_split() {
        let text = "\u{feff}: hello\r\ndata: {\"a\":\"д🙂\"}\r\n\r\nevent: x\nid: 1\nretry: 5\ndata:one\ndata:  two\n\n\n:\n\ndata\rdata:\r\rignored: y\n\ndata: [DONE]\n\n";
        check(
            StreamFraming::ServerSentEvents,
            text.as_bytes(),
            &["{\"a\":\"д🙂\"}", "one\n two", "\n", "[DONE]"],
        );
    }

    #[test]
    fn every_kind_of_line_end_ends_one_line() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "data: a\ndata: b\n\ndata: c\n\n".replace('\n', end);
            check(StreamFraming::ServerSentEvents, text.as_bytes(), &["a\nb", "c"]);
        }
    }

    #[test]
    fn lines_are_cut_wherever_the_bytes_are_split() {
        check(
            StreamFraming::NdJson,
            "{\"a\":\"д\"}\r\n\n  \n{}\n".as_bytes(),
            &["{\"a\":\"д\"}", "{}"],
        );
        check(StreamFraming::NdJson, b"{}\n{\"a\":1}", &["{}", "{\"a\":1}"]);
    }

    #[test]
    fn what_was_begun_at_the_end_is_given_too() {
        check(StreamFraming::ServerSentEvents, b"data: a\n\ndata: b\n", &["a", "b"]);
        check(StreamFraming::ServerSentEvents, b"data: a\n\ndata: b", &["a", "b"]);
        check(StreamFraming::ServerSentEvents, b"data: a\n\n: only a comment", &["a"]);
        check(StreamFraming::ServerSentEvents, b"", &[]);
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert!(
            FrameDecoder::new(StreamFraming::ServerSentEvents).push(b"data: \xFF\n\n").is_err()
        );
        assert!(FrameDecoder::new(StreamFraming::NdJson).push(b"\xC3\n").is_err());
    }
}
