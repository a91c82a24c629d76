//! Assigns the nodes of a graph to layers and orders them, with as few crossings as a few sweeps
//! can achieve.
//!
//! Phases are on even layers. Every edge has its label in a layer between two layers of phases, and
//! a waypoint in every layer that it passes, so that nothing is drawn over a phase or another
//! label.

/// An element of the layout that takes up space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayoutNode {
    /// A phase, by its index.
    Node(usize),
    /// The label of an edge, by the index of the edge.
    Label(usize),
    /// A point that an edge passes through, by the index of the edge.
    Waypoint(usize),
}

/// Layout nodes in layers, and the chains of nodes that edges pass through.
#[derive(Debug)]
pub(super) struct LayeredGraph {
    pub(super) nodes: Vec<LayoutNode>,
    /// The nodes of each layer, from left to right.
    pub(super) layers: Vec<Vec<usize>>,
    /// The nodes of each edge from its upper to its lower end; empty for a self-loop.
    pub(super) chains: Vec<Vec<usize>>,
    /// Whether each edge leads upward.
    pub(super) upward: Vec<bool>,
}

const CROSSING_SWEEPS: usize = 12;

impl LayeredGraph {
    /// Builds the layers of a graph whose start is node 0.
    pub(super) fn build(nodes: usize, edges: &[(usize, usize)]) -> Self {
        let upward = find_back_edges(nodes, edges);
        let down: Vec<(usize, usize)> = edges
            .iter()
            .zip(&upward)
            .map(|((from, to), up)| if *up { (*to, *from) } else { (*from, *to) })
            .collect();
        let rank = assign_ranks(nodes, &down);
        let deepest = rank.iter().copied().max().unwrap_or(0);
        let mut rooms: Vec<LayoutNode> = (0..nodes).map(LayoutNode::Node).collect();
        let mut layers = vec![Vec::new(); deepest + 1];
        for (node, rank) in rank.iter().enumerate() {
            layers[*rank].push(node);
        }
        let mut chains = Vec::new();
        for (edge, (from, to)) in down.iter().enumerate() {
            if from == to {
                chains.push(Vec::new());
                continue;
            }
            let middle = usize::midpoint(rank[*from], rank[*to]);
            let mut chain = vec![*from];
            for (layer, rooms_there) in
                layers.iter_mut().enumerate().take(rank[*to]).skip(rank[*from] + 1)
            {
                rooms.push(if layer == middle {
                    LayoutNode::Label(edge)
                } else {
                    LayoutNode::Waypoint(edge)
                });
                rooms_there.push(rooms.len() - 1);
                chain.push(rooms.len() - 1);
            }
            chain.push(*to);
            chains.push(chain);
        }
        let mut order = Self { nodes: rooms, layers, chains, upward };
        order.reduce_crossings();
        order
    }

    /// Returns the neighbours of each node in the layer above and in the layer below.
    pub(super) fn compute_neighbours(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let mut above = vec![Vec::new(); self.nodes.len()];
        let mut below = vec![Vec::new(); self.nodes.len()];
        for pair in self.chains.iter().flat_map(|chain| chain.windows(2)) {
            below[pair[0]].push(pair[1]);
            above[pair[1]].push(pair[0]);
        }
        (above, below)
    }

