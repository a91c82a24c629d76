//! Filling a section: the first items whole, the next ones short, then references.
//!
//! Each tier has a share of the section and takes the longest beginning of what the tiers before it
//! left that fits. With a larger budget every share is larger and begins no earlier, so it ends no
//! earlier: nothing is lost. Lines that items have in common (headings, dates) are paid by the first
//! that needs them, which only ever makes a later tier cheaper.

use std::collections::BTreeSet;

use crate::policy::Tiers;
use crate::tokens::TokenCounter;

/// How much of an item is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    Raw,
    Short,
    Ref,
}

/// An item as it would be given.
#[derive(Debug, Clone)]
pub(super) struct Form<T> {
    /// For the packet.
    pub(super) item: T,
    /// Lines that it shares with others.
    pub(super) shared: Vec<String>,
    /// Its own lines.
    pub(super) line: String,
    /// What it is called: `raw` where nothing is missing for want of room.
    pub(super) name: &'static str,
    /// Whether it is longer than any item may be.
    pub(super) cut: bool,
}

/// What of a list goes in.
#[derive(Debug)]
pub(super) struct Filled<T> {
    /// The place in the list, which runs without gaps, and the form.
    pub(super) items: Vec<(usize, Form<T>)>,
    /// In tokens.
    pub(super) used: u64,
    /// Whether all went in, in full.
    pub(super) complete: bool,
}

/// Takes from a ranked list what fits a budget. `make` gives an item in a form, if it has one.
pub(super) fn fill<T>(
    many: usize,
    budget: u64,
    tiers: Tiers,
    counter: &dyn TokenCounter,
    make: &dyn Fn(usize, Tier) -> Option<Form<T>>,
) -> Filled<T> {
    let mut costs = Costs { counter, paid: BTreeSet::new() };
    let mut raws: Vec<(Form<T>, u64)> = Vec::new();
    let mut total = 0;
    for place in 0..many {
        let Some(form) = make(place, Tier::Raw) else { break };
        total += costs.pay(&form);
        if total > budget {
            break;
        }
        raws.push((form, total));
    }
    if raws.len() == many {
        let items = raws.into_iter().enumerate().map(|(place, (form, _))| (place, form)).collect();
        return Filled { items, used: total, complete: true };
    }
    let share = |thousandths: u32| (u128::from(budget) * u128::from(thousandths) / 1_000) as u64;
    let raw = share(tiers.raw).min(budget);
    raws.truncate(raws.partition_point(|(_, total)| *total <= raw));
    let mut used = raws.last().map_or(0, |(_, total)| *total);
    let mut items: Vec<(usize, Form<T>)> =
        raws.into_iter().enumerate().map(|(place, (form, _))| (place, form)).collect();
    costs.paid.clear();
    for (_, form) in &items {
        costs.know(form);
    }

    for (tier, thousandths) in [(Tier::Short, tiers.short), (Tier::Ref, tiers.reference)] {
        let share = share(thousandths).min(budget - used);
        let mut spent = 0;
        while share > 0 && items.len() < many {
            let place = items.len();
            let Some(form) = make(place, tier) else { break };
            let cost = costs.price(&form);
            if spent + cost > share {
                break;
            }
            spent += cost;
            costs.know(&form);
            items.push((place, form));
        }
        used += spent;
    }
    if items.is_empty() && many > 0 {
        // Where no share is enough for the first item, the whole may be.
        let first = [Tier::Raw, Tier::Short, Tier::Ref]
            .into_iter()
            .find_map(|tier| make(0, tier).filter(|form| costs.price(form) <= budget));
        if let Some(form) = first {
            used = costs.pay(&form);
            items.push((0, form));
        }
    }
    Filled { items, used, complete: false }
}

struct Costs<'a> {
    counter: &'a dyn TokenCounter,
    /// Shared lines that somebody paid.
    paid: BTreeSet<String>,
}

impl Costs<'_> {
    fn price<T>(&self, form: &Form<T>) -> u64 {
        let unpaid = form.shared.iter().filter(|line| !self.paid.contains(*line));
        let shared: u64 = unpaid.map(|line| self.counter.count(line)).sum();
        shared + self.counter.count(&form.line)
    }

    fn pay<T>(&mut self, form: &Form<T>) -> u64 {
        let price = self.price(form);
        self.know(form);
        price
    }

    fn know<T>(&mut self, form: &Form<T>) {
        self.paid.extend(form.shared.iter().cloned());
    }
}
