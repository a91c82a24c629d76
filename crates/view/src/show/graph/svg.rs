//! Renders a graph as SVG, without scripts, fonts or external resources, in light or dark mode as
//! the viewer prefers.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::WorkflowGraph;
use super::layout::{GraphLayout, GraphPoint, GraphSize, LayoutInput, SELF_LOOP_WIDTH};
use super::style::STYLE;
use super::workflow_graph::{GraphEdge, GraphNode};
use super::wrap::wrap_text;

/// Maximum width of text lines, in columns.
const NODE_COLUMNS: usize = 26;
const LABEL_COLUMNS: usize = 24;

/// Maximum number of lines of a label; the title of the edge has the whole text.
const LABEL_LINES: usize = 2;

/// Width of a column and height of a line, in pixels.
const NAME_CELL: (f64, f64) = (8.4, 18.0);
const SMALL_CELL: (f64, f64) = (6.4, 14.0);

/// Renders the graph as an SVG document.
#[must_use]
pub fn render_svg(picture: &WorkflowGraph) -> String {
    let texts: Vec<NodeText> = picture.nodes.iter().map(NodeText::from_node).collect();
    let edges = picture.join_parallel_edges();
    let labels: Vec<EdgeLabel> = edges.iter().map(EdgeLabel::from_edge).collect();
    let nodes: Vec<GraphSize> = texts.iter().map(NodeText::measure).collect();
    let label_sizes: Vec<GraphSize> = labels.iter().map(EdgeLabel::measure).collect();
    let ends: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let mut beside = vec![GraphSize::default(); nodes.len()];
    for ((from, to), label) in ends.iter().zip(&label_sizes) {
        if from == to {
            let room = &mut beside[*from];
            room.width = room.width.max(SELF_LOOP_WIDTH + label.width);
            room.height = room.height.max(label.height);
        }
    }
    let layout = GraphLayout::compute(&LayoutInput {
        nodes: &nodes,
        edges: &ends,
        labels: &label_sizes,
        self_loops: &beside,
    });
    let title_width = picture.title.width() as f64 * 7.6 + 40.0;
    let (width, height) = (layout.size.width.max(title_width), layout.size.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<rect class=\"ground\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n<text class=\"title\" x=\"16\" y=\"22\">{}</text>\n",
        escape_xml(&picture.title),
        escape_xml(&picture.title),
    );
    draw_start(&mut text, &layout, &nodes);
    // Draw faint edges first, so that the taken ones are on top.
    let mut drawn: Vec<usize> = (0..edges.len()).collect();
    drawn.sort_by_key(|edge| (edges[*edge].taken_count > 0, *edge));
    for edge in drawn {
        let (transition, label) = (&edges[edge], &labels[edge]);
        let loop_at = (transition.from == transition.to)
            .then(|| (layout.nodes[transition.from], nodes[transition.from]));
        let path = &layout.paths[edge];
        draw_edge(
            &mut text,
            transition,
            label,
            (path, layout.labels[edge], loop_at),
            picture.shows_run,
        );
    }
    for (index, node) in picture.nodes.iter().enumerate() {
        draw_node(
            &mut text,
            node,
            &texts[index],
            (layout.nodes[index], nodes[index]),
            picture.shows_run,
        );
    }
    text.push_str("</svg>\n");
    text
}

/// The text lines of a node.
struct NodeText {
    name_lines: Vec<String>,
    detail_lines: Vec<String>,
}

impl NodeText {
    fn from_node(node: &GraphNode) -> Self {
        let name_lines = wrap_text(node.name.as_deref().unwrap_or(&node.id), NODE_COLUMNS, 3);
        let mut detail_lines = Vec::new();
        if node.name.is_some() {
            detail_lines.extend(wrap_text(&node.id, NODE_COLUMNS + 6, 2));
        }
        detail_lines.extend(node.work.iter().flat_map(|work| wrap_text(work, NODE_COLUMNS + 6, 2)));
        Self { name_lines, detail_lines }
    }

    fn measure(&self) -> GraphSize {
        let widest = |lines: &[String]| lines.iter().map(|line| line.width()).max().unwrap_or(0);
        let width = (widest(&self.name_lines) as f64 * NAME_CELL.0)
            .max(widest(&self.detail_lines) as f64 * SMALL_CELL.0);
        let height = self.name_lines.len() as f64 * NAME_CELL.1
            + self.detail_lines.len() as f64 * SMALL_CELL.1;
        GraphSize { width: (width + 32.0).max(96.0), height: height + 18.0 }
    }
}

