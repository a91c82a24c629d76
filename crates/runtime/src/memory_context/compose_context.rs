//! Composes a memory packet for a caller without a run. The build is stored, so that the packet can
//! be explained.

use countersign_memory::compose::{ComposeError, compose_packet};
use countersign_memory::policy::{MIN_BUDGET_TOKENS, MemoryPolicy};
use countersign_memory::render::{RenderError, render_packet};
use countersign_memory::rules::MemoryRefusal;
use countersign_memory::store::{Memory, MemoryError, PacketBuild, RetrievalLimits};
use countersign_memory::tokens::TokenCounter;
use countersign_memory::{BudgetOverride, MemoryScope, PacketRequest};
use countersign_run::Timestamp;
use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::meta::{
    CueTimeRange, PacketCues, PacketPurpose, SectionBudgets,
};
use serde_json::json;
use thiserror::Error;

use super::derive_id;

/// The parameters of a packet request.
#[derive(Debug, Clone, Default)]
pub struct ContextQuery {
    /// The kind of prompt that the packet is for; `planner` if absent.
    pub purpose: Option<PacketPurpose>,
    /// The current message.
    pub message: Option<String>,
    /// Keywords to search for.
    pub keywords: Vec<String>,
    /// People and things to search for.
    pub entities: Vec<String>,
    /// Tags to search for.
    pub tags: Vec<String>,
    /// Start of the time range; unbounded if absent.
    pub since: Option<Timestamp>,
    /// End of the time range; unbounded if absent.
    pub until: Option<Timestamp>,
    /// The kind of task; selects procedures.
    pub task_type: Option<String>,
    /// Budget in tokens; the policy's budget if absent.
    pub tokens: Option<u64>,
    /// Budget of each section in tokens; the policy's shares if absent.
    pub sections: Option<SectionBudgets>,
}

/// A section name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "unknown section `{0}`; expected `working_state`, `facts`, `procedures`, `short_term_summary`, `episodes`, `insights`"
)]
pub struct UnknownSection(String);

/// Why no packet was composed.
#[derive(Debug, Error)]
pub enum ContextError {
    /// The memory returned an error.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The packet cannot be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// The packet cannot be rendered as text.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// A packet, and the build that explains it.
#[derive(Debug, Clone)]
pub struct ComposedContext {
    /// Id of the stored build.
    pub build: String,
    /// Digest of the packet.
    pub digest: String,
    /// The rendered text for the prompt.
    pub text: String,
    /// The packet as structured data.
    pub packet: MemoryPacket,
}

impl ContextQuery {
    /// Builds the request in a scope, as of a timestamp.
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

/// Parses section budgets by name; a section that is not named gets 0 tokens. Returns `None` if no
/// section is named.
///
/// # Errors
/// If a section does not exist.
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

/// Builds the caller's budget. Without a total, the total is the sum of the sections.
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

/// Composes a packet, and stores its build.
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
            // Records were erased meanwhile; compose another packet from the rest.
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
        assert!(
            refused.starts_with("unknown section `fact`; expected `working_state`"),
            "{refused}"
        );
        // The total is the sum of the sections, and at least what a packet needs.
        let whole =
            |tokens, sections| build_budget(tokens, sections).map(|budget| budget.max_tokens);
        assert_eq!(whole(None, Some(facts)), Some(300));
        assert_eq!(whole(None, Some(ZERO_BUDGETS)), Some(MIN_BUDGET_TOKENS));
        assert_eq!(whole(Some(900), Some(facts)), Some(900));
        assert_eq!(whole(None, None), None);
    }
}