    fn reduce_crossings(&mut self) {
        let (above, below) = self.compute_neighbours();
        let mut best = (self.count_crossings(&below), self.layers.clone());
        for sweep in 0..CROSSING_SWEEPS {
            let downward = sweep % 2 == 0;
            let count = self.layers.len();
            for step in 1..count {
                let layer = if downward { step } else { count - 1 - step };
                let (fixed, near) =
                    if downward { (layer - 1, &above) } else { (layer + 1, &below) };
                let positions = layer_positions(&self.layers[fixed], self.nodes.len());
                let here = layer_positions(&self.layers[layer], self.nodes.len());
                let mut wished: Vec<(f64, usize)> = self.layers[layer]
                    .iter()
                    .map(|room| {
                        (mean_position(&near[*room], &positions).unwrap_or(here[*room]), *room)
                    })
                    .collect();
                wished.sort_by(|one, two| one.0.total_cmp(&two.0));
                self.layers[layer] = wished.into_iter().map(|(_, room)| room).collect();
            }
            let crossings = self.count_crossings(&below);
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
    }

    fn count_crossings(&self, below: &[Vec<usize>]) -> usize {
        let mut crossings = 0;
        for pair in self.layers.windows(2) {
            let positions = layer_positions(&pair[1], self.nodes.len());
            let ends: Vec<f64> = pair[0]
                .iter()
                .flat_map(|room| {
                    let mut ends: Vec<f64> =
                        below[*room].iter().map(|end| positions[*end]).collect();
                    ends.sort_by(f64::total_cmp);
                    ends
                })
                .collect();
            for (index, end) in ends.iter().enumerate() {
                crossings += ends[index + 1..].iter().filter(|later| *later < end).count();
            }
        }
        crossings
    }
}

fn layer_positions(layer: &[usize], rooms: usize) -> Vec<f64> {
    let mut positions = vec![0.0; rooms];
    for (position, room) in layer.iter().enumerate() {
        positions[*room] = position as f64;
    }
    positions
}

/// Returns the mean position of some nodes; `None` if there are none.
pub(super) fn mean_position(rooms: &[usize], positions: &[f64]) -> Option<f64> {
    let sum: f64 = rooms.iter().map(|room| positions[*room]).sum();
    (!rooms.is_empty()).then(|| sum / rooms.len() as f64)
}

/// Returns which edges lead back to an ancestor, in a depth-first search from the start in file
/// order.
fn find_back_edges(nodes: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    fn visit(node: usize, edges: &[(usize, usize)], mark: &mut [u8], upward: &mut [bool]) {
        mark[node] = 1;
        for (edge, (_, to)) in edges.iter().enumerate().filter(|(_, (from, _))| *from == node) {
            match mark[*to] {
                0 => visit(*to, edges, mark, upward),
                1 if *to != node => upward[edge] = true,
                _ => {}
            }
        }
        mark[node] = 2;
    }
    let (mut mark, mut upward) = (vec![0; nodes], vec![false; edges.len()]);
    for node in 0..nodes {
        if mark[node] == 0 {
            visit(node, edges, &mut mark, &mut upward);
        }
    }
    upward
}

/// Returns the layer of each node: below all its predecessors, and always even.
fn assign_ranks(nodes: usize, down: &[(usize, usize)]) -> Vec<usize> {
    let mut rank = vec![0; nodes];
    // The longest path has at most this many steps.
    for _ in 0..nodes {
        let mut changed = false;
        for (from, to) in down.iter().filter(|(from, to)| from != to) {
            if rank[*to] < rank[*from] + 2 {
                rank[*to] = rank[*from] + 2;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_leads_upward_and_a_self_loop_nowhere() {
        let order = LayeredGraph::build(3, &[(0, 1), (1, 1), (1, 0), (1, 2)]);
        assert_eq!(order.upward, [false, false, true, false]);
        assert_eq!(order.layers.len(), 5);
        assert!(order.chains[1].is_empty());
        assert_eq!((order.chains[2][0], *order.chains[2].last().unwrap()), (0, 1));
    }

    #[test]
    fn long_ways_keep_room_in_every_layer() {
        let order = LayeredGraph::build(3, &[(0, 1), (1, 2), (0, 2)]);
        assert_eq!(order.chains[2].len(), 5);
        let labels = order.nodes.iter().filter(|room| matches!(room, LayoutNode::Label(_))).count();
        assert_eq!(labels, 3);
    }

    #[test]
    fn sweeps_untangle_what_the_files_tangled() {
        // Two edges that cross in file order: 1 leads to 4 and 2 leads to 3.
        let order = LayeredGraph::build(5, &[(0, 1), (0, 2), (1, 4), (2, 3)]);
        let (_, below) = order.compute_neighbours();
        assert_eq!(order.count_crossings(&below), 0);
    }
}
