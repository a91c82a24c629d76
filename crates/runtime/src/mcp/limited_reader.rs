//! Reads a server's standard output until it exceeds a limit.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::read_limit::ReadLimit;

/// A stream of lines that ends when its limit is exceeded.
#[derive(Debug)]
pub(super) struct LimitedReader<R> {
    inner: R,
    limit: Arc<ReadLimit>,
}

impl<R> LimitedReader<R> {
    /// Reads a stream within a limit.
    pub(super) fn new(inner: R, limit: Arc<ReadLimit>) -> Self {
        Self { inner, limit }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LimitedReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.limit.describe_excess().is_some() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        if !self.limit.count(&buffer.filled()[before..], true) {
            // Nothing read means the end of the stream.
            buffer.set_filled(before);
        }
        Poll::Ready(Ok(()))
    }
}
