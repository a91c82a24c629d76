//! Renders a graph as Mermaid text: a flowchart, because its labels can contain any character.

use std::fmt::Write as _;

use super::WorkflowGraph;
use super::workflow_graph::{GraphEdge, GraphNode};
use super::wrap::wrap_text;

/// Maximum width of a label line, in columns.
const LABEL_COLUMNS: usize = 34;

/// Renders the graph. Phases are numbered, so that no phase id can break the syntax.
#[must_use]
pub fn render_mermaid(picture: &WorkflowGraph) -> String {
    let mut text = format!("---\ntitle: {}\n---\nflowchart TD\n", quote_title(&picture.title));
    text.push_str("  begin(( ))\n");
    for (index, node) in picture.nodes.iter().enumerate() {
        let (open, close) = if node.terminal { ("([", "])") } else { ("[", "]") };
        let _ = writeln!(text, "  p{index}{open}\"{}\"{close}", node_label(node));
    }
    let _ = writeln!(text, "  begin --> p0");
    let (mut taken, mut closed) = (vec![], vec![]);
    for (index, edge) in picture.edges.iter().enumerate() {
        // The start arrow is link 0.
        let link = (index + 1).to_string();
        let arrow = if edge.closed_reason.is_some() || edge.exception { "-.->" } else { "-->" };
        let label = edge_label(edge);
        let label = if label.is_empty() { String::new() } else { format!("|\"{label}\"|") };
        let _ = writeln!(text, "  p{} {arrow}{label} p{}", edge.from, edge.to);
        if edge.closed_reason.is_some() {
            closed.push(link);
        } else if edge.taken_count > 0 {
            taken.push(link);
        }
    }
    text.push_str("  classDef begin fill:#57606a,stroke:#57606a\n");
    text.push_str("  classDef visited stroke:#1a7f64,stroke-width:2px\n");
    text.push_str(
        "  classDef current fill:#1a7f64,stroke:#0f5132,stroke-width:3px,color:#ffffff\n",
    );
    text.push_str("  class begin begin\n");
    let named = |wanted: fn(&GraphNode) -> bool| -> Vec<String> {
        let nodes = picture.nodes.iter().enumerate().filter(|(_, node)| wanted(node));
        nodes.map(|(index, _)| format!("p{index}")).collect()
    };
    for (class, nodes) in [
        ("visited", named(|node| node.visited && !node.current)),
        ("current", named(|node| node.current)),
    ] {
        if !nodes.is_empty() {
            let _ = writeln!(text, "  class {} {class}", nodes.join(","));
        }
    }
    for (links, style) in
        [(taken, "stroke:#1a7f64,stroke-width:3px"), (closed, "stroke:#cf222e,color:#cf222e")]
    {
        if !links.is_empty() {
            let _ = writeln!(text, "  linkStyle {} {style}", links.join(","));
        }
    }
    text
}

fn node_label(node: &GraphNode) -> String {
    let mut lines = wrap_text(node.name.as_deref().unwrap_or(&node.id), LABEL_COLUMNS, 3)
        .iter()
        .map(|line| format!("<b>{}</b>", escape_mermaid(line)))
        .collect::<Vec<_>>();
    if node.name.is_some() {
        lines.push(escape_mermaid(&node.id));
    }
    lines.extend(node.work.as_ref().map(|work| format!("<i>{}</i>", escape_mermaid(work))));
    lines.join("<br/>")
}

fn edge_label(edge: &GraphEdge) -> String {
    let mut lines: Vec<String> = wrap_text(&edge.gate, LABEL_COLUMNS, 6);
    if edge.taken_count > 1 {
        lines.push(format!("taken {} times", edge.taken_count));
    }
    if let Some(reason) = &edge.closed_reason {
        lines.extend(wrap_text(&format!("closed: {reason}"), LABEL_COLUMNS, 6));
    }
    lines.iter().map(|line| escape_mermaid(line)).collect::<Vec<_>>().join("<br/>")
}

/// Escapes every character with a meaning in Mermaid or HTML, as Mermaid entities.
fn escape_mermaid(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '.' | ',' | '-' | '_' | '/' => {
                safe.push(character);
            }
            character if character.is_alphanumeric() || character == '…' => safe.push(character),
            other => {
                let _ = write!(safe, "#{};", u32::from(other));
            }
        }
    }
    safe
}

/// Quotes a title for YAML; a JSON string is a valid YAML string.
fn quote_title(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
