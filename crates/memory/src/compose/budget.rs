//! Divides the token budget among the sections.
//!
//! Section budgets from the caller are hard limits. Otherwise every section with content gets a
//! share by its strength, and a section that fits completely passes the rest on to the next ones. A
//! section that does not fit passes nothing on, so no section gets less from a larger total.

use std::collections::BTreeMap;

use countersign_shipped_contracts::memory::meta::SectionBudgets;

use super::ComposeError;

/// The sections, in the order in which they pass on unused tokens. Sections that can use any number
/// of tokens come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PacketSection {
    WorkingState,
    Procedures,
    Insights,
    Facts,
    Episodes,
    ShortTermSummary,
}

impl PacketSection {
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

    fn select_budget(self, budgets: &SectionBudgets) -> u64 {
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

/// Tracks the remaining budget while a packet is filled.
#[derive(Debug)]
pub(super) struct BudgetAllocator {
    shares: BTreeMap<PacketSection, u64>,
    carries_over: bool,
    carried_over: u64,
    /// Tokens used by each section.
    pub(super) used: BTreeMap<PacketSection, u64>,
}

impl BudgetAllocator {
    /// Uses the caller's section budgets, reduced in proportion if they exceed the total.
    pub(super) fn from_section_budgets(
        max_tokens: u64,
        budgets: &SectionBudgets,
        floor: u64,
    ) -> Result<Self, ComposeError> {
        let scaled = scale_section_budgets(max_tokens, budgets);
        let shares: BTreeMap<PacketSection, u64> = PacketSection::ALL
            .into_iter()
            .map(|section| (section, section.select_budget(&scaled)))
            .collect();
        let allowed = shares[&PacketSection::WorkingState];
        if floor > allowed {
            return Err(ComposeError::StateFloor { needed: floor, allowed });
        }
        Ok(Self::new(shares, false))
    }

    /// Divides the total by weight. The floor of the working state may take more than its share.
    pub(super) fn from_weights(
        max_tokens: u64,
        weights: &BTreeMap<PacketSection, u64>,
        floor: u64,
    ) -> Result<Self, ComposeError> {
        if floor > max_tokens {
            return Err(ComposeError::StateFloor { needed: floor, allowed: max_tokens });
        }
        let weight = |section: &PacketSection| weights.get(section).copied().unwrap_or(0);
        let all: u128 = PacketSection::ALL.iter().map(|section| u128::from(weight(section))).sum();
        let of_state = weight(&PacketSection::WorkingState);
        let state = compute_share(max_tokens, of_state, all).max(floor);
        let (rest, others) = (max_tokens - state, all - u128::from(of_state));
        let shares = PacketSection::ALL.into_iter().map(|section| match section {
            PacketSection::WorkingState => (section, state),
            _ => (section, compute_share(rest, weight(&section), others)),
        });
        Ok(Self::new(shares.collect(), true))
    }

    fn new(shares: BTreeMap<PacketSection, u64>, carries_over: bool) -> Self {
        Self { shares, carries_over, carried_over: 0, used: BTreeMap::new() }
    }

    /// Returns what a section may use after the sections before it.
    pub(super) fn available_tokens(&self, section: PacketSection) -> u64 {
        self.shares[&section] + self.carried_over
    }

    /// Records what a section used. A complete section passes the rest on.
    pub(super) fn record_usage(&mut self, section: PacketSection, used: u64, complete: bool) {
        let allowed = self.available_tokens(section);
        debug_assert!(used <= allowed, "a section keeps to its budget");
        self.used.insert(section, used);
        let passes_on = self.carries_over && complete;
        self.carried_over = if passes_on { allowed - used } else { 0 };
    }
}

/// Reduces section budgets in proportion if they exceed the total.
pub(super) fn scale_section_budgets(max_tokens: u64, budgets: &SectionBudgets) -> SectionBudgets {
    let asked = PacketSection::ALL.map(|section| u128::from(section.select_budget(budgets)));
    let all: u128 = asked.iter().sum();
    let scale = |asked: u64| {
        if all > u128::from(max_tokens) { compute_share(asked, max_tokens, all) } else { asked }
    };
    SectionBudgets {
        working_state: scale(budgets.working_state),
        facts: scale(budgets.facts),
        procedures: scale(budgets.procedures),
        short_term_summary: scale(budgets.short_term_summary),
        episodes: scale(budgets.episodes),
        insights: scale(budgets.insights),
    }
}

/// Computes `whole × weight / all`, rounded down.
pub(super) fn compute_share(whole: u64, weight: u64, all: u128) -> u64 {
    let part = (u128::from(whole) * u128::from(weight)).checked_div(all);
    part.unwrap_or(0) as u64
}
