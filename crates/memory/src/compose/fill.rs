//! Fills a section: the first items in full, the next ones shortened, then references.
//!
//! Each tier has a share of the section and takes the longest prefix that fits of what the earlier
//! tiers left. With a larger budget every share is larger and begins no earlier, so it ends no
//! earlier, and no item is lost. The first item that needs a shared line (a heading or a date) pays
//! for it, which only makes later tiers cheaper.

use std::collections::BTreeSet;

use crate::policy::TierShares;
use crate::tokens::TokenCounter;

/// How much of an item is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DetailTier {
    Raw,
    Short,
    Ref,
}

/// An item in the form in which it would be given.
#[derive(Debug, Clone)]
pub(super) struct PacketItem<T> {
    /// The value that goes into the packet.
    pub(super) item: T,
    /// Lines that the item shares with others, such as headings.
    pub(super) shared: Vec<String>,
    /// The item's own lines.
    pub(super) line: String,
    /// The name of the form; `raw` if nothing was left out for lack of room.
    pub(super) name: &'static str,
    /// Whether the item exceeded the maximum length of an item.
    pub(super) is_truncated: bool,
}

/// The part of a list that fits.
#[derive(Debug)]
pub(super) struct FilledSection<T> {
    /// The index in the list, without gaps, and the item.
    pub(super) items: Vec<(usize, PacketItem<T>)>,
    /// The number of tokens used.
    pub(super) used: u64,
    /// Whether all items fit in full.
    pub(super) complete: bool,
}

/// Selects from a ranked list what fits a budget. `make` builds an item at a tier, or returns
/// `None` if the item has no such form.
pub(super) fn fill_section<T>(
    many: usize,
    budget: u64,
    tiers: TierShares,
    counter: &dyn TokenCounter,
    make: &dyn Fn(usize, DetailTier) -> Option<PacketItem<T>>,
) -> FilledSection<T> {
    let mut costs = TokenCosts { counter, paid: BTreeSet::new() };
    let mut raws: Vec<(PacketItem<T>, u64)> = Vec::new();
    let mut total = 0;
    for place in 0..many {
        let Some(form) = make(place, DetailTier::Raw) else { break };
        total += costs.charge(&form);
        if total > budget {
            break;
        }
        raws.push((form, total));
    }
    if raws.len() == many {
        let items = raws.into_iter().enumerate().map(|(place, (form, _))| (place, form)).collect();
        return FilledSection { items, used: total, complete: true };
    }
    let share = |thousandths: u32| (u128::from(budget) * u128::from(thousandths) / 1_000) as u64;
    let raw = share(tiers.raw).min(budget);
    raws.truncate(raws.partition_point(|(_, total)| *total <= raw));
    let mut used = raws.last().map_or(0, |(_, total)| *total);
    let mut items: Vec<(usize, PacketItem<T>)> =
        raws.into_iter().enumerate().map(|(place, (form, _))| (place, form)).collect();
    costs.paid.clear();
    for (_, form) in &items {
        costs.mark_paid(form);
    }

    for (tier, thousandths) in
        [(DetailTier::Short, tiers.short), (DetailTier::Ref, tiers.reference)]
    {
        let share = share(thousandths).min(budget - used);
        let mut spent = 0;
        while share > 0 && items.len() < many {
            let place = items.len();
            let Some(form) = make(place, tier) else { break };
            let cost = costs.compute_cost(&form);
            if spent + cost > share {
                break;
            }
            spent += cost;
            costs.mark_paid(&form);
            items.push((place, form));
        }
        used += spent;
    }
    if items.is_empty() && many > 0 {
        // If no single share is enough for the first item, the whole budget may be.
        let first = [DetailTier::Raw, DetailTier::Short, DetailTier::Ref]
            .into_iter()
            .find_map(|tier| make(0, tier).filter(|form| costs.compute_cost(form) <= budget));
        if let Some(form) = first {
            used = costs.charge(&form);
            items.push((0, form));
        }
    }
    FilledSection { items, used, complete: false }
}

struct TokenCosts<'a> {
    counter: &'a dyn TokenCounter,
    /// Shared lines that an earlier item has paid for.
    paid: BTreeSet<String>,
}

impl TokenCosts<'_> {
    fn compute_cost<T>(&self, form: &PacketItem<T>) -> u64 {
        let unpaid = form.shared.iter().filter(|line| !self.paid.contains(*line));
        let shared: u64 = unpaid.map(|line| self.counter.count(line)).sum();
        shared + self.counter.count(&form.line)
    }

    fn charge<T>(&mut self, form: &PacketItem<T>) -> u64 {
        let price = self.compute_cost(form);
        self.mark_paid(form);
        price
    }

    fn mark_paid<T>(&mut self, form: &PacketItem<T>) {
        self.paid.extend(form.shared.iter().cloned());
    }
}
