//! Where everything stands, in pixels: as near to its neighbours as the order and the gaps allow.

use super::order::{Order, Room, mean};

/// How much room something takes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A place; of boxes, their middle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A finished layout.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) size: Size,
    pub(super) nodes: Vec<Point>,
    /// Each edge's points from its beginning to its end; empty for one that begins where it ends.
    pub(super) paths: Vec<Vec<Point>>,
    pub(super) labels: Vec<Point>,
}

/// What is laid out.
pub(super) struct Boxes<'b> {
    pub(super) nodes: &'b [Size],
    pub(super) edges: &'b [(usize, usize)],
    pub(super) labels: &'b [Size],
    /// Room to the right of each node, for the ways that begin and end there.
    pub(super) beside: &'b [Size],
}

const GAP_X: f64 = 22.0;
const GAP_Y: f64 = 20.0;
const PASS: f64 = 14.0;
const MARGIN: f64 = 24.0;
const ROUNDS: usize = 24;

impl Layout {
    /// Lays boxes out from top to bottom.
    pub(super) fn of(boxes: &Boxes<'_>) -> Self {
        let order = Order::of(boxes.nodes.len(), boxes.edges);
        let extent: Vec<Size> = order.rooms.iter().map(|room| extent(*room, boxes)).collect();
        let x = across(&order, &extent);
        let y = along(&order, &extent);
        let at = |room: usize| Point { x: x[room], y: y[room] };
        // A node with something beside it stands at the left of its room.
        let nodes: Vec<Point> = (0..boxes.nodes.len())
            .map(|node| Point {
                x: x[node] - (extent[node].width - boxes.nodes[node].width) / 2.0,
                y: y[node],
            })
            .collect();
        let mut labels = vec![Point::default(); boxes.edges.len()];
        for (room, kind) in order.rooms.iter().enumerate() {
            if let Room::Label(edge) = kind {
                labels[*edge] = at(room);
            }
        }
        for (edge, (from, to)) in boxes.edges.iter().enumerate() {
            if from == to {
                let right = nodes[*from].x + boxes.nodes[*from].width / 2.0;
                let inside = boxes.beside[*from].width - LOOP - boxes.labels[edge].width;
                let x = right + LOOP + boxes.labels[edge].width / 2.0;
                labels[edge] = Point { x: x + inside.min(0.0), y: nodes[*from].y };
            }
        }
        let paths = paths(&order, boxes, &nodes, &at, &extent);
        let width =
            (0..extent.len()).map(|room| x[room] + extent[room].width / 2.0).fold(0.0, f64::max);
        let height =
            (0..extent.len()).map(|room| y[room] + extent[room].height / 2.0).fold(0.0, f64::max);
        let size = Size { width: width + MARGIN, height: height + MARGIN };
        Self { size, nodes, paths, labels }
    }
}

/// How far a way that ends where it begins reaches out before its label.
pub(super) const LOOP: f64 = 34.0;

fn extent(room: Room, boxes: &Boxes<'_>) -> Size {
    match room {
        Room::Node(node) => {
            let (own, beside) = (boxes.nodes[node], boxes.beside[node]);
            Size { width: own.width + beside.width, height: own.height.max(beside.height) }
        }
        Room::Label(edge) => {
            let label = boxes.labels[edge];
            Size { width: label.width.max(PASS), height: label.height }
        }
        Room::Pass(_) => Size { width: PASS, height: 0.0 },
    }
}

/// Layers from top to bottom, each as high as its highest room.
fn along(order: &Order, extent: &[Size]) -> Vec<f64> {
    let mut y = vec![0.0; order.rooms.len()];
    let mut top = MARGIN * 2.0;
    for layer in &order.layers {
        let height = layer.iter().map(|room| extent[*room].height).fold(0.0, f64::max);
        for room in layer {
            y[*room] = top + height / 2.0;
        }
        top += height + GAP_Y;
    }
    y
}

/// Each room as near as may be to the middle of its neighbours, layer by layer, down and up.
fn across(order: &Order, extent: &[Size]) -> Vec<f64> {
    let (above, below) = order.neighbours();
    let mut x = vec![0.0; order.rooms.len()];
    for layer in &order.layers {
        let wished = vec![0.0; layer.len()];
        settle(layer, &wished, extent, &mut x);
    }
    for round in 0..ROUNDS {
        let downward = round % 2 == 0;
        let layers: Vec<&Vec<usize>> = if downward {
            order.layers.iter().collect()
        } else {
            order.layers.iter().rev().collect()
        };
        for layer in layers {
            let near = if downward { &above } else { &below };
            let other = if downward { &below } else { &above };
            let wished: Vec<f64> = layer
                .iter()
                .map(|room| {
                    // The last rounds look both ways, so that chains become straight.
                    let one = mean(&near[*room], &x);
                    let two = mean(&other[*room], &x).filter(|_| round >= ROUNDS / 2);
                    match (one, two) {
                        (Some(one), Some(two)) => f64::midpoint(one, two),
                        (Some(one), None) | (None, Some(one)) => one,
                        (None, None) => x[*room],
                    }
                })
                .collect();
            settle(layer, &wished, extent, &mut x);
        }
    }
    let left = (0..x.len()).map(|room| x[room] - extent[room].width / 2.0).fold(f64::MAX, f64::min);
    x.iter().map(|x| x - left + MARGIN).collect()
}

/// The places nearest to those wished for that keep order and gaps: least squares, by pooling
/// neighbours that would overlap.
fn settle(layer: &[usize], wished: &[f64], extent: &[Size], x: &mut [f64]) {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(layer.len());
    for (index, room) in layer.iter().enumerate() {
        if index > 0 {
            let before = extent[layer[index - 1]].width;
            offset += f64::midpoint(before, extent[*room].width) + GAP_X;
        }
        offsets.push(offset);
    }
    // Pools of rooms that move together: sum of wishes, how many.
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

/// The points of each edge, from its beginning to its end. Where several leave or reach one side of a
/// node, they share it out among themselves.
fn paths(
    order: &Order,
    boxes: &Boxes<'_>,
    nodes: &[Point],
    at: &impl Fn(usize) -> Point,
    extent: &[Size],
) -> Vec<Vec<Point>> {
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
        let place = there.iter().position(|(_, other)| *other == edge).unwrap_or(0);
        let step = boxes.nodes[node].width / (there.len() + 1) as f64;
        let half = boxes.nodes[node].height / 2.0;
        Point {
            x: nodes[node].x - boxes.nodes[node].width / 2.0 + step * (place + 1) as f64,
            y: if below { nodes[node].y + half } else { nodes[node].y - half },
        }
    };
    let mut paths = Vec::new();
    for (edge, chain) in order.chains.iter().enumerate() {
        let [first, between @ .., last] = &chain[..] else {
            paths.push(Vec::new());
            continue;
        };
        let mut path = vec![port(*first, true, edge)];
        for room in between {
            let middle = at(*room);
            // Straight through its label, so that the line seems to carry it.
            let half = extent[*room].height / 2.0;
            path.push(Point { x: middle.x, y: middle.y - half });
            if half > 0.0 {
                path.push(Point { x: middle.x, y: middle.y + half });
            }
        }
        path.push(port(*last, false, edge));
        if order.upward[edge] {
            path.reverse();
        }
        paths.push(path);
    }
    paths
}
