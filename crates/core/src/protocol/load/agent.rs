//! Agents of a folder, resolved against their bases.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bases::{BASES, Base, base};
use super::faults::Faults;
use super::file::File;
use super::known::{Known, tell_unknown};
use super::member::Member;
use super::sections::{Mode, count_sections, joined};
use super::text::text;
use crate::limits::MAX_PROMPT_SECTIONS;
use crate::protocol::{Agent, ByLanguage, Tool};

/// Resolves every agent, and adds the bases by their plain ids.
pub(super) fn agents(
    files: &[File],
    rules: &BTreeMap<String, Arc<ByLanguage<String>>>,
    faults: &Faults,
) -> Known<Arc<Agent>> {
    let mut agents = Known::new("agent");
    agents.things = super::bases::agents();
    let mut seen: BTreeMap<&str, Member<'_>> = BTreeMap::new();
    for file in files {
        let root = file.root();
        let Some(id) = root.get("id").filter(|id| file.is_sound(id)) else { continue };
        let Some(name) = id.text() else { continue };
        if let Some(first) = seen.get(name) {
            faults.push_at("duplicate_id", &id, || {
                let message = format!("an agent `{name}` stands at {} already", first.told());
                id.fault("duplicate_id", message)
            });
            continue;
        }
        seen.insert(name, id.clone());
        agents.add(name, resolved(file, &id, rules, faults).map(Arc::new));
    }
    agents
}

fn resolved(
    file: &File,
    id: &Member<'_>,
    rules: &BTreeMap<String, Arc<ByLanguage<String>>>,
    faults: &Faults,
) -> Option<Agent> {
    let root = file.root();
    let name = id.text()?;
    if name.trim().is_empty() {
        faults.push(id.fault("min_length", "an agent has an id, and this one is blank"));
        return None;
    }
    if base(name).is_some() {
        let message = format!("`{name}` is a built-in agent; an agent of yours needs another id");
        let hint = format!("to extend it, choose an id and say `base: {name}`");
        faults.push(id.fault("reserved_id", message).hinting(Some(hint)));
        return None;
    }
    let base = match root.get("base") {
        None => None,
        Some(chosen) => Some(chosen_base(&chosen, faults)?),
    };
    let prompt = root.get("prompt").and_then(|prompt| text(&prompt));
    let prompt = prompt.unwrap_or_else(|| ByLanguage::plain(String::new()));
    if base.is_none() && prompt.versions().any(|(_, prompt)| prompt.trim().is_empty()) {
        let message = format!("agent `{name}` has neither a base nor a prompt");
        let hint = "give it a `prompt`, or a `base` to take one from".to_owned();
        faults.push(root.fault("prompt_missing", message).hinting(Some(hint)));
    }
    let model = model(&root, name, base.is_some(), faults);
    let tools = tools(&root, base.map_or(&[], |base| base.tools), faults);
    let rules = injected(&root, rules, faults);
    if !file.is_sound(&root) {
        return None;
    }
    let mode = Mode::parse(root.text_of("mode").unwrap_or_default());
    let sections = prompt.versions().map(|(_, own)| count_sections(own)).max().unwrap_or_default();
    if mode == Mode::Patch && sections > MAX_PROMPT_SECTIONS {
        let message = format!(
            "a prompt that patches its base has at most {MAX_PROMPT_SECTIONS} sections, and this \
             one has {sections}"
        );
        let hint = "say `mode: append`, or join sections".to_owned();
        let place = root.get("prompt").unwrap_or_else(|| root.clone());
        faults.push(place.fault("too_large", message).hinting(Some(hint)));
        return None;
    }
    let config = root.get("model_config");
    let number = |key: &str| config.as_ref().and_then(|config| config.get(key));
    Some(Agent {
        id: name.to_owned(),
        description: root.owned("description")?,
        prompt: prompt.map(|own| joined(base.map_or("", |base| base.prompt), own, mode)),
        model,
        temperature: number("temperature").and_then(|it| temperature(&it, faults)),
        max_tokens: number("max_tokens").and_then(|it| max_tokens(&it, faults)),
        tools,
        skills: root.get("skills").map(|skills| once(skills.texts())).unwrap_or_default(),
        rules,
        origin: Some(root.origin()),
    })
}

