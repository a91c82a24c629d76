//! Reads the agents of a folder and merges them with their bases.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_contract::limits::MAX_PROMPT_SECTIONS;
use countersign_contract::source::ParsedSourceFile;
use serde_json::Value;

use super::builtin_agents::{BUILTIN_AGENTS, BuiltinAgent, find_builtin_agent};
use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::prompt_merge::{PromptMergeMode, count_sections, join_prompts};
use super::protocol_file::ProtocolFile;
use super::symbol_table::{SymbolTable, report_unknown_name, unknown_name_diagnostic};
use crate::{
    AgentSkill, AgentTool, Localized, McpServerDefinition, McpToolSelector, ResolvedAgent,
    SkillDefinition,
};

/// The texts that agents name: rules and skills.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentTexts<'t> {
    pub(super) rules: &'t BTreeMap<String, Arc<Localized<String>>>,
    pub(super) skills: &'t SymbolTable<Arc<SkillDefinition>>,
}

/// Resolves every agent, and adds the built-in agents under their plain ids.
pub(super) fn read_agents(
    files: &[ProtocolFile],
    texts: AgentTexts<'_>,
    servers: &SymbolTable<McpServerDefinition>,
    faults: &LoadDiagnostics,
) -> SymbolTable<Arc<ResolvedAgent>> {
    let mut agents = SymbolTable::new("agent");
    agents.entries = super::builtin_agents::resolve_builtin_agents();
    let mut seen: BTreeMap<&str, FileNode<'_>> = BTreeMap::new();
    for file in files {
        let root = file.root();
        let Some(id) = root.get("id").filter(|id| file.is_valid(id)) else { continue };
        let Some(name) = id.text() else { continue };
        if let Some(first) = seen.get(name) {
            faults.push_with("duplicate_id", &id, || {
                let message =
                    format!("agent `{name}` is already defined at {}", first.format_location());
                id.diagnose("duplicate_id", message)
            });
            continue;
        }
        seen.insert(name, id.clone());
        agents.add(name, resolve_agent(file, &id, texts, servers, faults).map(Arc::new));
    }
    agents
}

fn resolve_agent(
    file: &ProtocolFile,
    id: &FileNode<'_>,
    texts: AgentTexts<'_>,
    servers: &SymbolTable<McpServerDefinition>,
    faults: &LoadDiagnostics,
) -> Option<ResolvedAgent> {
    let root = file.root();
    let name = id.text()?;
    if name.trim().is_empty() {
        faults.push(id.diagnose("min_length", "an agent needs an id, and this one is blank"));
        return None;
    }
    if find_builtin_agent(name).is_some() {
        let message = format!("`{name}` is a built-in agent; your agent needs another id");
        let hint = format!("to extend it, choose an id and set `base: {name}`");
        faults.push(id.diagnose("reserved_id", message).with_hint(Some(hint)));
        return None;
    }
    let base = match root.get("base") {
        None => None,
        Some(chosen) => Some(resolve_base(&chosen, faults)?),
    };
    let prompt = read_prompt(&root, faults);
    if base.is_none() && prompt.versions().any(|(_, prompt)| prompt.trim().is_empty()) {
        let message = format!("agent `{name}` has neither a base nor a prompt");
        let hint = "add a `prompt`, or a `base` that has one".to_owned();
        faults.push(root.diagnose("prompt_missing", message).with_hint(Some(hint)));
    }
    let model = read_model(&root, name, base.is_some(), faults);
    let AgentTools { own: tools, mcp: mcp_tools, foreign: foreign_tools } =
        read_tools(&root, base.map_or(&[], |base| base.tools), servers, faults);
    let rules = resolve_rules(&root, texts.rules, faults);
    if !file.is_valid(&root) {
        return None;
    }
    let mode = PromptMergeMode::parse(root.text_at("mode").unwrap_or_default());
    let sections = prompt.versions().map(|(_, own)| count_sections(own)).max().unwrap_or_default();
    if mode == PromptMergeMode::Patch && sections > MAX_PROMPT_SECTIONS {
        let message = format!(
            "a prompt that patches its base may have at most {MAX_PROMPT_SECTIONS} sections, and this one has {sections}"
        );
        let hint = "use `mode: append`, or merge sections".to_owned();
        let node = root.get("prompt").unwrap_or_else(|| root.clone());
        faults.push(node.diagnose("too_large", message).with_hint(Some(hint)));
        return None;
    }
    let config = root.get("model_config");
    let number = |key: &str| config.as_ref().and_then(|config| config.get(key));
    Some(ResolvedAgent {
        id: name.to_owned(),
        description: root.string_at("description")?,
        prompt: prompt.map(|own| join_prompts(base.map_or("", |base| base.prompt), own, mode)),
        model,
        temperature: number("temperature").and_then(|it| read_temperature(&it, faults)),
        max_tokens: number("max_tokens").and_then(|it| read_max_tokens(&it, faults)),
        tools,
        mcp_tools,
        foreign_tools,
        skills: read_agent_skills(&root, texts.skills),
        rules,
        origin: Some(root.origin()),
    })
}

