//! Computes the positions of all elements in pixels, as close to their neighbours as order and gaps
//! allow.

use super::layers::{LayeredGraph, LayoutNode, mean_position};

/// The size of an element, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct GraphSize {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A position in pixels; for a box, its centre.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct GraphPoint {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A finished layout of a graph.
#[derive(Debug)]
pub(super) struct GraphLayout {
    pub(super) size: GraphSize,
    pub(super) nodes: Vec<GraphPoint>,
    /// The points of each edge from its start to its end; empty for a self-loop.
    pub(super) paths: Vec<Vec<GraphPoint>>,
    pub(super) labels: Vec<GraphPoint>,
}

/// The sizes and edges to lay out.
pub(super) struct LayoutInput<'b> {
    pub(super) nodes: &'b [GraphSize],
    pub(super) edges: &'b [(usize, usize)],
    pub(super) labels: &'b [GraphSize],
    /// The space to the right of each node for its self-loops.
    pub(super) self_loops: &'b [GraphSize],
}

const GAP_X: f64 = 22.0;
const GAP_Y: f64 = 26.0;
const WAYPOINT_WIDTH: f64 = 14.0;
/// How strongly a long edge is pulled towards its ends.
const STRAIGHTENING_PULL: f64 = 0.06;
const MARGIN: f64 = 24.0;
const PLACEMENT_ROUNDS: usize = 80;
/// The space above the first layer, for the title and the start arrow.
const TOP_MARGIN: f64 = 72.0;

impl GraphLayout {
    /// Computes the layout from top to bottom.
    pub(super) fn compute(boxes: &LayoutInput<'_>) -> Self {
        let order = LayeredGraph::build(boxes.nodes.len(), boxes.edges);
        let extent: Vec<NodeExtent> =
            order.nodes.iter().map(|room| measure_extent(*room, boxes)).collect();
        let x = place_horizontally(&order, &extent);
        let (y, band) = place_vertically(&order, &extent);
        let at = |room: usize| GraphPoint { x: x[room], y: y[room] };
        let nodes: Vec<GraphPoint> = (0..boxes.nodes.len()).map(at).collect();
        let mut labels = vec![GraphPoint::default(); boxes.edges.len()];
        for (room, kind) in order.nodes.iter().enumerate() {
            if let LayoutNode::Label(edge) = kind {
                labels[*edge] = at(room);
            }
        }
        for (edge, (from, to)) in boxes.edges.iter().enumerate() {
            if from == to {
                let right = nodes[*from].x + boxes.nodes[*from].width / 2.0;
                let inside =
                    boxes.self_loops[*from].width - SELF_LOOP_WIDTH - boxes.labels[edge].width;
                let x = right + SELF_LOOP_WIDTH + boxes.labels[edge].width / 2.0;
                labels[edge] = GraphPoint { x: x + inside.min(0.0), y: nodes[*from].y };
            }
        }
        let paths = route_edges(&order, boxes, &nodes, &at, &band);
        let far = |edge: fn((f64, f64, &NodeExtent)) -> f64| {
            let rooms = x.iter().zip(&y).zip(&extent);
            rooms.map(|((x, y), room)| edge((*x, *y, room))).fold(0.0, f64::max)
        };
        let width = far(|(x, _, room)| x + room.right);
        let height = far(|(_, y, room)| y + room.height / 2.0);
        let size = GraphSize { width: width + MARGIN, height: height + MARGIN };
        Self { size, nodes, paths, labels }
    }
}

/// How far a self-loop extends to the right before its label.
pub(super) const SELF_LOOP_WIDTH: f64 = 34.0;

/// The space that a node takes up on both sides of its centre.
#[derive(Debug, Clone, Copy)]
struct NodeExtent {
    left: f64,
    right: f64,
    height: f64,
}

fn measure_extent(room: LayoutNode, boxes: &LayoutInput<'_>) -> NodeExtent {
    match room {
        LayoutNode::Node(node) => {
            let (own, beside) = (boxes.nodes[node], boxes.self_loops[node]);
            let half = own.width / 2.0;
            NodeExtent {
                left: half,
                right: half + beside.width,
                height: own.height.max(beside.height),
            }
        }
        LayoutNode::Label(edge) => {
            let half = boxes.labels[edge].width.max(WAYPOINT_WIDTH) / 2.0;
            NodeExtent { left: half, right: half, height: boxes.labels[edge].height }
        }
        LayoutNode::Waypoint(_) => {
            NodeExtent { left: WAYPOINT_WIDTH / 2.0, right: WAYPOINT_WIDTH / 2.0, height: 0.0 }
        }
    }
}

/// Returns the vertical centre and the height of each node's layer. A layer is as high as its
/// highest node.
fn place_vertically(order: &LayeredGraph, extent: &[NodeExtent]) -> (Vec<f64>, Vec<f64>) {
    let (mut y, mut band) = (vec![0.0; order.nodes.len()], vec![0.0; order.nodes.len()]);
    let mut top = TOP_MARGIN;
    for layer in &order.layers {
        let height = layer.iter().map(|room| extent[*room].height).fold(0.0, f64::max);
        for room in layer {
            (y[*room], band[*room]) = (top + height / 2.0, height);
        }
        top += height + GAP_Y;
    }
    (y, band)
}