fn chosen_base(member: &Member<'_>, faults: &Faults) -> Option<&'static Base> {
    let id = member.text()?;
    let found = base(id);
    if found.is_none() {
        tell_unknown("base", member, id, BASES.iter().map(|base| base.id), faults);
    }
    found
}

fn model(root: &Member<'_>, id: &str, has_base: bool, faults: &Faults) -> Option<String> {
    let name = root.get("model_config").and_then(|config| config.get("name"));
    let own = name.as_ref().and_then(Member::text).filter(|name| !name.trim().is_empty());
    let hint = || Some("say `model: override` and name it: `model_config: { name: … }`".to_owned());
    match (root.text_of("model") == Some("override"), own) {
        (true, Some(own)) => return Some(own.to_owned()),
        (true, None) => {
            let place = root.get("model").unwrap_or_else(|| root.clone());
            let message = format!("agent `{id}` overrides the model and names none");
            faults.push(place.fault("model_missing", message).hinting(hint()));
        }
        (false, _) if !has_base => {
            let message = format!("agent `{id}` has no base to take a model from, and names none");
            let place = root.get("id").unwrap_or_else(|| root.clone());
            faults.push(place.fault("model_missing", message).hinting(hint()));
        }
        (false, Some(_)) => {
            let message = "this name is not used: `model` is `inherit`";
            let fault = name.unwrap_or_else(|| root.clone()).fault("misplaced_key", message);
            faults.push(fault.warning().hinting(Some("say `model: override`".to_owned())));
        }
        (false, None) => {}
    }
    None
}

fn tools(root: &Member<'_>, base: &[Tool], faults: &Faults) -> Vec<Tool> {
    let listed = root.get("tools_list");
    let mut own = Vec::new();
    for name in listed.iter().flat_map(Member::items) {
        let Some(text) = name.text() else { continue };
        match Tool::parse(text) {
            Some(tool) => own.push(tool),
            None => {
                let tools = Tool::ALL.iter().map(|tool| tool.as_str());
                tell_unknown("tool", &name, text, tools, faults);
            }
        }
    }
    let empty = listed.as_ref().is_none_or(|listed| listed.items().is_empty());
    match (root.text_of("tools"), listed) {
        (Some(policy @ ("add" | "replace")), _) if empty => {
            let place = root.get("tools").unwrap_or_else(|| root.clone());
            let fault = place.fault("tools_missing", format!("`tools: {policy}` without a list"));
            faults.push(fault.hinting(Some("name them: `tools_list: [read, search]`".to_owned())));
            Vec::new()
        }
        (Some("add"), _) => once(base.iter().copied().chain(own).collect()),
        (Some("replace"), _) => once(own),
        (_, listed) => {
            if let Some(listed) = listed.filter(|_| !empty) {
                let message = "this list is not used: `tools` is `inherit`";
                let fault = listed.fault("misplaced_key", message).warning();
                faults.push(fault.hinting(Some("say `tools: add` or `tools: replace`".to_owned())));
            }
            base.to_vec()
        }
    }
}

fn injected(
    root: &Member<'_>,
    rules: &BTreeMap<String, Arc<ByLanguage<String>>>,
    faults: &Faults,
) -> Vec<(String, Arc<ByLanguage<String>>)> {
    let mut injected = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for name in root.get("rules").iter().flat_map(Member::items) {
        let Some(text) = name.text() else { continue };
        match rules.get_key_value(text) {
            Some((rule, content)) if seen.insert(rule) => {
                injected.push((rule.clone(), Arc::clone(content)));
            }
            Some(_) => {}
            None => {
                tell_unknown("rule", &name, text, rules.keys().map(String::as_str), faults);
            }
        }
    }
    injected
}

fn temperature(member: &Member<'_>, faults: &Faults) -> Option<f64> {
    let number = member.value.as_f64()?;
    if number < 0.0 {
        faults.push(member.bound("minimum", format!("expected at least 0, found {number}")));
    } else if number > 2.0 {
        faults.push(member.bound("maximum", format!("expected at most 2, found {number}")));
    }
    Some(number)
}

fn max_tokens(member: &Member<'_>, faults: &Faults) -> Option<u32> {
    let number = member.value.as_i64().unwrap_or(i64::MAX);
    if number < 1 {
        faults.push(member.bound("minimum", format!("expected at least 1, found {number}")));
    }
    let most = i64::from(u32::MAX);
    if number > most {
        faults.push(member.bound("maximum", format!("expected at most {most}, found more")));
    }
    u32::try_from(number).ok()
}

/// The same without doubles; the first of each stays.
fn once<T: Ord + Clone>(items: Vec<T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter(|item| seen.insert(item.clone())).collect()
}
