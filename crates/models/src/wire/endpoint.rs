//! The line to one address: bytes go out, a response comes back, and the clock is watched.

use reqwest::header::HeaderMap;
use reqwest::{Response, Url};
use tokio::time::timeout;

use super::error_response;
use super::http_client::innermost_cause;
use crate::{ModelErrorKind, ModelTimeouts, ResponseDefect, TimeoutStage};

/// More than any answer within the limit of text takes.
const MAX_RESPONSE_BYTES: usize = 64 << 20;
/// An error says what it has to say in less.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// Where and how something is asked.
pub(crate) struct ProviderEndpoint {
    /// Where it is asked.
    pub(crate) url: Url,
    /// What goes beside the body; holds the key.
    pub(crate) headers: HeaderMap,
    /// How long is waited.
    pub(crate) timeouts: ModelTimeouts,
    /// What speaks it.
    pub(crate) client: reqwest::Client,
}

impl ProviderEndpoint {
    /// Sends a body, and waits until the response begins. What a failure says goes to `kept`.
    pub(super) async fn send(
        &self,
        body: Vec<u8>,
        kept: &mut Vec<u8>,
    ) -> Result<Response, ModelErrorKind> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let after = self.timeouts.first_byte;
        let mut response = match timeout(after, request.send()).await {
            Ok(sent) => sent.map_err(|error| self.send_error(&error))?,
            Err(_) => {
                return Err(ModelErrorKind::TimedOut {
                    stage: TimeoutStage::FirstByte,
                    limit: after,
                });
            }
        };
        if !response.status().is_success() {
            self.read_error_body(&mut response, kept).await;
            return Err(error_response::parse_error_response(
                response.status().as_u16(),
                response.headers(),
                kept,
            ));
        }
        Ok(response)
    }

    /// Reads what an error has to say: what came of it before it broke is still worth telling.
    pub(super) async fn read_error_body(&self, response: &mut Response, kept: &mut Vec<u8>) {
        while kept.len() < MAX_ERROR_BYTES
            && let Ok(true) = self.read_chunk(response, kept).await
        {}
    }

    /// Waits for more of the response; false at its end.
    pub(super) async fn read_chunk(
        &self,
        response: &mut Response,
        kept: &mut Vec<u8>,
    ) -> Result<bool, ModelErrorKind> {
        let after = self.timeouts.idle;
        match timeout(after, response.chunk()).await {
            Err(_) => Err(ModelErrorKind::TimedOut { stage: TimeoutStage::NextByte, limit: after }),
            Ok(Err(_)) => Err(ModelErrorKind::BadAnswer { defect: ResponseDefect::Truncated }),
            Ok(Ok(None)) => Ok(false),
            Ok(Ok(Some(bytes))) if kept.len() + bytes.len() > MAX_RESPONSE_BYTES => {
                Err(ModelErrorKind::BadAnswer {
                    defect: ResponseDefect::TooLarge { limit: MAX_RESPONSE_BYTES },
                })
            }
            Ok(Ok(Some(bytes))) => {
                kept.extend_from_slice(&bytes);
                Ok(true)
            }
        }
    }

    fn send_error(&self, error: &reqwest::Error) -> ModelErrorKind {
        if error.is_timeout() {
            return ModelErrorKind::TimedOut {
                stage: TimeoutStage::Connect,
                limit: self.timeouts.connect,
            };
        }
        ModelErrorKind::Unreachable { reason: innermost_cause(error) }
    }
}
