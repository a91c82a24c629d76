//! Workflows: files by id, their includes merged in, their parts compiled.

use std::collections::BTreeMap;

use super::change::applied;
use super::contracts::stem;
use super::faults::Faults;
use super::file::File;
use super::gate::gate;
use super::include::{Merged, Raw};
use super::input::input;
use super::known::Known;
use super::member::Member;
use super::output::output;
use super::phase::phase;
use super::scope::{Names, Scope};
use crate::protocol::{EnginePlace, NAMES, Phase, Transition, Workflow, WorkflowIndex};

/// The workflows of the files, by id; names of broken ones are remembered.
pub(super) fn gather<'f>(
    files: &'f [File],
    known: &mut Known<()>,
    faults: &Faults,
) -> BTreeMap<&'f str, Raw<'f>> {
    let mut raws: BTreeMap<&'f str, Raw<'f>> = BTreeMap::new();
    for file in files {
        let root = file.root();
        if let (Some(_), Some(steps)) = (root.get("phases"), root.get("steps")) {
            let message = "`phases` and `steps` are two spellings of one thing; keep one";
            faults.push(steps.fault("duplicate_key", message));
        }
        if root.value.is_object() && root.get("phases").or_else(|| root.get("steps")).is_none() {
            faults.push(root.fault("required", "a workflow has `phases`, and this one has none"));
        }
        let Some(id) = root.get("id").filter(|id| id.text().is_some()) else {
            known.broken.insert(stem(&file.tree.source.name).to_owned());
            continue;
        };
        let name = id.text().unwrap_or_default();
        if name.trim().is_empty() {
            faults.push(id.fault("min_length", "a workflow has an id, and this one is blank"));
            continue;
        }
        if let Some(first) = raws.get(name).and_then(|raw| raw.file.root().get("id")) {
            faults.push_at("duplicate_id", &id, || {
                let message = format!("a workflow `{name}` stands at {} already", first.told());
                id.fault("duplicate_id", message)
            });
            continue;
        }
        known.things.insert(name.to_owned(), ());
        raws.insert(name, Raw { id: name, file });
    }
    raws
}

/// The budgets that transitions and phases spend from.
pub(super) fn spent<'f>(raws: &BTreeMap<&'f str, Raw<'f>>) -> impl Iterator<Item = String> {
    let mut names = Vec::new();
    for raw in raws.values() {
        names.extend(raw.transitions().iter().filter_map(|way| way.owned("spends")));
        names.extend(raw.phases().iter().filter_map(|phase| phase.owned("refusal_spends")));
    }
    names.into_iter()
}

/// Compiles one workflow with all it includes; its phases by id come along.
pub(super) fn workflow<'f>(
    raw: &Raw<'f>,
    merged: Merged<'_, 'f>,
    names: &Names,
    faults: &Faults,
) -> (Workflow, Known<()>) {
    let Merged { parts, whole, ring } = merged;
    let mut known = Known::new("phase");
    known.unread = !whole;
    let members = ids(&parts, ring, &mut known, faults);
    let place = raw.file.root();
    if let Some(place) = place.get("phases").or_else(|| place.get("steps"))
        && members.is_empty()
        && whole
        && raw.file.is_sound(&place)
    {
        faults.push(place.fault("min_items", "a workflow has at least one phase"));
    }
    let engine = names.engine_of(raw.id);
    let phases: Vec<Phase> = members
        .iter()
        .filter_map(|member| phase(member, names, (&known, engine), faults))
        .collect();
    let ways: Vec<Member<'f>> = parts.iter().flat_map(|part| part.transitions()).collect();
    let transitions: Vec<Transition> =
        ways.iter().filter_map(|way| transition(way, names, (&known, engine), faults)).collect();
    let complete = phases.len() == members.len() && transitions.len() == ways.len();
    debug_assert!(complete || faults.any(), "a part that is left out has a fault");
    let scope = Scope { engine, ..Scope::whole(names, &known, faults) };
    let input = input(raw.file, &scope);
    let output = output(raw.file, faults);
    let root = raw.file.root();
    let (name, description) = (root.owned("name"), root.owned("description"));
    let (id, origin) = (raw.id.to_owned(), root.origin());
    let (document, index) = (None, WorkflowIndex::new(&phases, &transitions));
    let workflow = Workflow {
        id,
        name,
        description,
        document,
        input,
        output,
        phases,
        transitions,
        origin,
        index,
    };
    (workflow, known)
}

/// The phases of all parts; the same id twice is a fault.
fn ids<'f>(
    parts: &[&Raw<'f>],
    ring: bool,
    known: &mut Known<()>,
    faults: &Faults,
) -> Vec<Member<'f>> {
    let mut seen: BTreeMap<&'f str, (&'f str, Member<'f>)> = BTreeMap::new();
    let mut members = Vec::new();
    for part in parts {
        for member in part.phases() {
            let Some(id) = member.get("id").filter(|id| id.text().is_some()) else { continue };
            let name = id.text().unwrap_or_default();
            if name.trim().is_empty() {
                faults.push(id.fault("min_length", "a phase has an id, and this one is blank"));
                continue;
            }
            match seen.get(name) {
                Some((owner, first)) if *owner == part.id => {
                    faults.push_at("duplicate_id", &id, || {
                        let place = first.told();
                        let message = format!("a phase `{name}` stands at {place} already");
                        id.fault("duplicate_id", message)
                    });
                }
                // What a ring brings twice is the ring's fault.
                Some(_) if ring => {}
                Some((owner, first)) => faults.push_at("include_clash", &id, || {
                    let place = first.told();
                    let message = format!(
                        "`{}` brings a phase `{name}`, which `{owner}` has at {place}",
                        part.id
                    );
                    let hint = "included phases share one list of ids; rename one".to_owned();
                    id.fault("include_clash", message).hinting(Some(hint))
                }),
                None => {
                    known.things.insert(name.to_owned(), ());
                    seen.insert(name, (part.id, id));
                    members.push(member);
                }
            }
        }
    }
    members
}

fn transition(
    member: &Member<'_>,
    names: &Names,
    (phases, engine): (&Known<()>, &[EnginePlace]),
    faults: &Faults,
) -> Option<Transition> {
    let gate = member.get("gate").map(|it| gate(&it, faults).ok_or(()));
    // What stands on a way is the author's: there is no reply, and no phase whose authority binds it.
    let reads = &NAMES[..2];
    let scope = Scope { engine, reads, ..Scope::whole(names, phases, faults) };
    let apply = applied(member, &scope);
    for key in ["from", "to"] {
        phases.find(&member.get(key)?, faults);
    }
    Some(Transition {
        from: member.owned("from")?,
        to: member.owned("to")?,
        priority: member.value["priority"].as_i64().unwrap_or(0),
        gate: gate.transpose().ok()?,
        spends: member.owned("spends"),
        apply,
        gives: member.names_of("gives"),
        origin: member.origin(),
    })
}
