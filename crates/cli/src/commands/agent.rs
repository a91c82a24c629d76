//! `countersign agent`: lists the agents of a protocol, and shows one as it is resolved.

use std::path::Path;
use std::sync::Arc;

use countersign_protocol::{Protocol, ResolvedAgent};
use countersign_view::protocol_catalog::describe_unknown_name;
use countersign_view::wire::AgentView;
use serde_json::json;

use crate::args::{AgentArgs, AgentCommand, StoreArgs};
use crate::context::{find_nearest_protocol, load_protocol_folder, resolve_protocol_folder};
use crate::exit::{CliError, CliExit};
use crate::settings::CliSettings;
use crate::{output, table};

pub(super) fn run(args: &AgentArgs, json: bool) -> Result<CliExit, CliError> {
    let (AgentCommand::List { store_args } | AgentCommand::Show { store_args, .. }) = &args.command;
    let protocol = load_protocol(store_args)?;
    match &args.command {
        AgentCommand::List { .. } => list_agents(&protocol, json),
        AgentCommand::Show { name, skill, .. } => {
            show_agent(&protocol, name, skill.as_deref(), json)?;
        }
    }
    Ok(CliExit::Success)
}

/// Loads the protocol that the settings name, or the nearest one.
fn load_protocol(args: &StoreArgs) -> Result<Arc<Protocol>, CliError> {
    let here = Path::new(".");
    let whole = here
        .canonicalize()
        .map_err(|source| CliError::Unreadable { what: "this folder".to_owned(), source })?;
    let settings = CliSettings::load(&whole, args, None)?;
    let folder = match settings.protocol.value.as_deref() {
        Some(named) => resolve_protocol_folder(Path::new(named))?,
        None => find_nearest_protocol(here)?,
    };
    Ok(load_protocol_folder(&folder)?.0)
}

fn list_agents(protocol: &Protocol, json: bool) {
    let views = protocol.agents.values().map(|agent| AgentView::from_agent(protocol, agent, None));
    if json {
        output::print_json(&json!(views.collect::<Vec<_>>()));
        return;
    }
    let row = |view: AgentView| {
        let phases = if view.phases.is_empty() { "-".to_owned() } else { view.phases.join(", ") };
        [view.id, view.model.unwrap_or_else(|| "-".to_owned()), phases, view.description]
    };
    let rows: Vec<[String; 4]> = views.map(row).collect();
    output::print_data(&table::render_table(["AGENT", "MODEL", "PHASES", "DESCRIPTION"], &rows));
}

fn show_agent(
    protocol: &Protocol,
    name: &str,
    skill: Option<&str>,
    json: bool,
) -> Result<(), CliError> {
    let agent = protocol.agents.get(name).ok_or_else(|| {
        let known = protocol.agents.keys().map(String::as_str);
        CliError::Usage(describe_unknown_name("agent", name, known))
    })?;
    if let Some(skill) = skill.filter(|skill| agent.find_skill(skill).is_none()) {
        return Err(CliError::Usage(describe_unknown_name(
            "skill",
            skill,
            agent.list_readable_skills(),
        )));
    }
    let view = AgentView::from_agent(protocol, agent, skill);
    if json {
        output::print_json(&json!(view));
    } else if let Some(text) = skill.and_then(|skill| agent.find_skill(skill)) {
        output::print_data(&format!("{}\n", text.text));
    } else {
        output::print_data(&render_agent(agent, &view));
    }
    Ok(())
}

fn render_agent(agent: &ResolvedAgent, view: &AgentView) -> String {
    let list = |names: &[String]| {
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let model = match (&view.model, &view.model_name) {
        (Some(model), Some(name)) if model != name => format!("{model} (named {name})"),
        (Some(model), _) => model.clone(),
        (None, _) => "none; name one with --model".to_owned(),
    };
    let mut rows = vec![("description", view.description.clone())];
    rows.extend(view.base.clone().map(|base| ("base", base)));
    rows.push(("model", model));
    rows.extend(view.temperature.map(|value| ("temperature", value.to_string())));
    rows.extend(view.max_tokens.map(|value| ("max tokens", value.to_string())));
    rows.push(("tools", list(&view.tools)));
    if !view.mcp_tools.is_empty() {
        rows.push(("MCP tools", list(&view.mcp_tools)));
    }
    if !view.foreign_tools.is_empty() {
        rows.push(("other tools", format!("{} (of a coding agent)", list(&view.foreign_tools))));
    }
    rows.push(("phases", list(&view.phases)));
    let mut text = format!("{}\n", view.id);
    for (label, value) in rows {
        text.push_str(&format!("  {label:<12} {value}\n"));
    }
    for skill in &view.skills {
        let description = skill.description.as_deref().unwrap_or("not in this protocol");
        text.push_str(&format!("\n## Skill: {}\n\n{description}\n", skill.name));
    }
    for (language, prompt) in agent.prompt.versions() {
        let heading =
            if language.is_empty() { "Prompt".to_owned() } else { format!("Prompt ({language})") };
        text.push_str(&format!("\n## {heading}\n\n{}\n", prompt.trim_end()));
    }
    for rule in &view.rules {
        text.push_str(&format!("\n## Rule: {}\n\n{}\n", rule.name, rule.text.trim_end()));
    }
    text
}
