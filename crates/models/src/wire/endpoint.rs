//! The connection to one address: sends a body, receives the response, and enforces the time
//! limits.

use reqwest::header::HeaderMap;
use reqwest::{Response, Url};
use tokio::time::timeout;

use super::error_response;
use super::http_client::innermost_cause;
use crate::{ModelErrorKind, ModelTimeouts, ResponseDefect, TimeoutStage};

/// Maximum size of a response; more than any reply within the text limit needs.
const MAX_RESPONSE_BYTES: usize = 64 << 20;
/// Maximum size of an error body; an error message needs less.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// URL, headers and time limits for the calls of one model.
pub(crate) struct ProviderEndpoint {
    /// URL that requests are sent to.
    pub(crate) url: Url,
    /// Headers of every request; they contain the key.
    pub(crate) headers: HeaderMap,
    /// Time limits of a call.
    pub(crate) timeouts: ModelTimeouts,
    /// HTTP client that sends the requests.
    pub(crate) client: reqwest::Client,
}

impl ProviderEndpoint {
    /// Sends a body and waits until the response begins. The body of an error response is stored in
    /// `kept`.
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

    /// Reads the body of an error response; what arrived before a failure is still worth reporting.
    pub(super) async fn read_error_body(&self, response: &mut Response, kept: &mut Vec<u8>) {
        while kept.len() < MAX_ERROR_BYTES
            && let Ok(true) = self.read_chunk(response, kept).await
        {}
    }

    /// Waits for more of the response; returns `false` at its end.
    pub(super) async fn read_chunk(
        &self,
        response: &mut Response,
        kept: &mut Vec<u8>,
    ) -> Result<bool, ModelErrorKind> {
        let after = self.timeouts.idle;
        match timeout(after, response.chunk()).await {
            Err(_) => Err(ModelErrorKind::TimedOut { stage: TimeoutStage::NextByte, limit: after }),
            Ok(Err(_)) => {
                Err(ModelErrorKind::InvalidResponse { defect: ResponseDefect::Truncated })
            }
            Ok(Ok(None)) => Ok(false),
            Ok(Ok(Some(bytes))) if kept.len() + bytes.len() > MAX_RESPONSE_BYTES => {
                Err(ModelErrorKind::InvalidResponse {
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
