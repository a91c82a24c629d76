//! What a drawing of a workflow shows, whatever it is drawn with.

use countersign_core::protocol::{Check, EffectSpec, Gate, Outcome, Phase, Shape, Work, Workflow};
use countersign_core::run::{Event, State};

/// A workflow, and where a run of it stands.
#[derive(Debug)]
pub struct Picture {
    /// What it is called.
    pub(super) title: String,
    pub(super) nodes: Vec<Node>,
    /// Transitions in the order of the workflow, then the ways that are none.
    pub(super) edges: Vec<Edge>,
    transitions: usize,
    /// Whether a run is shown: what it did not touch is drawn faintly.
    pub(super) of_run: bool,
}

/// A phase.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) name: Option<String>,
    /// Who or what works there.
    pub(super) work: Option<String>,
    pub(super) description: Option<String>,
    pub(super) terminal: bool,
    pub(super) visited: bool,
    pub(super) current: bool,
}

/// A way from phase to phase.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// What opens it, in full.
    pub(super) gate: String,
    /// A way that is only taken when something does not work out.
    pub(super) exception: bool,
    /// How often it was taken.
    pub(super) taken: usize,
    /// Why it is closed now.
    pub(super) closed: Option<String>,
}

impl Picture {
    /// A workflow by itself.
    #[must_use]
    pub fn of(workflow: &Workflow) -> Self {
        let index = |id: &str| workflow.phases.iter().position(|phase| phase.id == id);
        let nodes = workflow.phases.iter().map(|phase| node(workflow, phase)).collect();
        let mut edges = Vec::new();
        for way in &workflow.transitions {
            // A loaded workflow has no way to nowhere.
            let (Some(from), Some(to)) = (index(&way.from), index(&way.to)) else { continue };
            let gate = way.gate.as_ref().map_or_else(String::new, gate_text);
            edges.push(Edge { from, to, gate, exception: false, taken: 0, closed: None });
        }
        let transitions = edges.len();
        for (from, phase) in workflow.phases.iter().enumerate() {
            if let Work::Invoke(invoke) = &phase.work
                && let Some(to) = invoke.on_complete.as_deref().and_then(index)
            {
                let gate = "when the child is done".to_owned();
                edges.push(Edge { from, to, gate, exception: false, taken: 0, closed: None });
            }
            for (why, to) in exceptions(phase) {
                let Some(to) = index(&to) else { continue };
                edges.push(Edge { from, to, gate: why, exception: true, taken: 0, closed: None });
            }
        }
        let title = workflow.name.clone().unwrap_or_else(|| workflow.id.clone());
        Self { title, nodes, edges, transitions, of_run: false }
    }

    /// The same with a run in it: where it is, which ways it took, why the others are closed.
    #[must_use]
    pub fn with_run(mut self, state: &State, events: &[Event]) -> Self {
        self.of_run = true;
        self.title = format!("{}: run {}", self.title, state.run);
        let index = |id: &str, nodes: &[Node]| nodes.iter().position(|node| node.id == id);
        for event in events {
            match event {
                Event::PhaseEntered { phase } => {
                    if let Some(node) = index(phase, &self.nodes) {
                        self.nodes[node].visited = true;
                    }
                }
                Event::WayTaken { way, from, to, because } => {
                    let (Some(from), Some(to)) = (index(from, &self.nodes), index(to, &self.nodes))
                    else {
                        continue;
                    };
                    // What is no transition is found by its ends.
                    let drawn = way.filter(|way| *way < self.transitions).or_else(|| {
                        let rest = self.edges.iter().skip(self.transitions);
                        let mut ends = rest.map(|edge| (edge.from, edge.to));
                        ends.position(|ends| ends == (from, to)).map(|at| at + self.transitions)
                    });
                    match drawn {
                        Some(drawn) => self.edges[drawn].taken += 1,
                        None => self.edges.push(Edge {
                            from,
                            to,
                            gate: because.clone(),
                            exception: true,
                            taken: 1,
                            closed: None,
                        }),
                    }
                }
                _ => {}
            }
        }
        if let Some(here) = index(&state.phase, &self.nodes) {
            self.nodes[here].current = true;
            self.nodes[here].visited = true;
        }
        for gate in &state.closed {
            if let Some(edge) = self.edges.get_mut(gate.way) {
                edge.closed = Some(gate.reason.clone());
            }
        }
        self
    }
}

fn node(workflow: &Workflow, phase: &Phase) -> Node {
    Node {
        id: phase.id.clone(),
        name: phase.name.clone().filter(|name| *name != phase.id),
        work: work(&phase.work),
        description: phase.description.clone(),
        terminal: workflow.ends_in(phase),
        visited: false,
        current: false,
    }
}

/// What is done in a phase, in a few words; `None` where nothing is.
#[must_use]
pub fn work(work: &Work) -> Option<String> {
    match work {
        Work::None => None,
        Work::Agent(work) => Some(format!("{} → {}", work.agent.id, work.contract.id)),
        Work::Ask(questions) => {
            let documents = questions.iter().all(|one| matches!(one.shape, Shape::Document { .. }));
            Some(match (questions.len(), documents) {
                (1, true) => "asks for a document".to_owned(),
                (1, false) => "asks a person".to_owned(),
                (several, true) => format!("asks for {several} documents"),
                (several, false) => format!("asks {several} questions"),
            })
        }
        Work::Effect { effect, .. } => Some(match effect {
            EffectSpec::Write { .. } => "writes a file".to_owned(),
            EffectSpec::Copy { .. } => "copies a file".to_owned(),
            EffectSpec::Run { program, .. } => format!("runs {program}"),
            EffectSpec::Http { method, .. } => format!("calls a host ({method})"),
            EffectSpec::Retrieve { source, .. } => format!("looks up in {}", source.source()),
        }),
        Work::Invoke(invoke) => Some(format!("runs {}", invoke.workflow)),
    }
}

/// What a gate asks. The words of its author come first.
#[must_use]
pub fn gate_text(gate: &Gate) -> String {
    if let Some(description) = &gate.description {
        return description.clone();
    }
    match &gate.check {
        Check::Expression(expression) => expression.source().to_owned(),
        Check::Status { pointer, value } => format!("{pointer} is {value}"),
        Check::File { path } => format!("{path} exists"),
        Check::FileAt { path } => format!("{} exists", path.source()),
        Check::Manual { who: Some(who), .. } => format!("{who} approves"),
        Check::Manual { who: None, .. } => "somebody approves".to_owned(),
    }
}

/// Where a run goes when something in a phase does not work out.
fn exceptions(phase: &Phase) -> Vec<(String, String)> {
    let mut ways = Vec::new();
    let mut add = |why: String, outcome: &Outcome| {
        if let Some(to) = outcome.target() {
            ways.push((why, to.to_owned()));
        }
    };
    if let Some((after, otherwise)) = &phase.timeout {
        add(format!("after {after}"), otherwise);
    }
    match &phase.work {
        Work::Agent(work) => {
            if let Some(otherwise) = &work.on_refused {
                add("when every try is refused".to_owned(), otherwise);
            }
        }
        Work::Ask(questions) => {
            for question in questions {
                add(format!("when nobody answers {}", question.id), &question.otherwise);
            }
        }
        Work::Effect { on_failed, .. } => add("when it fails".to_owned(), on_failed),
        Work::Invoke(invoke) => add("when the child fails".to_owned(), &invoke.on_failed),
        Work::None => {}
    }
    for (name, limit) in &phase.budget.limits {
        if let Some(to) = limit.then.target() {
            ways.push((format!("when {name} is spent"), to.to_owned()));
        }
    }
    ways
}
