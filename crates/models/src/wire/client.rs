//! One call over HTTP: sends the bytes, listens, and keeps what came.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::timeout;

use super::frames::Frames;
use super::{Dialect, Heard, Line, Secrets};
use crate::{Answer, Ask, BoxFuture, Exchange, Fault, Flaw, Model, ModelError, SchemaUse, Wait};

/// A model behind an address.
pub(crate) struct Client {
    /// What the user typed.
    pub(crate) spoken: String,
    /// The model's name, as it is sent.
    pub(crate) model: String,
    /// The way there.
    pub(crate) line: Line,
    /// Whether the contract is told.
    pub(crate) schema: SchemaUse,
    /// What must not be kept.
    pub(crate) secrets: Secrets,
    /// What is spoken.
    pub(crate) dialect: Box<dyn Dialect>,
}

impl Model for Client {
    fn name(&self) -> &str {
        &self.spoken
    }

    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        live: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(self.ask(ask, live))
    }
}

impl Client {
    async fn ask(
        &self,
        ask: &Ask,
        live: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Answer, ModelError> {
        let prepared = match self.schema {
            SchemaUse::Send => self.dialect.prepare(&self.model, ask),
            SchemaUse::Hold => self
                .dialect
                .prepare(&self.model, &Ask { contract: None, object: false, ..ask.clone() }),
        };
        let (mut heard, mut response) = (Heard::new(live), Vec::new());
        let call = self.call(prepared.body.clone(), &mut response, &mut heard);
        let outcome = match timeout(self.line.timeouts.total, call).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Fault::TimedOut { wait: Wait::Total, after: self.line.timeouts.total }),
        };
        let exchange = Exchange {
            request: self.secrets.blot_bytes(prepared.body),
            response: self.secrets.blot_bytes(response),
        };
        let ended =
            outcome.and_then(|()| heard.end.take().ok_or(Fault::BadAnswer { flaw: Flaw::CutOff }));
        match ended {
            Ok((finish, reason)) => Ok(Answer {
                text: self.secrets.blot(&heard.text).into_owned(),
                finish,
                reason: self.secrets.message(&reason),
                usage: heard.usage,
                model: heard
                    .model
                    .map_or_else(|| self.model.clone(), |name| self.secrets.message(&name)),
                exchange,
                sent: prepared.sent,
                drop_nulls: prepared.drop_nulls,
            }),
            Err(fault) => Err(ModelError {
                model: self.spoken.clone(),
                fault: fault.cleaned(&|text| self.secrets.message(text)),
                exchange: Some(Box::new(exchange)),
            }),
        }
    }

    async fn call(
        &self,
        body: Vec<u8>,
        kept: &mut Vec<u8>,
        heard: &mut Heard<'_>,
    ) -> Result<(), Fault> {
        let mut response = self.line.send(body, kept).await?;
        let framing = self.dialect.framing();
        if let Some(found) = foreign(&response, framing.media_types()) {
            self.line.error_text(&mut response, kept).await;
            let expected = framing.media_types()[0];
            return Err(Fault::BadAnswer { flaw: Flaw::Foreign { expected, found } });
        }
        let mut frames = Frames::new(framing);
        let mut seen = 0;
        while !heard.is_over && self.line.more(&mut response, kept).await? {
            let pieces = frames.push(&kept[seen..]).map_err(|flaw| Fault::BadAnswer { flaw })?;
            seen = kept.len();
            for piece in pieces {
                if !heard.is_over {
                    self.dialect.hear(&piece, heard)?;
                }
            }
        }
        let cut_off = Fault::BadAnswer { flaw: Flaw::CutOff };
        if !heard.is_over
            && let Ok(Some(piece)) = frames.rest()
        {
            // What was not ended may be cut through; then the cut is the fault.
            self.dialect.hear(&piece, heard).map_err(|fault| match fault {
                Fault::BadAnswer { flaw: Flaw::Foreign { .. } } => cut_off.clone(),
                other => other,
            })?;
        }
        if !heard.is_over && !self.dialect.ends_without_mark() {
            return Err(cut_off);
        }
        Ok(())
    }
}

/// The media type of a response, where it is told and none of those expected.
fn foreign(response: &Response, expected: &[&str]) -> Option<String> {
    let told = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = told.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (!expected.contains(&essence.as_str())).then_some(essence)
}
