//! What a program writes, kept up to a limit and read to the end.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The beginning of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// What was kept.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub truncated: bool,
}

impl CapturedOutput {
    /// As text; what is not UTF-8 becomes `U+FFFD`.
    #[must_use]
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Reads until the other side closes. What is over the limit is read and dropped, so that the
    /// program is not stopped by a full pipe.
    pub(super) async fn drain(&mut self, stream: Option<impl AsyncRead + Unpin>, limit: usize) {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; 16 * 1024];
        // A stream that breaks has ended; the exit code tells whether all went well.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            let free = limit - self.bytes.len();
            self.bytes.extend_from_slice(&buffer[..count.min(free)]);
            self.truncated |= count > free;
        }
    }
}
