//! A packet of what is remembered, asked for by whoever has no run. The build is kept, so that it can be
//! explained.

use countersign_contracts::JsonObject;
use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::meta::{
    CueTimeRange, PacketCues, PacketPurpose, SectionBudgets,
};
use countersign_core::run::Timestamp;
use countersign_memory::compose::{ComposeError, compose_packet};
use countersign_memory::policy::{MIN_BUDGET_TOKENS, MemoryPolicy};
use countersign_memory::render::{RenderError, render_packet};
use countersign_memory::rules::MemoryRefusal;
use countersign_memory::store::{Memory, MemoryError, PacketBuild, RetrievalLimits};
use countersign_memory::tokens::TokenCounter;
use countersign_memory::{BudgetOverride, MemoryScope, PacketRequest};
use serde_json::json;
use thiserror::Error;

use super::derive_id;

/// What a packet is asked for with.
#[derive(Debug, Clone, Default)]
pub struct ContextQuery {
    /// Which kind of prompt it goes into: `planner` where absent.
    pub purpose: Option<PacketPurpose>,
    /// What is being said now.
    pub message: Option<String>,
    /// Words it is about.
    pub keywords: Vec<String>,
    /// Whom or what it is about.
    pub entities: Vec<String>,
    /// Tags it is about.
    pub tags: Vec<String>,
    /// The beginning of the time it is about.
    pub since: Option<Timestamp>,
    /// The end of the time it is about.
    pub until: Option<Timestamp>,
    /// The kind of task.
    pub task_type: Option<String>,
    /// How many tokens, instead of the policy's.
    pub tokens: Option<u64>,
    /// How many of them each section may take, instead of the policy's shares.
    pub sections: Option<SectionBudgets>,
}

/// A section that no packet has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "no section `{0}`; there are `working_state`, `facts`, `procedures`, `short_term_summary`, `episodes`, `insights`"
)]
pub struct UnknownSection(String);

/// Why there is no packet.
#[derive(Debug, Error)]
pub enum ContextError {
    /// The memory could not.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// It cannot be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// It cannot be written as text.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// A packet, and the build that explains it.
#[derive(Debug, Clone)]
pub struct ComposedContext {
    /// The id of the build.
    pub build: String,
    /// The digest of the packet.
    pub digest: String,
    /// What goes into the prompt.
    pub text: String,
    /// The packet.
    pub packet: MemoryPacket,
}

impl ContextQuery {
    /// The request in a scope, at a moment.
    #[must_use]
    pub fn into_request(self, scope: MemoryScope, as_of: Timestamp) -> PacketRequest {
        let list = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let [start, end] = [self.since, self.until].map(|at| at.map(|at| at.to_string()));
        let cues = PacketCues {
            tags: list(self.tags),
            entities: list(self.entities),
            keywords: list(self.keywords),
            time_range: (start.is_some() || end.is_some()).then_some(CueTimeRange { start, end }),
            extra: JsonObject::new(),
        };
        let any = cues.tags.is_some()
            || cues.entities.is_some()
            || cues.keywords.is_some()
            || cues.time_range.is_some();
        PacketRequest {
            scope,
            purpose: self.purpose.unwrap_or(PacketPurpose::Planner),
            task_type: self.task_type,
            cues: any.then_some(cues),
            message: self.message,
            vector: None,
            budget: build_budget(self.tokens, self.sections),
            as_of,
        }
    }
}

/// The budgets of sections by their names: one that is not named gets nothing. `Empty` where none is.
///
/// # Errors
/// Where there is no such section.
pub fn parse_section_budgets(
    named: impl IntoIterator<Item = (String, u64)>,
) -> Result<Option<SectionBudgets>, UnknownSection> {
    let mut budgets = None;
    for (name, tokens) in named {
        let budgets: &mut SectionBudgets = budgets.get_or_insert(ZERO_BUDGETS);
        let section = match name.as_str() {
            "working_state" => &mut budgets.working_state,
            "facts" => &mut budgets.facts,
            "procedures" => &mut budgets.procedures,
            "short_term_summary" => &mut budgets.short_term_summary,
            "episodes" => &mut budgets.episodes,
            "insights" => &mut budgets.insights,
            _ => return Err(UnknownSection(name)),
        };
        *section = tokens;
    }
    Ok(budgets)
}

const ZERO_BUDGETS: SectionBudgets = SectionBudgets {
    working_state: 0,
    facts: 0,
    procedures: 0,
    short_term_summary: 0,
    episodes: 0,
    insights: 0,
};

/// The caller's own budget; without a number for the whole, what its sections are together.
fn build_budget(
    tokens: Option<u64>,
    per_section: Option<SectionBudgets>,
) -> Option<BudgetOverride> {
    let together = per_section.map(|budgets| {
        let SectionBudgets {
            working_state,
            facts,
            procedures,
            short_term_summary,
            episodes,
            insights,
        } = budgets;
        [working_state, facts, procedures, short_term_summary, episodes, insights]
            .into_iter()
            .fold(0, u64::saturating_add)
            .max(MIN_BUDGET_TOKENS)
    });
    let max_tokens = tokens.or(together)?;
    Some(BudgetOverride { max_tokens, per_section })
}

/// Composes a packet, and keeps its build.
pub async fn compose_context(
    memory: &dyn Memory,
    request: &PacketRequest,
    policy: &MemoryPolicy,
    counter: &dyn TokenCounter,
) -> Result<ComposedContext, ContextError> {
    let mut once_more = true;
    loop {
        let found =
            memory.retrieve_candidates(request, RetrievalLimits::from_policy(policy)).await?;
        let packet = compose_packet(request, policy, &found, counter)?;
        let text = render_packet(&packet, request.purpose)?;
        let mut build =
            PacketBuild::from_packet("", request, policy, &found, &packet, counter.id());
        build.id = derive_id("b", &json!(build));
        let (id, digest) = (build.id.clone(), build.digest.clone());
        match memory.store_build(build).await {
            Ok(()) => return Ok(ComposedContext { build: id, digest, text, packet }),
            // Somebody was forgotten meanwhile; there is another packet of what is left.
            Err(MemoryError::Refused(MemoryRefusal::Forgotten { .. }))
                if std::mem::take(&mut once_more) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_are_not_named_get_nothing() {
        let named = |list: &[(&str, u64)]| {
            parse_section_budgets(list.iter().map(|(name, tokens)| ((*name).to_owned(), *tokens)))
        };
        assert_eq!(named(&[]), Ok(None));
        let facts = SectionBudgets { facts: 200, episodes: 100, ..ZERO_BUDGETS };
        assert_eq!(named(&[("facts", 200), ("episodes", 100)]), Ok(Some(facts)));
        let refused = named(&[("fact", 200)]).unwrap_err().to_string();
        assert!(refused.starts_with("no section `fact`; there are `working_state`"), "{refused}");
        // The whole is what they are together, and never less than a packet needs.
        let whole = |tokens, sections| build_budget(tokens, sections).map(|asked| asked.max_tokens);
        assert_eq!(whole(None, Some(facts)), Some(300));
        assert_eq!(whole(None, Some(ZERO_BUDGETS)), Some(MIN_BUDGET_TOKENS));
        assert_eq!(whole(Some(900), Some(facts)), Some(900));
        assert_eq!(whole(None, None), None);
    }
}
