//! Who may spend how many tokens.
//!
//! A caller's own budgets are hard. Else every section with something to give has a share of the whole
//! by its strength, and one that gives everything, in full, passes the rest on to those behind it. One
//! that cannot passes nothing on: so no section ever gets less from a larger whole.

use std::collections::BTreeMap;

use countersign_contracts::memory::meta::SectionBudgets;

use super::ComposeError;

/// The sections, in the order in which they pass on what they leave: those that can use any number
/// of tokens come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    WorkingState,
    Procedures,
    Insights,
    Facts,
    Episodes,
    ShortTermSummary,
}

impl Section {
    pub(super) const ALL: [Self; 6] = [
        Self::WorkingState,
        Self::Procedures,
        Self::Insights,
        Self::Facts,
        Self::Episodes,
        Self::ShortTermSummary,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::WorkingState => "working_state",
            Self::Procedures => "procedures",
            Self::Insights => "insights",
            Self::Facts => "facts",
            Self::Episodes => "episodes",
            Self::ShortTermSummary => "short_term_summary",
        }
    }

    fn of(self, budgets: &SectionBudgets) -> u64 {
        match self {
            Self::WorkingState => budgets.working_state,
            Self::Procedures => budgets.procedures,
            Self::Insights => budgets.insights,
            Self::Facts => budgets.facts,
            Self::Episodes => budgets.episodes,
            Self::ShortTermSummary => budgets.short_term_summary,
        }
    }
}

/// What is left to spend while a packet is filled.
#[derive(Debug)]
pub(super) struct Purse {
    shares: BTreeMap<Section, u64>,
    passes_on: bool,
    left: u64,
    applied: BTreeMap<Section, u64>,
    /// Tokens by section.
    pub(super) used: BTreeMap<Section, u64>,
}

impl Purse {
    /// The caller's own budgets; cut in proportion where they are more than the whole.
    pub(super) fn hard(
        max_tokens: u64,
        budgets: &SectionBudgets,
        floor: u64,
    ) -> Result<Self, ComposeError> {
        let all: u128 = Section::ALL.iter().map(|section| u128::from(section.of(budgets))).sum();
        let shares: BTreeMap<Section, u64> = Section::ALL
            .into_iter()
            .map(|section| {
                let asked = section.of(budgets);
                (
                    section,
                    if all > u128::from(max_tokens) { part(asked, max_tokens, all) } else { asked },
                )
            })
            .collect();
        let allowed = shares[&Section::WorkingState];
        if floor > allowed {
            return Err(ComposeError::Floor { needed: floor, allowed });
        }
        Ok(Self::new(shares, false))
    }

    /// Shares by weight. The floor of the working state may take more than its share.
    pub(super) fn shared(
        max_tokens: u64,
        weights: &BTreeMap<Section, u64>,
        floor: u64,
    ) -> Result<Self, ComposeError> {
        if floor > max_tokens {
            return Err(ComposeError::Floor { needed: floor, allowed: max_tokens });
        }
        let weight = |section: &Section| weights.get(section).copied().unwrap_or(0);
        let all: u128 = Section::ALL.iter().map(|section| u128::from(weight(section))).sum();
        let of_state = weight(&Section::WorkingState);
        let state = part(max_tokens, of_state, all).max(floor);
        let (rest, others) = (max_tokens - state, all - u128::from(of_state));
        let shares = Section::ALL.into_iter().map(|section| match section {
            Section::WorkingState => (section, state),
            _ => (section, part(rest, weight(&section), others)),
        });
        Ok(Self::new(shares.collect(), true))
    }

    fn new(shares: BTreeMap<Section, u64>, passes_on: bool) -> Self {
        Self { shares, passes_on, left: 0, applied: BTreeMap::new(), used: BTreeMap::new() }
    }

    /// What a section may spend, now that those before it have.
    pub(super) fn open(&self, section: Section) -> u64 {
        self.shares[&section] + self.left
    }

    /// A section has spent.
    pub(super) fn close(&mut self, section: Section, used: u64, complete: bool) {
        let allowed = self.open(section);
        debug_assert!(used <= allowed, "a section keeps to its budget");
        self.used.insert(section, used);
        let passes_on = self.passes_on && complete;
        self.left = if passes_on { allowed - used } else { 0 };
        self.applied.insert(section, if passes_on { used } else { allowed });
    }

    /// What each section could spend in the end.
    pub(super) fn applied(&self) -> SectionBudgets {
        let of = |section| self.applied.get(&section).copied().unwrap_or(0);
        SectionBudgets {
            working_state: of(Section::WorkingState),
            facts: of(Section::Facts),
            procedures: of(Section::Procedures),
            short_term_summary: of(Section::ShortTermSummary),
            episodes: of(Section::Episodes),
            insights: of(Section::Insights),
        }
    }
}

/// `whole × weight / all`, rounded down.
fn part(whole: u64, weight: u64, all: u128) -> u64 {
    let part = (u128::from(whole) * u128::from(weight)).checked_div(all);
    part.unwrap_or(0) as u64
}
