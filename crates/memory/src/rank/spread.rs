//! What a term gives to the places where it stands and to those beside them.
//!
//! A turn of a conversation is often understood by the one before it: "Where did you go?" — "To Rome".
//! So a term counts three fifths one place away and two fifths two places away, and once at each place:
//! where it counts most.

use std::cmp::Ordering;

use super::fixed::times;
use crate::record::Place;

/// What counts of a term one place away, two places away, in millionths.
const SHARES: [i64; 2] = [600_000, 400_000];

/// What a place got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) place: Place,
    /// From the terms that stand there.
    pub(super) own: i64,
    /// From those and from the terms that stand beside it.
    pub(super) reach: i64,
}

/// What one term gives; it stands at ascending places with a value each, and only some reach beyond.
pub(super) fn spread(stands: impl Iterator<Item = (Place, i64, bool)>) -> Vec<Reached> {
    let mut out: Vec<Reached> = Vec::new();
    for (place, value, beyond) in stands {
        let width = if beyond { SHARES.len() as u32 } else { 0 };
        let from = place.position.saturating_sub(width).max(1).min(place.position);
        for position in from..=place.position.saturating_add(width) {
            let away = position.abs_diff(place.position) as usize;
            let own = if away == 0 { value } else { 0 };
            let reach = if away == 0 { value } else { times(value, SHARES[away - 1]) };
            give(&mut out, Reached { place: Place { position, ..place }, own, reach });
        }
    }
    out
}

/// Gives to a place that is among the last few, between them, or behind them all.
fn give(out: &mut Vec<Reached>, one: Reached) {
    let behind = out.iter().rev().take_while(|there| there.place > one.place).count();
    let at = out.len() - behind;
    match out.get_mut(at.wrapping_sub(1)).filter(|there| there.place == one.place) {
        Some(there) => {
            there.own = there.own.max(one.own);
            there.reach = there.reach.max(one.reach);
        }
        None => out.insert(at, one),
    }
}

/// The sums of lists that are sorted by place, as one such list.
pub(super) fn sum(mut lists: Vec<Vec<Reached>>) -> Vec<Reached> {
    while lists.len() > 1 {
        let mut pairs = lists.into_iter();
        let mut merged = Vec::new();
        while let Some(left) = pairs.next() {
            merged.push(match pairs.next() {
                Some(right) => merge(&left, &right),
                None => left,
            });
        }
        lists = merged;
    }
    lists.pop().unwrap_or_default()
}

fn merge(mut left: &[Reached], mut right: &[Reached]) -> Vec<Reached> {
    let mut out = Vec::with_capacity(left.len() + right.len());
    while let ([one, left_rest @ ..], [other, right_rest @ ..]) = (left, right) {
        match one.place.cmp(&other.place) {
            Ordering::Less => {
                out.push(*one);
                left = left_rest;
            }
            Ordering::Greater => {
                out.push(*other);
                right = right_rest;
            }
            Ordering::Equal => {
                let (own, reach) = (one.own + other.own, one.reach + other.reach);
                out.push(Reached { place: one.place, own, reach });
                (left, right) = (left_rest, right_rest);
            }
        }
    }
    out.extend_from_slice(left);
    out.extend_from_slice(right);
    out
}

/// Adds a list to the places that are there already.
pub(super) fn add(there: &mut [Reached], list: &[Reached]) {
    let mut list = list.iter().peekable();
    for one in there {
        while list.next_if(|other| other.place < one.place).is_some() {}
        if let Some(other) = list.next_if(|other| other.place == one.place) {
            one.own += other.own;
            one.reach += other.reach;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(session: u32, position: u32) -> Place {
        Place { session, position }
    }

    fn told(list: &[Reached]) -> Vec<(u32, u32, i64, i64)> {
        let tell = |one: &Reached| (one.place.session, one.place.position, one.own, one.reach);
        list.iter().map(tell).collect()
    }

    #[test]
    fn a_term_counts_once_at_each_place() {
        let stands = [(at(1, 1), 100, true), (at(1, 3), 80, true), (at(2, 1), 40, false)];
        let expected = [
            (1, 1, 100, 100),
            (1, 2, 0, 60),
            (1, 3, 80, 80),
            (1, 4, 0, 48),
            (1, 5, 0, 32),
            (2, 1, 40, 40),
        ];
        assert_eq!(told(&spread(stands.into_iter())), expected);
    }

    #[test]
    fn prose_inside_a_conversation_keeps_the_order() {
        let stands = [(at(1, 5), 100, true), (at(1, 6), 90, false), (at(1, 9), 8, true)];
        let places: Vec<u32> = told(&spread(stands.into_iter())).iter().map(|one| one.1).collect();
        assert_eq!(places, [3, 4, 5, 6, 7, 8, 9, 10, 11]);
    }

    #[test]
    fn lists_add_up() {
        let list = |positions: &[u32]| -> Vec<Reached> {
            let reached = |position: &u32| Reached { place: at(1, *position), own: 1, reach: 2 };
            positions.iter().map(reached).collect()
        };
        let mut total = sum(vec![list(&[1, 3]), list(&[2, 3]), list(&[3, 9])]);
        assert_eq!(told(&total), [(1, 1, 1, 2), (1, 2, 1, 2), (1, 3, 3, 6), (1, 9, 1, 2)]);
        add(&mut total, &list(&[2, 4, 9]));
        assert_eq!(told(&total), [(1, 1, 1, 2), (1, 2, 2, 4), (1, 3, 3, 6), (1, 9, 2, 4)]);
        assert_eq!(sum(Vec::new()), []);
    }
}
