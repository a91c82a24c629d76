//! Which turns come into a packet: composed and rendered as for a model that answers.

use std::collections::BTreeSet;

use countersign_contracts::memory::meta::Purpose;
use countersign_memory::compose::{ComposeError, compose};
use countersign_memory::policy::Policy;
use countersign_memory::record::Event;
use countersign_memory::render::{RenderError, render};
use countersign_memory::tokens::TokenCounter;
use countersign_memory::{Asked, Found, Request, Score, Scored};
use thiserror::Error;

/// How packets are made.
pub(crate) struct Packets {
    pub(crate) policy: Policy,
    pub(crate) counter: Box<dyn TokenCounter>,
}

/// Why there is no packet.
#[derive(Debug, Error)]
pub(crate) enum PacketError {
    /// It cannot be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// It cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// It is longer than it may be.
    #[error("a packet of {budget} tokens was rendered as {found}")]
    Over { budget: u64, found: u64 },
}

/// A question after the last turn.
pub(crate) fn request(last: &Event, question: &str, budget: Option<u64>) -> Request {
    Request {
        scope: last.scope.clone(),
        purpose: Purpose::Planner,
        task_type: None,
        cues: None,
        message: Some(question.to_owned()),
        vector: None,
        budget: budget.map(|max_tokens| Asked { max_tokens, per_section: None }),
        as_of: last.ts,
    }
}

impl Packets {
    /// The ids of the turns that are in the packet of this budget.
    pub(crate) fn inside(
        &self,
        events: &[Event],
        ranked: &[(usize, Score)],
        question: &str,
        budget: u64,
    ) -> Result<BTreeSet<String>, PacketError> {
        let Some(last) = events.last() else { return Ok(BTreeSet::new()) };
        let quotes = ranked
            .iter()
            .map(|(at, score)| Scored { row: events[*at].clone(), score: score.clone() })
            .collect();
        let found = Found { quotes, ..Found::default() };
        let request = request(last, question, Some(budget));
        let packet = compose(&request, &self.policy, &found, &*self.counter)?;
        let tokens = self.counter.count(&render(&packet, request.purpose)?);
        if tokens > budget {
            return Err(PacketError::Over { budget, found: tokens });
        }
        let quotes = packet.short_term.key_quotes.unwrap_or_default();
        Ok(quotes.into_iter().map(|quote| quote.evidence_id).collect())
    }
}
