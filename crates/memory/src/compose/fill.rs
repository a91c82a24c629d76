//! Fills a section: the first items in full, the next ones shortened, then references.
//!
//! How many items are given depends on the budget alone: each item has a price, the mean of its
//! forms weighted by the shares of the tiers, and the longest prefix whose prices fit is given. A
//! price does not depend on the budget, so with a larger budget no item is lost. Then as many items
//! as possible get a longer form, from the first one on, until the budget is used. The first item
//! that needs a shared line (a heading or a date) pays for it.

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
    let mut raws: Vec<PacketItem<T>> = Vec::new();
    let mut total = 0;
    for place in 0..many {
        let Some(form) = make(place, DetailTier::Raw) else { break };
        total += costs.charge(&form);
        if total > budget {
            break;
        }
        raws.push(form);
    }
    if raws.len() == many {
        let items = raws.into_iter().enumerate().collect();
        return FilledSection { items, used: total, complete: true };
    }
    costs.paid.clear();
    let mut list = price_items(many, budget, tiers, &mut costs, raws, make);
    choose_forms(&mut list, budget, tiers);
    costs.paid.clear();
    let (mut items, mut used) = (Vec::new(), 0);
    for (place, mut priced) in list.into_iter().enumerate() {
        let form = priced.forms.swap_remove(priced.chosen).item;
        used += costs.charge(&form);
        items.push((place, form));
    }
    FilledSection { items, used, complete: false }
}

/// An item with the forms that it can have, the longest first.
struct PricedItem<T> {
    forms: Vec<PricedForm<T>>,
    /// The tokens of the shared lines that this item pays for.
    shared: u64,
    /// The index of the chosen form.
    chosen: usize,
}

struct PricedForm<T> {
    item: PacketItem<T>,
    tier: DetailTier,
    /// The tokens of the item's own lines.
    cost: u64,
}

impl<T> PricedItem<T> {
    fn cost(&self) -> u64 {
        self.forms[self.chosen].cost
    }

    /// Returns the tokens of the cheapest form.
    fn least_cost(&self) -> u64 {
        self.forms.iter().map(|form| form.cost).min().unwrap_or(0)
    }

    /// Returns the price of the item in thousandths of a token: the mean of its forms that a budget
    /// with these shares would pay.
    fn price(&self, tiers: TierShares) -> u128 {
        const SCALE: u128 = 1_000_000_000;
        let least = u128::from(self.least_cost());
        if self.forms.iter().all(|form| u128::from(form.cost) == least) {
            return least * 1_000;
        }
        let (mut shares, mut rate) = (0, 0);
        for form in &self.forms {
            let share = u128::from(tier_share(tiers, form.tier));
            shares += share;
            rate += share * SCALE / u128::from(form.cost.max(1));
        }
        (shares * SCALE * 1_000).checked_div(rate).unwrap_or(0).max(least * 1_000)
    }
}

/// Returns the longest prefix of the items whose prices fit the budget, with all their forms. The
/// first item is given in any case if one of its forms fits.
fn price_items<T>(
    many: usize,
    budget: u64,
    tiers: TierShares,
    costs: &mut TokenCosts<'_>,
    raws: Vec<PacketItem<T>>,
    make: &dyn Fn(usize, DetailTier) -> Option<PacketItem<T>>,
) -> Vec<PricedItem<T>> {
    let (mut list, mut raws) = (Vec::new(), raws.into_iter());
    let mut total = 0;
    for place in 0..many {
        let Some(raw) = raws.next().or_else(|| make(place, DetailTier::Raw)) else { break };
        let mut forms = vec![costs.price_form(raw, DetailTier::Raw)];
        for tier in [DetailTier::Short, DetailTier::Ref] {
            // The first item may take any form, because it is given if any of them fits.
            if tier_share(tiers, tier) > 0 || place == 0 {
                forms.extend(make(place, tier).map(|item| costs.price_form(item, tier)));
            }
        }
        let shared = costs.charge_shared(forms.iter().flat_map(|form| &form.item.shared));
        let mut priced = PricedItem { forms, shared, chosen: 0 };
        if place == 0 && priced.shared + priced.least_cost() <= budget {
            total +=
                (u128::from(shared) * 1_000 + priced.price(tiers)).min(u128::from(budget) * 1_000);
        } else {
            total += u128::from(shared) * 1_000 + priced.price(tiers);
        }
        if total > u128::from(budget) * 1_000 {
            break;
        }
        // The last one of the cheapest forms: a reference rather than a text that is as short.
        let least = priced.least_cost();
        priced.chosen = priced.forms.iter().position(|form| form.cost == least).unwrap_or(0);
        list.push(priced);
    }
    list
}

/// Gives longer forms to the items, from the first one on, as far as the budget allows.
fn choose_forms<T>(list: &mut [PricedItem<T>], budget: u64, tiers: TierShares) {
    let spent: u64 = list.iter().map(|item| item.shared + item.cost()).sum();
    let mut left = budget.saturating_sub(spent);
    let raw_share = (u128::from(budget) * u128::from(tiers.raw) / 1_000) as u64;
    let raws = upgrade_prefix(list, 0, DetailTier::Raw, raw_share, &mut left);
    upgrade_prefix(list, raws, DetailTier::Short, u64::MAX, &mut left);
    // What the tiers leave is used too.
    let raws = upgrade_prefix(list, raws, DetailTier::Raw, u64::MAX, &mut left);
    upgrade_prefix(list, raws, DetailTier::Short, u64::MAX, &mut left);
}

/// Gives the form of a tier to the items from a place on, until one does not fit. The items before
/// the end cost at most `share` together. Returns the place of the first item without the form.
fn upgrade_prefix<T>(
    list: &mut [PricedItem<T>],
    from: usize,
    tier: DetailTier,
    share: u64,
    left: &mut u64,
) -> usize {
    let mut spent = 0;
    for (place, item) in list.iter_mut().enumerate().skip(from) {
        let Some(form) = item.forms.iter().position(|form| form.tier == tier) else { continue };
        if item.chosen <= form {
            spent += item.shared + item.cost();
            continue;
        }
        let (cost, now) = (item.forms[form].cost, item.cost());
        let more = cost.saturating_sub(now);
        spent += item.shared + cost;
        if more > *left || spent > share {
            return place;
        }
        *left -= more;
        item.chosen = form;
    }
    list.len()
}

fn tier_share(tiers: TierShares, tier: DetailTier) -> u32 {
    match tier {
        DetailTier::Raw => tiers.raw,
        DetailTier::Short => tiers.short,
        DetailTier::Ref => tiers.reference,
    }
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

    fn price_form<T>(&self, item: PacketItem<T>, tier: DetailTier) -> PricedForm<T> {
        let cost = self.counter.count(&item.line);
        PricedForm { item, tier, cost }
    }

    /// Marks shared lines as paid and returns the tokens of those that were not.
    fn charge_shared<'s>(&mut self, lines: impl Iterator<Item = &'s String>) -> u64 {
        let mut tokens = 0;
        for line in lines {
            if self.paid.insert(line.clone()) {
                tokens += self.counter.count(line);
            }
        }
        tokens
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