/// Reads the prompt with its translations. The prompt itself has no language tag.
fn read_prompt(root: &FileNode<'_>, faults: &LoadDiagnostics) -> Localized<String> {
    let plain = root.string_at("prompt");
    let others = root.get("translations");
    if let (None, Some(others)) = (&plain, &others) {
        let message = "`translations` are versions of `prompt`, and this agent has no `prompt`";
        faults.push(others.diagnose("prompt_missing", message));
    }
    let plain = (String::new(), plain.unwrap_or_default());
    let others = others.iter().flat_map(FileNode::entries);
    let others =
        others.filter_map(|(language, text)| Some((language.to_owned(), text.text()?.to_owned())));
    let versions = std::iter::once(plain).chain(others).collect();
    Localized::from_versions(versions).expect("the prompt itself is one of them")
}

/// Reports a prompt that is a table of languages, and keeps its first version.
pub(super) fn replace_prompt_table(tree: &mut ParsedSourceFile, faults: &LoadDiagnostics) {
    let Some(Value::Object(versions)) = tree.value.get("prompt") else { return };
    let first = versions.values().next().and_then(Value::as_str).unwrap_or_default().to_owned();
    let message = "`prompt` is one text; its versions in other languages are in `translations`";
    let hint = "write `prompt: …` and `translations: { ru: … }`".to_owned();
    faults.push(tree.diagnose("misplaced_key", "/prompt", message).with_hint(Some(hint)));
    tree.value["prompt"] = Value::String(first);
}

fn resolve_base(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<&'static BuiltinAgent> {
    let id = member.text()?;
    let found = find_builtin_agent(id);
    if found.is_none() {
        report_unknown_name("base", member, id, BUILTIN_AGENTS.iter().map(|base| base.id), faults);
    }
    found
}

fn read_model(
    root: &FileNode<'_>,
    id: &str,
    has_base: bool,
    faults: &LoadDiagnostics,
) -> Option<String> {
    let name = root.get("model_config").and_then(|config| config.get("name"));
    let own = name.as_ref().and_then(FileNode::text).filter(|name| !name.trim().is_empty());
    let hint =
        || Some("set `model: override` and name the model: `model_config: { name: … }`".to_owned());
    match (root.text_at("model") == Some("override"), own) {
        (true, Some(own)) => return Some(own.to_owned()),
        (true, None) => {
            let node = root.get("model").unwrap_or_else(|| root.clone());
            let message = format!("agent `{id}` overrides the model but names none");
            faults.push(node.diagnose("model_missing", message).with_hint(hint()));
        }
        (false, _) if !has_base => {
            let message =
                format!("agent `{id}` has no base to inherit a model from, and names none");
            let node = root.get("id").unwrap_or_else(|| root.clone());
            faults.push(node.diagnose("model_missing", message).with_hint(hint()));
        }
        (false, Some(_)) => {
            let message = "this name is not used: `model` is `inherit`";
            let fault = name.unwrap_or_else(|| root.clone()).diagnose("misplaced_key", message);
            faults.push(fault.into_warning().with_hint(Some("set `model: override`".to_owned())));
        }
        (false, None) => {}
    }
    None
}

/// Reads the skills that an agent names, each once.
fn read_agent_skills(
    root: &FileNode<'_>,
    skills: &SymbolTable<Arc<SkillDefinition>>,
) -> Vec<AgentSkill> {
    let names = root.get("skills").map(|skills| dedup_in_order(skills.texts()));
    let find = |name: String| {
        let definition = skills.entries.get(&name).map(Arc::clone);
        AgentSkill { name, definition }
    };
    names.into_iter().flatten().map(find).collect()
}

/// Reports the tools and skills of agents that only a coding agent can have. It is an error if a
/// phase uses the agent, because its model would not have them.
pub(super) fn report_foreign_names(
    agents: &SymbolTable<Arc<ResolvedAgent>>,
    skills: &SymbolTable<Arc<SkillDefinition>>,
    used: &BTreeSet<&str>,
    faults: &LoadDiagnostics,
) {
    let known_skills: Vec<&str> = skills.entries.keys().map(String::as_str).collect();
    for agent in agents.entries.values() {
        let Some(origin) = &agent.origin else { continue };
        let is_used = used.contains(agent.id.as_str());
        let report = |kind: &str, key: &str, mut names: BTreeSet<&str>, known: &[&str]| {
            let listed = FileNode::root(&origin.tree).get(key);
            for item in listed.iter().flat_map(FileNode::items) {
                let Some(name) = item.text().filter(|name| names.remove::<str>(name)) else {
                    continue;
                };
                let code = format!("unknown_{kind}");
                let fault = if faults.is_full(&code) {
                    item.diagnose(&code, "")
                } else {
                    unknown_name_diagnostic(kind, &item, name, known.iter().copied())
                };
                faults.push(if is_used { fault } else { fault.into_warning() });
            }
        };
        let tools = AgentTool::ALL.map(|tool| tool.as_str());
        let foreign = agent.foreign_tools.iter().map(String::as_str);
        report("tool", "tools_list", foreign.collect(), &tools);
        let unknown = agent.skills.iter().filter(|skill| skill.definition.is_none());
        let unknown = unknown.map(|skill| skill.name.as_str());
        let unknown: BTreeSet<&str> =
            unknown.filter(|name| !skills.broken.contains(*name)).collect();
        if !unknown.is_empty() {
            report("skill", "skills", unknown, &known_skills);
        }
    }
}

