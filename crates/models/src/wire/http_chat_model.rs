//! One model call over HTTP: sends the request, reads the stream, and keeps all bytes.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::timeout;

use super::frame_decoder::FrameDecoder;
use super::{ProviderDialect, ProviderEndpoint, ResponseAccumulator, SecretRedactor};
use crate::{
    ChatModel, ModelError, ModelErrorKind, ModelExchange, ModelFuture, ModelRequest, ModelResponse,
    ResponseDefect, SchemaDelivery, TimeoutStage,
};

/// A chat model behind an HTTP endpoint.
pub(crate) struct HttpChatModel {
    /// Model specification that the user wrote.
    pub(crate) spec: String,
    /// Name of the model, as it is sent.
    pub(crate) model: String,
    /// Endpoint that receives the requests.
    pub(crate) endpoint: ProviderEndpoint,
    /// Whether the contract's schema is sent.
    pub(crate) schema_delivery: SchemaDelivery,
    /// Removes secrets from everything that is kept.
    pub(crate) redactor: SecretRedactor,
    /// Wire format of the provider.
    pub(crate) dialect: Box<dyn ProviderDialect>,
}

impl ChatModel for HttpChatModel {
    fn name(&self) -> &str {
        &self.spec
    }

    fn complete<'a>(
        &'a self,
        ask: &'a ModelRequest,
        live: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(self.send_request(ask, live))
    }
}

impl HttpChatModel {
    async fn send_request(
        &self,
        ask: &ModelRequest,
        live: &mut (dyn FnMut(&str) + Send),
    ) -> Result<ModelResponse, ModelError> {
        let prepared = match self.schema_delivery {
            SchemaDelivery::Send => self.dialect.build_request(&self.model, ask),
            SchemaDelivery::Omit => self.dialect.build_request(
                &self.model,
                &ModelRequest { contract: None, expects_object: false, ..ask.clone() },
            ),
        };
        let (mut heard, mut response) = (ResponseAccumulator::new(live), Vec::new());
        let call = self.stream_response(prepared.body.clone(), &mut response, &mut heard);
        let outcome = match timeout(self.endpoint.timeouts.total, call).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ModelErrorKind::TimedOut {
                stage: TimeoutStage::Total,
                limit: self.endpoint.timeouts.total,
            }),
        };
        let exchange = ModelExchange {
            request: self.redactor.redact_bytes(prepared.body),
            response: self.redactor.redact_bytes(response),
        };
        let ended = outcome.and_then(|()| {
            heard
                .finish
                .take()
                .ok_or(ModelErrorKind::InvalidResponse { defect: ResponseDefect::Truncated })
        });
        match ended {
            Ok((finish, reason)) => Ok(ModelResponse {
                text: self.redactor.redact(&heard.text).into_owned(),
                finish,
                finish_reason: self.redactor.sanitize_message(&reason),
                usage: heard.usage,
                model: heard.model.map_or_else(
                    || self.model.clone(),
                    |name| self.redactor.sanitize_message(&name),
                ),
                exchange,
                constraint: prepared.constraint,
                drop_nulls: prepared.drop_nulls,
            }),
            Err(fault) => Err(ModelError {
                model: self.spec.clone(),
                kind: fault.map_texts(&|text| self.redactor.sanitize_message(text)),
                exchange: Some(Box::new(exchange)),
            }),
        }
    }

    async fn stream_response(
        &self,
        body: Vec<u8>,
        kept: &mut Vec<u8>,
        heard: &mut ResponseAccumulator<'_>,
    ) -> Result<(), ModelErrorKind> {
        let mut response = self.endpoint.send(body, kept).await?;
        let framing = self.dialect.framing();
        if let Some(found) = unexpected_media_type(&response, framing.media_types()) {
            self.endpoint.read_error_body(&mut response, kept).await;
            let expected = framing.media_types()[0];
            return Err(ModelErrorKind::InvalidResponse {
                defect: ResponseDefect::UnexpectedFormat { expected, found },
            });
        }
        let mut frames = FrameDecoder::new(framing);
        let mut seen = 0;
        while !heard.is_complete && self.endpoint.read_chunk(&mut response, kept).await? {
            let pieces = frames
                .push(&kept[seen..])
                .map_err(|flaw| ModelErrorKind::InvalidResponse { defect: flaw })?;
            seen = kept.len();
            for piece in pieces {
                if !heard.is_complete {
                    self.dialect.apply_chunk(&piece, heard)?;
                }
            }
        }
        let cut_off = ModelErrorKind::InvalidResponse { defect: ResponseDefect::Truncated };
        if !heard.is_complete
            && let Ok(Some(piece)) = frames.finish()
        {
            // An unterminated chunk may be cut in the middle; then the truncation is the error.
            self.dialect.apply_chunk(&piece, heard).map_err(|fault| match fault {
                ModelErrorKind::InvalidResponse {
                    defect: ResponseDefect::UnexpectedFormat { .. },
                } => cut_off.clone(),
                other => other,
            })?;
        }
        if !heard.is_complete && !self.dialect.ends_without_marker() {
            return Err(cut_off);
        }
        Ok(())
    }
}

/// Returns the media type of a response if it is set and not expected.
fn unexpected_media_type(response: &Response, expected: &[&str]) -> Option<String> {
    let media_type = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (!expected.contains(&essence.as_str())).then_some(essence)
}