/// The text lines of an edge: its gate, and why the gate is closed.
struct EdgeLabel {
    gate_lines: Vec<String>,
    closed_lines: Vec<String>,
}

impl EdgeLabel {
    fn from_edge(edge: &GraphEdge) -> Self {
        let mut gate_lines = match edge.parallel {
            1 => wrap_text(&edge.gate, LABEL_COLUMNS, LABEL_LINES),
            several => vec![format!("one of {several} conditions")],
        };
        if edge.taken_count > 1 {
            gate_lines.push(format!("taken {} times", edge.taken_count));
        }
        let closed_lines = edge.closed_reason.as_ref().map_or_else(Vec::new, |reason| {
            wrap_text(&format!("closed: {reason}"), LABEL_COLUMNS, LABEL_LINES)
        });
        Self { gate_lines, closed_lines }
    }

    fn measure(&self) -> GraphSize {
        let lines = self.gate_lines.iter().chain(&self.closed_lines);
        let widest = lines.clone().map(|line| line.width()).max().unwrap_or(0);
        match lines.count() {
            0 => GraphSize::default(),
            count => GraphSize {
                width: widest as f64 * SMALL_CELL.0 + 10.0,
                height: count as f64 * SMALL_CELL.1 + 4.0,
            },
        }
    }
}

/// Draws the dot above the first phase and the arrow into it.
fn draw_start(text: &mut String, layout: &GraphLayout, nodes: &[GraphSize]) {
    let (Some(first), Some(size)) = (layout.nodes.first(), nodes.first()) else { return };
    let top = GraphPoint { x: first.x, y: first.y - size.height / 2.0 };
    let _ = writeln!(
        text,
        "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{dot:.1}\" r=\"5\"/><path class=\"way\" d=\"M{x:.1} {dot:.1}L{x:.1} {end:.1}\"/>{tip}",
        x = top.x,
        dot = top.y - 30.0,
        end = top.y - 8.0,
        tip = arrow_head(top, GraphPoint { x: top.x, y: top.y - 1.0 }),
    );
}

fn draw_node(
    text: &mut String,
    node: &GraphNode,
    lines: &NodeText,
    at: (GraphPoint, GraphSize),
    of_run: bool,
) {
    let (GraphPoint { x, y }, GraphSize { width, height }) = at;
    let mut class = String::from("phase");
    for (name, holds) in [
        ("visited", node.visited),
        ("current", node.current),
        ("untouched", of_run && !node.visited),
    ] {
        if holds {
            class = format!("{class} {name}");
        }
    }
    let (left, top) = (x - width / 2.0, y - height / 2.0);
    let _ = write!(
        text,
        "<g class=\"{class}\" data-phase=\"{}\"><title>{}</title>",
        escape_xml(&node.id),
        escape_xml(&node_title(node))
    );
    let _ = write!(
        text,
        "<rect class=\"box\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{}\"/>",
        if node.terminal { height / 2.0 } else { 8.0 }
    );
    if node.terminal {
        let _ = write!(
            text,
            "<rect class=\"inner\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{:.1}\"/>",
            left + 4.0,
            top + 4.0,
            width - 8.0,
            height - 8.0,
            (height - 8.0) / 2.0
        );
    }
    let mut baseline = top + 9.0;
    for (lines, class, step) in
        [(&lines.name_lines, "name", NAME_CELL.1), (&lines.detail_lines, "small", SMALL_CELL.1)]
    {
        for line in lines {
            let _ = write!(
                text,
                "<text class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                baseline + step * 0.76,
                escape_xml(line)
            );
            baseline += step;
        }
    }
    text.push_str("</g>\n");
}

fn node_title(node: &GraphNode) -> String {
    let mut title = node.name.clone().unwrap_or_else(|| node.id.clone());
    if let Some(description) = &node.description {
        title = format!("{title}\n{description}");
    }
    if node.current {
        title.push_str("\nthe current phase of the run");
    }
    title
}

