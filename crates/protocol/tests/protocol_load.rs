//! Folders become protocols: the seed's own example, includes, agents, and every part of a phase.
//!
//! What is wrong with a folder is asked in `protocol_load_faults.rs`.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "protocol_load/folder.rs"]
#[expect(dead_code, reason = "shared with the tests of faults")]
mod folder;

use countersign_protocol::{
    AcceptedExtensions, AgentPurpose, AnswerShape, ChangeOperation, ChoiceSource, DocumentChange,
    EffectTemplate, FailurePolicy, GateCheck, HookDefinition, McpServerDefinition, McpTransport,
    PhaseWork, RetryPolicy, StateFileLayout, format_assignees,
};
use folder::{INDEX, MAIN, sound};
use serde_json::{Value, json};

/// The example of the first seed, file by file.
const SEED: &str = include_str!("protocol_load/seed.txt");

#[test]
fn the_example_of_the_seed_loads() {
    let protocol = sound(SEED);
    assert_eq!((protocol.name.as_str(), protocol.version.as_str()), ("ralph", "1.0.0"));
    let workflow = protocol.find_workflow(&protocol.default_workflow).unwrap();
    let phases: Vec<&str> = workflow.phases.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!(phases, ["decompose", "work_loop", "done"]);
    let ways: Vec<String> = workflow
        .transitions_from("work_loop")
        .iter()
        .map(|(_, way)| match &way.gate.as_ref().unwrap().check {
            GateCheck::Expression(check) => {
                format!("{} {} {}", way.priority, way.to, check.source())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        ways,
        [
            "1 work_loop state.tasks.some(t => t.status !== 'done')",
            "2 done state.tasks.every(t => t.status === 'done')",
        ]
    );
    assert!(workflow.ends_in(workflow.find_phase("done").unwrap()));
    let pointers: Vec<&str> =
        protocol.document.engine.iter().map(|own| own.pointer.as_str()).collect();
    assert_eq!(pointers, ["/workflow", "/phase", "/status", "/updated_at"]);
    assert_eq!(protocol.agents["translator"].model.as_deref(), Some("gpt-4"));
}

#[test]
fn agents_resolve_against_their_bases() {
    let base = sound(&format!("{INDEX}{MAIN}")).agents["oracle"].prompt.version_for(None).clone();
    assert!(base.starts_with("You are the oracle."));
    let rules = "--- rules/style.md\nBe short.\n--- rules/tone.txt\nBe kind.\n\
                 --- skills/x/SKILL.md\n---\nname: x\ndescription: d\n---\nText.\n";
    let agent = |said: &str| {
        let text =
            format!("{INDEX}{MAIN}{rules}--- agents/a.yaml\nid: a\ndescription: d\n{said}\n");
        sound(&text).agents.remove("a").unwrap()
    };
    let tools = |said: &str| {
        let agent = agent(&format!("base: librarian\n{said}"));
        agent.tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>().join(" ")
    };

    assert_eq!(*agent("base: oracle").prompt.version_for(None), base);
    for mode in ["append", "prepend", "replace", "patch"] {
        let blank = agent(&format!("base: oracle\nmode: {mode}\nprompt: ' '"));
        assert_eq!(*blank.prompt.version_for(None), base);
    }
    let prompt = |mode: &str| {
        let agent = agent(&format!(
            "base: oracle\nmode: {mode}\nprompt: Own.\ntranslations: {{ ru: Свой. }}"
        ));
        assert!(agent.prompt.version_for(Some("ru")).contains("Свой."));
        agent.prompt.version_for(None).clone()
    };
    assert_eq!(prompt("append"), format!("{base}\n\nOwn."));
    assert_eq!(prompt("prepend"), format!("Own.\n\n{base}"));
    assert_eq!(prompt("replace"), "Own.");
    let patched = agent(
        "base: oracle\nmode: patch\nprompt: |\n  ## Limits\n\n  None.\n\n  ## More\n\n  Yes.\n",
    );
    assert!(patched.prompt.version_for(None).contains("\n\n## Limits\n\nNone.\n\n## Evidence\n\n"));
    assert!(patched.prompt.version_for(None).ends_with("\n\n## More\n\nYes."));
    assert!(!patched.prompt.version_for(None).contains("you do not carry out"));

    assert_eq!(tools(""), "read list search");
    assert_eq!(tools("tools: inherit"), "read list search");
    assert_eq!(tools("tools: add\ntools_list: [write, read, write]"), "read list search write");
    assert_eq!(tools("tools: replace\ntools_list: [write, write]"), "write");

    assert_eq!(agent("base: oracle").model, None);
    let own = agent(
        "base: oracle\nmodel: override\nmodel_config: { name: m, temperature: 0.5, max_tokens: 9 }\n\
         skills: [x, x]\nrules: [tone, style, tone]",
    );
    assert_eq!(
        (own.model.as_deref(), own.temperature, own.max_tokens),
        (Some("m"), Some(0.5), Some(9))
    );
    let skills: Vec<&str> = own.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(skills, ["x"]);
    let rules: Vec<(&str, &str)> = own
        .rules
        .iter()
        .map(|(name, text)| (name.as_str(), text.version_for(None).as_str()))
        .collect();
    assert_eq!(rules, [("tone", "Be kind.\n"), ("style", "Be short.\n")]);
    let warmer = agent("base: oracle\nmodel_config: { temperature: 1 }");
    assert_eq!((warmer.model.as_deref(), warmer.temperature), (None, Some(1.0)));
}

#[test]
fn every_base_has_a_prompt_in_sections() {
    let agents = sound(&format!("{INDEX}{MAIN}")).agents;
    let ids: Vec<&str> = agents.keys().map(String::as_str).collect();
    assert_eq!(ids, ["designer", "explorer", "fixer", "librarian", "oracle", "orchestrator"]);
    for agent in agents.values() {
        let headings: Vec<&str> =
            agent.prompt.version_for(None).lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(headings, ["## Task", "## Limits", "## Evidence", "## Reply"], "{}", agent.id);
    }
    // Who looks things up or mends them has tools; who thinks has what it is shown.
    let armed = agents.values().filter(|agent| !agent.tools.is_empty());
    let armed: Vec<&str> = armed.map(|agent| agent.id.as_str()).collect();
    assert_eq!(armed, ["explorer", "fixer", "librarian"]);
}

#[test]
fn mcp_servers_say_how_they_are_reached() {
    let policy = "policy: { mcp: { \
         fs: { command: [mcp-fs, .], environment: [PATH], timeout: 5s, tools: [read] }, \
         web: { url: 'https://example.org/mcp', headers: { Authorization: TOKEN } } } }\n";
    let agent = "--- agents/a.yaml\nid: a\ndescription: d\nbase: librarian\ntools: add\n\
         tools_list: [fs.read, web.*, fs.read, write]\n";
    let protocol = sound(&format!("{INDEX}{policy}{MAIN}{agent}"));
    let McpServerDefinition { transport, timeout, tools } = &protocol.policy.mcp["fs"];
    let (command, environment) = (vec!["mcp-fs".into(), ".".into()], vec!["PATH".into()]);
    assert_eq!(*transport, McpTransport::Program { command, environment });
    assert_eq!((timeout.millis, tools), (5_000, &Some(vec!["read".to_owned()])));
    let McpServerDefinition { transport, timeout, tools } = &protocol.policy.mcp["web"];
    let headers = [("Authorization".to_owned(), "TOKEN".to_owned())].into();
    let url = "https://example.org/mcp".to_owned();
    assert_eq!(*transport, McpTransport::Http { url, headers });
    assert_eq!((timeout.millis, tools), (60_000, &None));
    let agent = &protocol.agents["a"];
    let selectors: Vec<(&str, Option<&str>)> = agent
        .mcp_tools
        .iter()
        .map(|selector| (selector.server.as_str(), selector.tool.as_deref()))
        .collect();
    assert_eq!(selectors, [("fs", Some("read")), ("web", None)]);
    assert_eq!(agent.tools.len(), 4, "the tools of the base, and one more");
}

#[test]
fn includes_are_merged_own_first_and_each_once() {
    let text = format!(
        "{INDEX}\
         --- workflows/main.yaml\nid: main\ninclude: [left, right]\nsteps: [{{ id: m }}]\n\
         transitions: [{{ from: m, to: l }}]\n\
         --- workflows/left.yaml\nid: left\ninclude: shared\nphases: [{{ id: l }}]\n\
         transitions: [{{ from: l, to: s }}]\n\
         --- workflows/right.yaml\nid: right\ninclude: [shared]\nphases: [{{ id: r }}]\ntransitions: []\n\
         --- workflows/shared.yaml\nid: shared\nphases: [{{ id: s }}]\ntransitions: []\n\
         --- workflows/whole.yaml\nid: whole\ninclude: shared\nphases: []\ntransitions: []\n"
    );
    let protocol = sound(&text);
    let phases = |id: &str| -> Vec<String> {
        protocol.workflows[id].phases.iter().map(|phase| phase.id.clone()).collect()
    };
    assert_eq!(phases("main"), ["m", "l", "s", "r"]);
    assert_eq!(phases("whole"), ["s"]);
    let ways: Vec<String> = protocol.workflows["main"]
        .transitions
        .iter()
        .map(|way| format!("{}-{}", way.from, way.to))
        .collect();
    assert_eq!(ways, ["m-l", "l-s"]);
    let shared = &protocol.workflows["main"].phases[2].origin;
    assert_eq!(shared.tree.source.name, "workflows/shared.yaml");
}

#[test]
fn a_folder_that_says_everything_loads() {
    let protocol = sound(include_str!("protocol_load/everything.txt"));
    let document = &protocol.document;
    let pointers: Vec<String> = document
        .engine
        .iter()
        .map(|own| format!("{} {} {}", own.name, own.pointer, own.value.source()))
        .collect();
    assert_eq!(
        pointers,
        [
            "status /meta/status run.status",
            "stage /meta/stage run.phase === 'end' ? 'end' : 'work'"
        ]
    );
    assert_eq!(document.initial, json!({"meta": {"by": "us"}, "notes": [], "title": "x"}));
    assert_eq!(protocol.state_format, StateFileLayout::Multi);
    assert_eq!(protocol.default_model.as_deref(), Some("script:demo"));
    let policy = &protocol.policy;
    assert_eq!(policy.prices["script:demo"], (2_500_000, 10_000_000));
    assert_eq!(policy.programs["lint"].timeout.to_string(), "1m");
    assert_eq!(policy.programs["slow"].timeout.to_string(), "5m");
    assert_eq!(policy.hosts, ["127.0.0.1:8080"]);
    assert_eq!(policy.sources["notes"].settings, json!({"kind": "files", "path": "docs"}));
    let limits: Vec<String> = policy
        .budget
        .limits
        .iter()
        .map(|(name, limit)| {
            let says = limit.says.as_ref().map(|says| says.version_for(None));
            format!("{name} {} {:?} {says:?}", limit.amount, limit.then.then)
        })
        .collect();
    assert_eq!(
        limits,
        [
            "money 500000 Wait None",
            "rework 3 GoTo(\"end\") Some(\"Three rounds are enough.\")",
            "tokens 20000 Wait None",
            "wall_time 3600000 Fail None",
        ]
    );
    let hooks: Vec<String> = protocol
        .hooks
        .iter()
        .map(|(id, hook)| match hook {
            HookDefinition::Patch { ops, .. } => format!("{id} {ops}"),
            HookDefinition::Program { program, timeout, .. } => {
                format!("{id} {program} {}", timeout.unwrap())
            }
        })
        .collect();
    assert_eq!(hooks, ["check lint 10s", r#"stamp [{"op":"add","path":"/x","value":1}]"#]);
}

#[test]
fn phases_say_what_they_do() {
    let protocol = sound(include_str!("protocol_load/everything.txt"));
    let workflow = protocol.find_workflow("main").unwrap();
    let phase = |id: &str| workflow.find_phase(id).unwrap();

    let plan = phase("plan");
    let PhaseWork::Agent(work) = &plan.work else { panic!("{:?}", plan.work) };
    assert_eq!((work.agent.id.as_str(), work.contract.id.as_str()), ("fixer", "any"));
    assert_eq!(work.prompt.as_ref().unwrap().version_for(None).source(), "Do {{ state.title }}");
    assert_eq!(work.purpose, AgentPurpose::Responder);
    assert_eq!(work.reads.as_deref(), Some(&["/notes".to_owned(), "/meta/status".to_owned()][..]));
    assert_eq!(work.on_refused.as_ref().unwrap().then, FailurePolicy::GoTo("end".to_owned()));
    assert_eq!(work.refusal_spends.as_deref(), Some("refusals"));
    assert_eq!(
        plan.timeout.as_ref().map(|(after, then)| (after.to_string(), then.then.clone())),
        Some(("30m".to_owned(), FailurePolicy::Fail))
    );
    assert_eq!(plan.budget.limits["violations"].amount.to_string(), "3");
    let verbs: Vec<String> = work.apply.iter().map(change_text).collect();
    assert_eq!(
        verbs,
        [
            "patch /patch",
            "merge  reply.more",
            "set /plan",
            "append /notes reply.note",
            "upsert /tasks id reply.tasks",
            "remove /tasks id reply.done",
            "remove /draft",
            "set /late reply.late if 'late' in reply",
        ]
    );

    let PhaseWork::Ask(questions) = &phase("ask").work else { panic!() };
    let ids: Vec<&str> = questions.iter().map(|question| question.id.as_str()).collect();
    assert_eq!(ids, ["colour", "size", "brief", "free", "number"]);
    let AnswerShape::Choices(ChoiceSource::Listed(choices)) = &questions[0].shape else { panic!() };
    assert_eq!(choices[1].label.version_for(None), "Green");
    assert!(matches!(&questions[1].shape, AnswerShape::Choices(ChoiceSource::Computed(_))));
    assert!(
        matches!(&questions[2].shape, AnswerShape::Document { suggested_path: Some(path), accepts }
        if path.source() == "inputs/brief.md"
            && matches!(accepts, AcceptedExtensions::Listed(list) if *list == [".md", ".pdf"]))
    );
    let accepts = |index: usize, value: serde_json::Value| match &questions[index].shape {
        AnswerShape::Value(contract) => contract.schema.is_valid(&value),
        other => panic!("{other:?}"),
    };
    assert!(accepts(3, json!("x")) && !accepts(3, json!("")) && !accepts(3, json!(1)));
    assert!(accepts(4, json!(7)) && !accepts(4, json!("7")));

    let PhaseWork::Ask(single) = &phase("single").work else { panic!() };
    assert_eq!(single[0].id, "answer");

    let effects = ["write", "run", "http", "retrieve"].map(|id| match &phase(id).work {
        PhaseWork::Effect { effect, retry, on_failed, .. } => {
            let effect = match effect {
                EffectTemplate::Write { path, content, once, format } => {
                    assert!(!once && format.is_none());
                    format!("{} {}", path.source(), content.source())
                }
                EffectTemplate::Copy { from, to, .. } => {
                    format!("{} {}", from.source(), to.source())
                }
                EffectTemplate::Run { program, args, .. } => {
                    format!("{program} {}", args[0].source())
                }
                EffectTemplate::Http { method, url, .. } => format!("{method} {}", url.source()),
                EffectTemplate::Retrieve { source, query } => {
                    format!("{} {}", source.source(), query.source())
                }
            };
            format!("{effect} {:?} {:?}", retry.map(|retry| retry.max_attempts), on_failed.then)
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(
        effects,
        [
            "out/{{ state.title }}.md state.draft None Wait",
            "lint --{{ run.id }} Some(5) GoTo(\"end\")",
            "POST http://127.0.0.1:8080/x None Wait",
            "notes state.title None Wait",
        ]
    );

    let PhaseWork::Invoke(invoke) = &phase("call").work else { panic!() };
    assert_eq!((invoke.workflow.as_str(), invoke.input[0].0.as_str()), ("child", "/title"));
    assert_eq!(change_text(&invoke.output[0]), "set /result reply.result");
    assert_eq!(invoke.on_complete.as_deref(), Some("end"));
    assert_eq!(invoke.on_failed.then, FailurePolicy::Fail);
    assert_eq!(phase("end").on_enter.as_deref(), Some("stamp"));
}

#[test]
fn an_output_gives_what_stands_at_its_places() {
    let protocol = sound(include_str!("protocol_load/everything.txt"));
    let child = protocol.find_workflow("child").unwrap();
    let document = json!({ "notes": ["a", null], "title": "x", "other": 1 });
    let output: Vec<_> = child.select_output(&document).collect();
    assert_eq!(output, [("/title", &json!("x")), ("/notes/1", &Value::Null)]);
    assert!(protocol.find_workflow("main").unwrap().output.is_empty());
}

#[test]
fn gates_say_what_they_ask() {
    let protocol = sound(include_str!("protocol_load/everything.txt"));
    let gates: Vec<String> = protocol.workflows["main"]
        .transitions
        .iter()
        .filter_map(|way| way.gate.as_ref())
        .map(|gate| {
            let check = match &gate.check {
                GateCheck::Expression(check) => check.source().to_owned(),
                GateCheck::Status { pointer, value } => format!("{pointer} = {value}"),
                GateCheck::FileExists { path } => path.clone(),
                GateCheck::FileExistsTemplate { path } => path.source().to_owned(),
                GateCheck::Manual { rules, deadline, .. } => {
                    format!("{} {}", format_assignees(&rules.who), deadline.unwrap())
                }
            };
            match gate.retry {
                Some(RetryPolicy { mode, interval, max_attempts }) => {
                    format!("{check} {mode:?} {interval} {max_attempts}")
                }
                None => check,
            }
        })
        .collect();
    assert_eq!(
        gates,
        [
            "state.title !== ''",
            "/tasks/0/status = done Fixed 30s 3",
            "/a~1b = x",
            "out/done.md Exponential 5m 2",
            "legal 2d",
        ]
    );
    let first = &protocol.workflows["main"].transitions[0];
    assert_eq!(first.spends.as_deref(), Some("rework"));
    let changes: Vec<String> = first.apply.iter().map(change_text).collect();
    assert_eq!(changes, ["set /again true", "emit AGAIN state.title if run.loops > 1"]);
}

/// A change in one line.
fn change_text(change: &DocumentChange) -> String {
    let source = |value: &Option<countersign_contract::expr::Expr>| {
        value.as_ref().map_or_else(String::new, |value| format!(" {}", value.source()))
    };
    let verb = match &change.operation {
        ChangeOperation::Patch { from, writes: None } => format!("patch {from}"),
        ChangeOperation::Patch { from, writes: Some(writes) } => {
            format!("patch {from} within {}", writes.join(" "))
        }
        ChangeOperation::Merge { pointer: at, value } => format!("merge {at}{}", source(value)),
        ChangeOperation::Set { pointer: at, value } => format!("set {at}{}", source(value)),
        ChangeOperation::Append { pointer: at, value } => format!("append {at}{}", source(value)),
        ChangeOperation::Upsert { pointer: at, key, value } => {
            format!("upsert {at} {key}{}", source(value))
        }
        ChangeOperation::Remove { pointer: at, key, value } => {
            let key = key.as_ref().map_or_else(String::new, |key| format!(" {key}"));
            format!("remove {at}{key}{}", source(value))
        }
        ChangeOperation::Emit { event, data } => format!("emit {event}{}", source(data)),
    };
    match &change.when {
        Some(when) => format!("{verb} if {}", when.source()),
        None => verb,
    }
}

#[test]
fn the_folders_own_contract_is_meant_before_a_shipped_one() {
    let own = "--- contracts/state.yaml\nid: state\nversion: 0.9.0\nschema: { type: object }\n";
    let protocol = sound(&format!("{INDEX}{MAIN}{own}"));
    assert_eq!(protocol.document.contract.unwrap().version, "0.9.0");
    assert_eq!(sound(&format!("{INDEX}{MAIN}")).document.contract.unwrap().version, "1.0.0");
}
