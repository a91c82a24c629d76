//! Creates the build of a packet and composes the packet again from it.

use std::collections::BTreeSet;

use countersign_contract::json::digest_json;
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::long_term::ScopeLevel;

use super::{BuildRow, BuildRowKind, PacketBuild};
use crate::compose::{ComposeError, compose_packet};
use crate::policy::MemoryPolicy;
use crate::tokens::{UnknownTokenizer, find_counter};
use crate::{Candidates, PacketRequest};

/// The reason why a build cannot be composed again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PacketRebuildError {
    /// The stored policy is not valid.
    #[error("its policy cannot be read: {fault}")]
    Policy {
        /// A description of the problem.
        fault: String,
    },
    /// This version has no token counter with the stored name.
    #[error(transparent)]
    Tokenizer(#[from] UnknownTokenizer),
    /// Composing the packet failed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
}

impl PacketBuild {
    /// Creates the build of a packet from the request, the policy and the retrieved rows.
    #[must_use]
    pub fn from_packet(
        id: impl Into<String>,
        request: &PacketRequest,
        policy: &MemoryPolicy,
        found: &Candidates,
        packet: &MemoryPacket,
        tokenizer: &str,
    ) -> Self {
        let given = collect_included_rows(packet);
        Self {
            id: id.into(),
            request: request.clone(),
            policy: serde_json::to_value(policy).expect("a policy serializes to JSON"),
            tokenizer: tokenizer.to_owned(),
            digest: compute_packet_digest(packet),
            built_at: request.as_of,
            rows: BuildRow::collect_rows(request, found, |kind, id| match kind {
                BuildRowKind::WorkingMemory => true,
                BuildRowKind::Summary => !packet.short_term.rolling_summary.is_empty(),
                _ => given.contains(&(kind, id)),
            }),
            truncations: found.truncations.clone(),
            seen_insights: collect_seen_insights(packet, found),
        }
    }

    /// Composes the packet again from the rows that were retrieved for it.
    pub fn recompose(&self, found: &Candidates) -> Result<MemoryPacket, PacketRebuildError> {
        let policy: MemoryPolicy = serde_json::from_value(self.policy.clone())
            .map_err(|error| PacketRebuildError::Policy { fault: error.to_string() })?;
        self.recompose_with_policy(&policy, found)
    }

    /// Composes a packet from the same rows with another policy.
    pub fn recompose_with_policy(
        &self,
        policy: &MemoryPolicy,
        found: &Candidates,
    ) -> Result<MemoryPacket, PacketRebuildError> {
        let counter = find_counter(&self.tokenizer)?;
        Ok(compose_packet(&self.request, policy, found, &*counter)?)
    }
}

/// Computes the digest that identifies equal packets.
#[must_use]
pub fn compute_packet_digest(packet: &MemoryPacket) -> String {
    digest_json(&serde_json::to_value(packet).expect("a packet serializes to JSON"))
}

/// Collects the insights that a reader of the packet sees, or that the authors of its cited events
/// had seen. Whether they are validated is checked when later text is to be shown.
fn collect_seen_insights(packet: &MemoryPacket, found: &Candidates) -> Vec<String> {
    let insight = &packet.insight;
    let shown =
        insight.hypotheses.iter().chain(&insight.strategy_sketches).chain(&insight.patterns);
    let mut seen: BTreeSet<&String> = shown.map(|it| &it.id).collect();
    // A citation without a summary was withheld.
    let cited = packet.citations.iter().filter(|it| it.summary.is_some());
    let cited: BTreeSet<&str> = cited.map(|it| it.id.as_str()).collect();
    for (id, evidence) in &found.evidence {
        if cited.contains(id.as_str()) {
            seen.extend(&evidence.seen_insights);
        }
    }
    let events = found.quotes.iter().map(|quote| &quote.row).chain(&found.window);
    for event in events.filter(|event| cited.contains(event.id.as_str())) {
        seen.extend(&event.seen_insights);
    }
    seen.into_iter().cloned().collect()
}

/// Collects every row that the packet includes, in full or in part.
fn collect_included_rows(packet: &MemoryPacket) -> BTreeSet<(BuildRowKind, &str)> {
    let (short_term, long_term) = (&packet.short_term, &packet.long_term);
    let mut rows = BTreeSet::new();
    for fact in long_term.facts.iter().chain(long_term.preferences.iter().flatten()) {
        let kind = match fact.scope_level.unwrap_or(ScopeLevel::User) {
            ScopeLevel::User => BuildRowKind::UserFact,
            ScopeLevel::Agent => BuildRowKind::AgentFact,
            ScopeLevel::Tenant => BuildRowKind::TenantFact,
        };
        rows.insert((kind, fact.fact_id.as_str()));
    }
    let insight = &packet.insight;
    let guesses =
        insight.hypotheses.iter().chain(&insight.strategy_sketches).chain(&insight.patterns);
    rows.extend(guesses.map(|it| (BuildRowKind::Insight, it.id.as_str())));
    rows.extend(long_term.procedures.iter().map(|it| (BuildRowKind::Procedure, &*it.procedure_id)));
    rows.extend(long_term.episodes.iter().map(|it| (BuildRowKind::Episode, &*it.episode_id)));
    let quotes = short_term.key_quotes.iter().flatten();
    rows.extend(quotes.map(|it| (BuildRowKind::Quote, it.evidence_id.as_str())));
    let window = short_term.conversation_window.iter().flatten();
    rows.extend(window.map(|it| (BuildRowKind::Window, it.evidence_id.as_str())));
    rows.extend(packet.citations.iter().map(|it| (BuildRowKind::Evidence, it.id.as_str())));
    rows
}