/// Places each node as close as possible to the mean of its neighbours, layer by layer, downward
/// and upward; then straightens the edges that pass through many layers.
fn place_horizontally(order: &LayeredGraph, extent: &[NodeExtent]) -> Vec<f64> {
    let (above, below) = order.compute_neighbours();
    let mut along_way: Vec<&[usize]> = vec![&[]; order.nodes.len()];
    for chain in &order.chains {
        let between = chain.iter().skip(1).take(chain.len().saturating_sub(2));
        between.for_each(|room| along_way[*room] = chain);
    }
    let mut x = vec![0.0; order.nodes.len()];
    for layer in &order.layers {
        let wished = vec![0.0; layer.len()];
        resolve_overlaps(layer, &wished, extent, &mut x);
    }
    for round in 0..PLACEMENT_ROUNDS {
        let (downward, straight) = (round % 2 == 0, round >= PLACEMENT_ROUNDS / 4);
        let mut layers: Vec<&Vec<usize>> = order.layers.iter().collect();
        if !downward {
            layers.reverse();
        }
        for layer in layers {
            let near = if downward { &above } else { &below };
            let other = if downward { &below } else { &above };
            let wished: Vec<f64> = layer
                .iter()
                .map(|room| {
                    let wish = match along_way[*room] {
                        [first, between @ .., last] if straight && between.len() > 1 => {
                            let ends = f64::midpoint(x[*first], x[*last]);
                            mean_position(between, &x)
                                .map(|middle| middle + (ends - middle) * STRAIGHTENING_PULL)
                        }
                        _ if straight => {
                            let seen = [&near[*room][..], &other[*room][..]].concat();
                            mean_position(&seen, &x)
                        }
                        _ => mean_position(&near[*room], &x),
                    };
                    wish.unwrap_or(x[*room])
                })
                .collect();
            resolve_overlaps(layer, &wished, extent, &mut x);
        }
    }
    let left = (0..x.len()).map(|room| x[room] - extent[room].left).fold(f64::MAX, f64::min);
    x.iter().map(|x| x - left + MARGIN).collect()
}

/// Finds the positions closest to the wished ones that keep order and gaps: least squares, by
/// pooling adjacent nodes that would overlap (pool adjacent violators).
fn resolve_overlaps(layer: &[usize], wished: &[f64], extent: &[NodeExtent], x: &mut [f64]) {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(layer.len());
    for (index, room) in layer.iter().enumerate() {
        if index > 0 {
            offset += extent[layer[index - 1]].right + extent[*room].left + GAP_X;
        }
        offsets.push(offset);
    }
    // Pools of nodes that move together: the sum of their wishes, and their number.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (wish, offset) in wished.iter().zip(&offsets) {
        pools.push((wish - offset, 1));
        while let [.., one, two] = &pools[..] {
            if one.0 / one.1 as f64 <= two.0 / two.1 as f64 {
                break;
            }
            let joined = (one.0 + two.0, one.1 + two.1);
            pools.truncate(pools.len() - 2);
            pools.push(joined);
        }
    }
    let mut rooms = layer.iter().zip(&offsets);
    for (sum, count) in pools {
        for (room, offset) in rooms.by_ref().take(count) {
            x[*room] = sum / count as f64 + offset;
        }
    }
}

/// Returns the points of each edge from its start to its end. Edges that share a side of a node are
/// spread along it.
fn route_edges(
    order: &LayeredGraph,
    boxes: &LayoutInput<'_>,
    nodes: &[GraphPoint],
    at: &impl Fn(usize) -> GraphPoint,
    band: &[f64],
) -> Vec<Vec<GraphPoint>> {
    let port = |node: usize, below: bool, edge: usize| {
        let mut there: Vec<(f64, usize)> = order
            .chains
            .iter()
            .enumerate()
            .filter(|(_, chain)| {
                let end = if below { chain.first() } else { chain.last() };
                end == Some(&node)
            })
            .map(|(other, chain)| {
                let next = if below { chain[1] } else { chain[chain.len() - 2] };
                (at(next).x, other)
            })
            .collect();
        there.sort_by(|one, two| one.0.total_cmp(&two.0).then(one.1.cmp(&two.1)));
        let index = there.iter().position(|(_, other)| *other == edge).unwrap_or(0);
        let step = boxes.nodes[node].width / (there.len() + 1) as f64;
        let half = boxes.nodes[node].height / 2.0;
        GraphPoint {
            x: nodes[node].x - boxes.nodes[node].width / 2.0 + step * (index + 1) as f64,
            y: if below { nodes[node].y + half } else { nodes[node].y - half },
        }
    };
    let mut paths = Vec::new();
    for (edge, chain) in order.chains.iter().enumerate() {
        let [first, between @ .., last] = &chain[..] else {
            paths.push(Vec::new());
            continue;
        };
        let start = port(*first, true, edge);
        let end = port(*last, false, edge);
        let edge_of = |room: usize, below: f64| at(room).y + below * band[room] / 2.0;
        let mut path = vec![start];
        if edge_of(*first, 1.0) > start.y {
            path.push(GraphPoint { x: start.x, y: edge_of(*first, 1.0) });
        }
        for room in between {
            let middle = at(*room);
            // The edge runs straight through the whole layer, so that no bend goes under a
            // neighbour.
            let half = band[*room] / 2.0;
            path.push(GraphPoint { x: middle.x, y: middle.y - half });
            if half > 0.0 {
                path.push(GraphPoint { x: middle.x, y: middle.y + half });
            }
        }
        if edge_of(*last, -1.0) < end.y {
            path.push(GraphPoint { x: end.x, y: edge_of(*last, -1.0) });
        }
        path.push(end);
        if order.upward[edge] {
            path.reverse();
        }
        paths.push(path);
    }
    paths
}