fn draw_edge(
    text: &mut String,
    edge: &GraphEdge,
    label: &EdgeLabel,
    (path, label_at, loop_at): (&[GraphPoint], GraphPoint, Option<(GraphPoint, GraphSize)>),
    of_run: bool,
) {
    let touched = edge.taken_count > 0 || edge.closed_reason.is_some();
    let mut class = String::from("edge");
    for (name, holds) in [
        ("exception", edge.exception),
        ("taken", edge.taken_count > 0),
        ("closed", edge.closed_reason.is_some()),
        ("untouched", of_run && !touched),
    ] {
        if holds {
            class = format!("{class} {name}");
        }
    }
    let mut title = edge.describe();
    if let Some(reason) = &edge.closed_reason {
        title = format!("{title}\nclosed: {reason}");
    }
    let (line, tip) = match loop_at {
        Some(node) => loop_path(node),
        None => curve_path(path),
    };
    let _ = write!(
        text,
        "<g class=\"{class}\"><title>{}</title><path class=\"way\" d=\"{line}\"/>{tip}",
        escape_xml(&title)
    );
    let GraphSize { width, height } = label.measure();
    if height > 0.0 {
        let _ = write!(
            text,
            "<rect class=\"plate\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"4\"/>",
            label_at.x - width / 2.0,
            label_at.y - height / 2.0
        );
    }
    let mut baseline = label_at.y - height / 2.0 + 2.0;
    for (lines, class) in [(&label.gate_lines, "label"), (&label.closed_lines, "label why")] {
        for line in lines {
            let _ = write!(
                text,
                "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                label_at.x,
                baseline + SMALL_CELL.1 * 0.76,
                escape_xml(line)
            );
            baseline += SMALL_CELL.1;
        }
    }
    text.push_str("</g>\n");
}

/// Returns a smooth path through the points, and its arrow head. The path leaves and enters each
/// point vertically.
fn curve_path(points: &[GraphPoint]) -> (String, String) {
    let ([first, ..], [.., before, last]) = (points, points) else { return Default::default() };
    // The line ends where the arrow head begins.
    let upright = if last.y >= before.y { -8.0 } else { 8.0 };
    let end = GraphPoint { x: last.x, y: last.y + upright };
    let mut line = format!("M{:.1} {:.1}", first.x, first.y);
    let mut from = *first;
    for (index, point) in points.iter().enumerate().skip(1) {
        let to = if index + 1 == points.len() { end } else { *point };
        let middle = f64::midpoint(from.y, to.y);
        let _ = write!(
            line,
            "C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}",
            from.x, to.x, to.x, to.y
        );
        from = to;
    }
    (line, arrow_head(*last, GraphPoint { x: last.x, y: last.y + upright }))
}

/// Returns the path of a self-loop, out to the right and back.
fn loop_path((at, size): (GraphPoint, GraphSize)) -> (String, String) {
    let right = at.x + size.width / 2.0;
    let (high, low) = (at.y - size.height * 0.26, at.y + size.height * 0.26);
    let out = right + SELF_LOOP_WIDTH;
    let end = right + 8.0;
    let line = format!(
        "M{right:.1} {high:.1}C{out:.1} {:.1} {out:.1} {:.1} {end:.1} {low:.1}",
        high - 6.0,
        low + 6.0
    );
    (line, arrow_head(GraphPoint { x: right, y: low }, GraphPoint { x: right + 1.0, y: low }))
}

/// Returns a triangle whose tip is at `to`, for a line that comes from `from`.
fn arrow_head(to: GraphPoint, from: GraphPoint) -> String {
    const LONG: f64 = 9.0;
    const WIDE: f64 = 4.5;
    let (dx, dy) = (from.x - to.x, from.y - to.y);
    let length = dx.hypot(dy).max(0.001);
    let (dx, dy) = (dx / length, dy / length);
    format!(
        "<path class=\"tip\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
        to.x,
        to.y,
        to.x + dx * LONG - dy * WIDE,
        to.y + dy * LONG + dx * WIDE,
        to.x + dx * LONG + dy * WIDE,
        to.y + dy * LONG - dx * WIDE,
    )
}

fn escape_xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML allows no other control characters, not even escaped.
            character if character.is_control() && character != '\n' => safe.push(' '),
            character => safe.push(character),
        }
    }
    safe
}
