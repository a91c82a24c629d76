//! The line to one address: bytes go out, a response comes back, and the clock is watched.

use reqwest::header::HeaderMap;
use reqwest::{Response, Url};
use tokio::time::timeout;

use super::http::innermost;
use super::status;
use crate::{Fault, Flaw, Timeouts, Wait};

/// More than any answer within the limit of text takes.
const MOST_BYTES: usize = 64 << 20;
/// An error says what it has to say in less.
const MOST_ERROR_BYTES: usize = 64 << 10;

/// Where and how something is asked.
pub(crate) struct Line {
    /// Where it is asked.
    pub(crate) url: Url,
    /// What goes beside the body; holds the key.
    pub(crate) headers: HeaderMap,
    /// How long is waited.
    pub(crate) timeouts: Timeouts,
    /// What speaks it.
    pub(crate) http: reqwest::Client,
}

impl Line {
    /// Sends a body, and waits until the response begins. What a failure says goes to `kept`.
    pub(super) async fn send(&self, body: Vec<u8>, kept: &mut Vec<u8>) -> Result<Response, Fault> {
        let request = self.http.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let after = self.timeouts.first_byte;
        let mut response = match timeout(after, request.send()).await {
            Ok(sent) => sent.map_err(|error| self.unsent(&error))?,
            Err(_) => return Err(Fault::TimedOut { wait: Wait::FirstByte, after }),
        };
        if !response.status().is_success() {
            self.error_text(&mut response, kept).await;
            return Err(status::fault(response.status().as_u16(), response.headers(), kept));
        }
        Ok(response)
    }

    /// Reads what an error has to say: what came of it before it broke is still worth telling.
    pub(super) async fn error_text(&self, response: &mut Response, kept: &mut Vec<u8>) {
        while kept.len() < MOST_ERROR_BYTES
            && let Ok(true) = self.more(response, kept).await
        {}
    }

    /// Waits for more of the response; false at its end.
    pub(super) async fn more(
        &self,
        response: &mut Response,
        kept: &mut Vec<u8>,
    ) -> Result<bool, Fault> {
        let after = self.timeouts.idle;
        match timeout(after, response.chunk()).await {
            Err(_) => Err(Fault::TimedOut { wait: Wait::NextByte, after }),
            Ok(Err(_)) => Err(Fault::BadAnswer { flaw: Flaw::CutOff }),
            Ok(Ok(None)) => Ok(false),
            Ok(Ok(Some(bytes))) if kept.len() + bytes.len() > MOST_BYTES => {
                Err(Fault::BadAnswer { flaw: Flaw::TooLarge { limit: MOST_BYTES } })
            }
            Ok(Ok(Some(bytes))) => {
                kept.extend_from_slice(&bytes);
                Ok(true)
            }
        }
    }

    fn unsent(&self, error: &reqwest::Error) -> Fault {
        if error.is_timeout() {
            return Fault::TimedOut { wait: Wait::Connect, after: self.timeouts.connect };
        }
        Fault::Unreachable { why: innermost(error) }
    }
}