/// The tools of an agent, by who has them.
#[derive(Default)]
struct AgentTools {
    own: Vec<AgentTool>,
    mcp: Vec<McpToolSelector>,
    foreign: Vec<String>,
}

fn read_tools(
    root: &FileNode<'_>,
    base: &[AgentTool],
    servers: &SymbolTable<McpServerDefinition>,
    faults: &LoadDiagnostics,
) -> AgentTools {
    let listed = root.get("tools_list");
    let (mut own, mut selectors, mut foreign) = (Vec::new(), Vec::new(), Vec::new());
    for name in listed.iter().flat_map(FileNode::items) {
        let Some(text) = name.text() else { continue };
        match (AgentTool::parse(text), McpToolSelector::parse(text)) {
            (Some(tool), _) => own.push(tool),
            (None, Some(selector)) => {
                check_mcp_selector(&name, &selector, servers, faults);
                selectors.push(selector);
            }
            (None, None) => foreign.push(text.to_owned()),
        }
    }
    let empty = listed.as_ref().is_none_or(|listed| listed.items().is_empty());
    match (root.text_at("tools"), listed) {
        (Some(policy @ ("add" | "replace")), _) if empty => {
            let node = root.get("tools").unwrap_or_else(|| root.clone());
            let fault = node.diagnose("tools_missing", format!("`tools: {policy}` needs a list"));
            faults
                .push(fault.with_hint(Some("list them: `tools_list: [read, search]`".to_owned())));
            AgentTools::default()
        }
        (Some(policy @ ("add" | "replace")), _) => {
            let kept = if policy == "add" { base } else { &[] };
            AgentTools {
                own: dedup_in_order(kept.iter().copied().chain(own).collect()),
                mcp: dedup_in_order(selectors),
                foreign: dedup_in_order(foreign),
            }
        }
        (_, listed) => {
            if let Some(listed) = listed.filter(|_| !empty) {
                let message = "this list is not used: `tools` is `inherit`";
                let fault = listed.diagnose("misplaced_key", message).into_warning();
                faults
                    .push(fault.with_hint(Some("set `tools: add` or `tools: replace`".to_owned())));
            }
            AgentTools { own: base.to_vec(), ..AgentTools::default() }
        }
    }
}

/// Reports a server that the policy does not declare, and a tool that it does not allow.
fn check_mcp_selector(
    name: &FileNode<'_>,
    selector: &McpToolSelector,
    servers: &SymbolTable<McpServerDefinition>,
    faults: &LoadDiagnostics,
) {
    let McpToolSelector { server, tool } = selector;
    let Some(declared) = servers.entries.get(server) else {
        if !servers.unread && !servers.broken.contains(server) {
            let names = servers.entries.keys().chain(&servers.broken).map(String::as_str);
            report_unknown_name(servers.kind, name, server, names, faults);
        }
        return;
    };
    if let Some((tool, tools)) = tool.as_ref().zip(declared.tools.as_ref())
        && !declared.allows_tool(tool)
    {
        report_unknown_name("MCP tool", name, tool, tools.iter().map(String::as_str), faults);
    }
}

fn resolve_rules(
    root: &FileNode<'_>,
    rules: &BTreeMap<String, Arc<Localized<String>>>,
    faults: &LoadDiagnostics,
) -> Vec<(String, Arc<Localized<String>>)> {
    let mut injected = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for name in root.get("rules").iter().flat_map(FileNode::items) {
        let Some(text) = name.text() else { continue };
        match rules.get_key_value(text) {
            Some((rule, content)) if seen.insert(rule) => {
                injected.push((rule.clone(), Arc::clone(content)));
            }
            Some(_) => {}
            None => {
                report_unknown_name("rule", &name, text, rules.keys().map(String::as_str), faults);
            }
        }
    }
    injected
}

fn read_temperature(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<f64> {
    let number = member.value.as_f64()?;
    if number < 0.0 {
        faults
            .push(member.diagnose_bound("minimum", format!("expected at least 0, found {number}")));
    } else if number > 2.0 {
        faults
            .push(member.diagnose_bound("maximum", format!("expected at most 2, found {number}")));
    }
    Some(number)
}

fn read_max_tokens(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<u32> {
    let number = member.value.as_i64().unwrap_or(i64::MAX);
    if number < 1 {
        faults
            .push(member.diagnose_bound("minimum", format!("expected at least 1, found {number}")));
    }
    let most = i64::from(u32::MAX);
    if number > most {
        faults
            .push(member.diagnose_bound("maximum", format!("expected at most {most}, found more")));
    }
    u32::try_from(number).ok()
}

/// Removes duplicates and keeps the first of each.
fn dedup_in_order<T: Ord + Clone>(items: Vec<T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter(|item| seen.insert(item.clone())).collect()
}
