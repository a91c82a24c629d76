//! Protocol folders: loaded and checked.

use std::fmt::Write as _;

use countersign_contract::contract::ContractRegistry;
use countersign_contract::limits::MAX_DIAGNOSTICS;
use countersign_protocol::{CHECK_CODES, ProtocolBundle, check_protocol, load_protocol};

use super::budgeted_door;

/// An input of a size, ready to be worked on.
type Run = Box<dyn Fn()>;

/// A name, the size to begin with, and the input of a size.
type Family = (&'static str, usize, fn(usize) -> Run);

const INDEX: &str = "name: t\nversion: 1.0.0\ndefault_workflow: main\n";

fn folder(files: &[(&str, String)]) -> ProtocolBundle {
    let mut bundle = ProtocolBundle::default();
    bundle.files.insert("index.yaml".to_owned(), INDEX.to_owned());
    for (path, text) in files {
        bundle.files.insert((*path).to_owned(), text.clone());
    }
    bundle
}

/// Loads and checks a folder; what is reported is bounded.
fn checked(bundle: ProtocolBundle) -> Run {
    Box::new(move || {
        let most = MAX_DIAGNOSTICS + CHECK_CODES.len() + 60;
        match load_protocol(bundle.clone(), &ContractRegistry::default()) {
            Ok(loaded) => assert!(check_protocol(&loaded.protocol).len() <= most),
            Err(found) => assert!(found.len() <= most, "{} findings", found.len()),
        }
    })
}

/// A workflow of these phases and transitions.
fn workflow(phases: &[String], transitions: &[String]) -> String {
    let mut text = String::from("id: main\nphases:\n");
    for phase in phases {
        writeln!(text, "  - {phase}").expect("a string takes all");
    }
    text.push_str(if transitions.is_empty() { "" } else { "transitions:\n" });
    for transition in transitions {
        writeln!(text, "  - {transition}").expect("a string takes all");
    }
    text
}

fn main_only(phases: &[String], transitions: &[String]) -> Run {
    checked(folder(&[("workflows/main.yaml", workflow(phases, transitions))]))
}

fn each(size: usize, make: impl Fn(usize) -> String) -> Vec<String> {
    (0..size).map(make).collect()
}

fn misspelt_phases(size: usize) -> Run {
    let phases = each(size, |n| format!("{{ id: some_phase_{n:05} }}"));
    let ways = each(size, |n| format!("{{ from: some_phase_{n:05}, to: some_phaze_{n:05}x }}"));
    main_only(&phases, &ways)
}

fn misspelt_tickets(size: usize) -> Run {
    let phases = each(size, |n| format!("{{ id: p{n}, needs: [ticket_{n:05}x] }}"));
    let next = |n| format!("{{ from: p{n}, to: p{}, issues: ticket_{n:05} }}", n + 1);
    main_only(&phases, &each(size - 1, next))
}

fn misspelt_budgets(size: usize) -> Run {
    let limits = each(size, |n| format!("    budget_{n:05}: 3\n")).concat();
    let index = format!("{INDEX}policy:\n  budget:\n{limits}");
    let phases = each(size, |n| format!("{{ id: p{n} }}"));
    let ways =
        each(size - 1, |n| format!("{{ from: p{n}, to: p{}, spends: budgett_{n:05} }}", n + 1));
    let mut bundle = folder(&[("workflows/main.yaml", workflow(&phases, &ways))]);
    bundle.files.insert("index.yaml".to_owned(), index);
    checked(bundle)
}

fn chain_of_phases(size: usize) -> Run {
    let phases = each(size, |n| format!("{{ id: p{n} }}"));
    main_only(&phases, &each(size - 1, |n| format!("{{ from: p{n}, to: p{} }}", n + 1)))
}

fn ring_of_phases(size: usize) -> Run {
    let phases = each(size, |n| format!("{{ id: p{n} }}"));
    main_only(&phases, &each(size, |n| format!("{{ from: p{n}, to: p{} }}", (n + 1) % size)))
}

fn many_rings(size: usize) -> Run {
    let phases = each(size, |n| format!("{{ id: p{n} }}"));
    let mut ways = each(size - 1, |n| {
        format!("{{ from: p0, to: p{}, gate: \"run.id === '{n}'\", priority: {n} }}", n + 1)
    });
    ways.extend(each(size - 1, |n| format!("{{ from: p{0}, to: p{0} }}", n + 1)));
    main_only(&phases, &ways)
}

fn chain_of_includes(size: usize) -> Run {
    let mut files = Vec::new();
    for n in 0..size {
        let id = if n == 0 { "main".to_owned() } else { format!("w{n:04}") };
        let include =
            if n + 1 < size { format!("include: w{:04}\n", n + 1) } else { String::new() };
        let text = format!("id: {id}\n{include}phases: [{{ id: p{n} }}]\n");
        files.push((format!("workflows/{id}.yaml"), text));
    }
    let files: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    checked(folder(&files))
}

fn chain_of_tickets(size: usize) -> Run {
    let phases = each(size, |n| {
        let needs = if n > 0 { format!(", needs: [t{}]", n - 1) } else { String::new() };
        format!("{{ id: p{n}{needs} }}")
    });
    main_only(
        &phases,
        &each(size - 1, |n| format!("{{ from: p{n}, to: p{}, issues: t{n} }}", n + 1)),
    )
}

/// Every combination of tickets can be held.
fn tickets_or_none(size: usize) -> Run {
    let mut phases = each(size, |n| format!("{{ id: p{n} }}"));
    phases.push("{ id: final, needs: t0, terminal: true }".to_owned());
    let to = |n: usize| if n + 1 < size { format!("p{}", n + 1) } else { "final".to_owned() };
    let mut ways = each(size, |n| {
        format!("{{ from: p{n}, to: {}, gate: \"run.id === 'a'\", issues: t{n} }}", to(n))
    });
    ways.extend(each(size, |n| format!("{{ from: p{n}, to: {}, priority: 1 }}", to(n))));
    main_only(&phases, &ways)
}

fn overlapping_gates(size: usize) -> Run {
    let phases = each(size + 1, |n| format!("{{ id: p{n} }}"));
    let way = |n: usize| {
        format!(
            "{{ from: p0, to: p{}, gate: \"state.a{n} === {n} && state.b{n} > {n} && state.b{n} < {n}\" }}",
            n + 1
        )
    };
    main_only(&phases, &each(size, way))
}

fn chain_of_invocations(size: usize) -> Run {
    let mut files = Vec::new();
    for n in 0..size {
        let id = if n == 0 { "main".to_owned() } else { format!("w{n:04}") };
        let next = if n + 1 < size { format!("w{:04}", n + 1) } else { "main".to_owned() };
        let text = format!("id: {id}\nphases: [{{ id: p, invoke: {{ workflow: {next} }} }}]\n");
        files.push((format!("workflows/{id}.yaml"), text));
    }
    let files: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    checked(folder(&files))
}

const PART: &str = "id: part\nversion: 1.0.0\nschema: { type: object }\n";

/// Each phase writes a place of its own, and a gate reads another one.
fn phases_that_read(size: usize) -> Run {
    let phases = each(size, |n| {
        format!("{{ id: p{n}, agent: oracle, contract: part, apply: {{ set: /w/k{n} }} }}")
    });
    let ways =
        each(size - 1, |n| format!("{{ from: p{n}, to: p{}, gate: state.r.k{n} === 1 }}", n + 1));
    checked(folder(&[
        ("workflows/main.yaml", workflow(&phases, &ways)),
        ("contracts/part.yaml", PART.to_owned()),
    ]))
}

/// Each gate reads an element of all that is written.
fn elements_that_read(size: usize) -> Run {
    let phases = each(size, |n| {
        format!("{{ id: p{n}, agent: oracle, contract: part, apply: {{ set: /w/k{n}/x }} }}")
    });
    let ways = each(size - 1, |n| {
        format!("{{ from: p{n}, to: p{}, gate: 'state.w.some(x => x.y{n} === 1)' }}", n + 1)
    });
    checked(folder(&[
        ("workflows/main.yaml", workflow(&phases, &ways)),
        ("contracts/part.yaml", PART.to_owned()),
    ]))
}

fn many_writes(size: usize) -> Run {
    let writes = each(size, |n| format!("/w/k{n}")).join(", ");
    let sets = each(size, |n| format!("{{ set: {{ at: /w/k{n}/x, value: '1' }} }}")).join(", ");
    let phase =
        format!("{{ id: p, agent: oracle, contract: part, writes: [{writes}], apply: [{sets}] }}");
    checked(folder(&[
        ("workflows/main.yaml", workflow(&[phase], &[])),
        ("contracts/part.yaml", PART.to_owned()),
    ]))
}

fn duplicate_phases(size: usize) -> Run {
    main_only(&each(size, |_| "{ id: p }".to_owned()), &[])
}

fn unknown_keys(size: usize) -> Run {
    let keys = each(size, |n| format!("descriptiom{n}: 1")).join(", ");
    main_only(&[format!("{{ id: p, {keys} }}")], &[])
}

/// Many agents that name many rules, whose texts must not be copied for each.
fn rules_of_agents(size: usize) -> Run {
    let rules: Vec<(String, String)> =
        (0..size).map(|n| (format!("rules/r{n:04}.md"), "word ".repeat(200))).collect();
    let names = each(size, |n| format!("r{n:04}")).join(", ");
    let agents: Vec<(String, String)> = (0..40)
        .map(|n| {
            let text =
                format!("id: a{n:04}\nbase: oracle\ndescription: d\nprompt: p\nrules: [{names}]\n");
            (format!("agents/a{n:04}.yaml"), text)
        })
        .collect();
    let mut files: Vec<(&str, String)> =
        rules.iter().chain(&agents).map(|(path, text)| (path.as_str(), text.clone())).collect();
    files.push(("workflows/main.yaml", workflow(&["{ id: p }".to_owned()], &[])));
    checked(folder(&files))
}

/// A prompt whose first section is long, and that patches again and again.
fn prompt_sections(size: usize) -> Run {
    let mut prompt = format!("  ## Task\n  {}\n", "word ".repeat(size));
    (0..size).for_each(|n| prompt.push_str(&format!("  ## Reply {n}\n  x\n")));
    let agent = format!("id: a\nbase: oracle\nmode: patch\ndescription: d\nprompt: |\n{prompt}");
    checked(folder(&[
        ("agents/a.yaml", agent),
        ("workflows/main.yaml", workflow(&["{ id: p }".to_owned()], &[])),
    ]))
}

/// Gates over a field with very many allowed values.
fn long_enumeration(size: usize) -> Run {
    let values = each(size, |n| format!("value_{n:05}")).join(", ");
    let contract = format!(
        "id: doc\nversion: 1.0.0\nschema:\n  type: object\n  additionalProperties: false\n  properties:\n    s: {{ enum: [{values}] }}\n"
    );
    let index = format!("{INDEX}document: {{ contract: doc }}\n");
    let phases = each(size / 20, |n| format!("{{ id: p{n} }}"));
    let ways = each(size / 20 - 1, |n| {
        format!("{{ from: p{n}, to: p{}, gate: \"state.s === 'walue_{n:05}'\" }}", n + 1)
    });
    let mut bundle = folder(&[
        ("workflows/main.yaml", workflow(&phases, &ways)),
        ("contracts/doc.yaml", contract),
    ]);
    bundle.files.insert("index.yaml".to_owned(), index);
    checked(bundle)
}

fn many_transitions_out_of_one_phase(size: usize) -> Run {
    let phases = ["{ id: a }".to_owned(), "{ id: b, terminal: true }".to_owned()];
    let transition = |n| format!("{{ from: a, to: b, priority: {n}, gate: 'state.x === {n}' }}");
    main_only(&phases, &each(size, transition))
}

fn agents_of_unknown_bases(size: usize) -> Run {
    let agents: Vec<(String, String)> = (0..size)
        .map(|n| {
            (format!("agents/agent{n}.yaml"), format!("id: agent{n}\nextends: orakle\nprompt: x\n"))
        })
        .collect();
    let mut files: Vec<(&str, String)> =
        agents.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    files.push(("workflows/main.yaml", workflow(&["{ id: p }".to_owned()], &[])));
    checked(folder(&files))
}

#[test]
fn folders_are_loaded_and_checked() {
    let families: [Family; 21] = [
        ("misspelt phases", 100, misspelt_phases),
        ("misspelt tickets", 60, misspelt_tickets),
        ("misspelt budgets", 60, misspelt_budgets),
        ("chain of phases", 150, chain_of_phases),
        ("ring of phases", 150, ring_of_phases),
        ("many rings", 150, many_rings),
        ("chain of includes", 60, chain_of_includes),
        ("chain of tickets", 60, chain_of_tickets),
        ("tickets or none", 16, tickets_or_none),
        ("overlapping gates", 20, overlapping_gates),
        ("chain of invocations", 60, chain_of_invocations),
        ("phases that read", 100, phases_that_read),
        ("elements that read", 200, elements_that_read),
        ("many writes", 150, many_writes),
        ("duplicate phases", 300, duplicate_phases),
        ("unknown keys", 200, unknown_keys),
        ("rules of agents", 20, rules_of_agents),
        ("prompt sections", 1_000, prompt_sections),
        ("long enumeration", 500, long_enumeration),
        ("many transitions out of one phase", 250, many_transitions_out_of_one_phase),
        ("agents of unknown bases", 100, agents_of_unknown_bases),
    ];
    let mut door = budgeted_door("protocol_folder");
    for (name, base, make) in families {
        door.measure_family(name, base, make, |run| run());
    }
    door.assert_linear();
}
