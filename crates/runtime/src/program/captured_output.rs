//! Captures the output of a program up to a limit, and drains the rest.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The beginning of an output stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The captured bytes, up to the limit.
    pub bytes: Vec<u8>,
    /// Whether the stream was longer than the limit.
    pub truncated: bool,
}

impl CapturedOutput {
    /// Returns the captured bytes as text; invalid UTF-8 becomes `U+FFFD`.
    #[must_use]
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Reads until the other side closes. Bytes over the limit are read and dropped, so that a full
    /// pipe does not block the program.
    pub(super) async fn drain(&mut self, stream: Option<impl AsyncRead + Unpin>, limit: usize) {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; 16 * 1024];
        // A broken stream counts as ended; the exit code shows whether the program succeeded.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            let free = limit - self.bytes.len();
            self.bytes.extend_from_slice(&buffer[..count.min(free)]);
            self.truncated |= count > free;
        }
    }
}
