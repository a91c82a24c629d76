//! Selects the quotes of a packet, which is composed and rendered as for a planner.

use countersign_memory::compose::{ComposeError, compose_packet};
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::record::MemoryEvent;
use countersign_memory::render::{RenderError, render_packet};
use countersign_memory::tokens::TokenCounter;
use countersign_memory::{BudgetOverride, Candidates, PacketRequest, RelevanceScore, ScoredRow};
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use countersign_shipped_contracts::memory::short_term::KeyQuote;
use thiserror::Error;

/// The policy and the token counter for composing packets.
pub(crate) struct PacketComposer {
    pub(crate) policy: MemoryPolicy,
    pub(crate) counter: Box<dyn TokenCounter>,
}

/// Why a packet could not be built.
#[derive(Debug, Error)]
pub(crate) enum RecallPacketError {
    /// The packet cannot be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// The packet cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The packet exceeds its budget.
    #[error("a packet of {budget} tokens was rendered as {found}")]
    Over { budget: u64, found: u64 },
}

/// Builds a request that asks a question after the last turn.
pub(crate) fn build_request(
    last: &MemoryEvent,
    question: &str,
    budget: Option<u64>,
) -> PacketRequest {
    PacketRequest {
        scope: last.scope.clone(),
        purpose: PacketPurpose::Planner,
        task_type: None,
        cues: None,
        message: Some(question.to_owned()),
        vector: None,
        budget: budget.map(|max_tokens| BudgetOverride { max_tokens, per_section: None }),
        as_of: last.ts,
    }
}

/// Makes candidates of ranked turns.
pub(crate) fn collect_candidates(
    events: &[MemoryEvent],
    ranked: &[(usize, RelevanceScore)],
) -> Candidates {
    let quotes = ranked
        .iter()
        .map(|(at, score)| ScoredRow { row: events[*at].clone(), score: score.clone() })
        .collect();
    Candidates { quotes, ..Candidates::default() }
}

impl PacketComposer {
    /// Returns the quotes that are in the packet with this budget.
    pub(crate) fn select_quotes(
        &self,
        last: &MemoryEvent,
        found: &Candidates,
        question: &str,
        budget: u64,
    ) -> Result<Vec<KeyQuote>, RecallPacketError> {
        let request = build_request(last, question, Some(budget));
        let packet = compose_packet(&request, &self.policy, found, &*self.counter)?;
        let tokens = self.counter.count(&render_packet(&packet, request.purpose)?);
        if tokens > budget {
            return Err(RecallPacketError::Over { budget, found: tokens });
        }
        Ok(packet.short_term.key_quotes.unwrap_or_default())
    }
}
