//! Phases: ids, hooks, authority, time, limits; the work itself is read by `work.rs`.

use super::budget::budget;
use super::duration::duration;
use super::faults::Faults;
use super::known::Known;
use super::member::Member;
use super::otherwise::outcome;
use super::scope::{Names, Scope, Writes};
use super::{place, work};
use crate::protocol::{Duration, EnginePlace, NAMES, Outcome, Phase};

/// Reads a phase; `None` where it has a fault.
pub(super) fn phase(
    member: &Member<'_>,
    names: &Names,
    (phases, engine): (&Known<()>, &[EnginePlace]),
    faults: &Faults,
) -> Option<Phase> {
    let writes = member.get("writes").map(|writes| Writes::new(authority(&writes, engine, faults)));
    let (reads, texts) = (&NAMES[..], &NAMES[..2]);
    let scope = Scope { names, phases, engine, writes: writes.as_ref(), reads, texts, faults };
    let hook = |key: &str| {
        let hook = member.get(key)?;
        names.hooks.find(&hook, faults);
        hook.text().map(str::to_owned)
    };
    let (on_enter, on_exit) = (hook("on_enter"), hook("on_exit"));
    let work = work::work(member, &scope);
    let timeout = member.get("timeout").and_then(|it| timeout(&it, &scope));
    let budget = member.get("budget").map(|it| budget(&it, &scope));
    Some(Phase {
        id: member.owned("id")?,
        name: member.owned("name"),
        description: member.owned("description"),
        terminal: member.value["terminal"] == true,
        on_enter,
        on_exit,
        work: work?,
        writes: writes.map(|writes| writes.places),
        timeout,
        budget: budget.unwrap_or_default(),
        needs: member.names_of("needs"),
        gives: member.names_of("gives"),
        origin: member.origin(),
    })
}

fn authority(writes: &Member<'_>, engine: &[EnginePlace], faults: &Faults) -> Vec<String> {
    let allowed = |item: &Member<'_>| {
        let place = place::pointer(item, faults)?;
        if let Some(own) = place::engine_above(&place, engine) {
            place::tell_engine(item, &place, own, faults);
        }
        Some(place)
    };
    writes.items().iter().filter_map(allowed).collect()
}

fn timeout(member: &Member<'_>, scope: &Scope<'_>) -> Option<(Duration, Outcome)> {
    let after = if member.text().is_some() { member.clone() } else { member.get("after")? };
    let then = outcome(member.get("then").as_ref(), scope);
    Some((duration(&after, scope.faults)?, then))
}
