//! What is lived through: protocols with every feature, replies, and what people say.

use std::sync::Arc;

use countersign_protocol::Protocol;
use serde_json::{Value, json};

use crate::rig::protocol;

/// A protocol, the files of its folder of work, and people's answers by the name of the wait.
#[derive(Clone)]
pub(super) struct Story {
    pub(super) name: &'static str,
    pub(super) protocol: Arc<Protocol>,
    pub(super) files: Vec<(String, String)>,
    pub(super) answers: Vec<(&'static str, Value)>,
}

fn story(name: &'static str, text: &str, answers: Vec<(&'static str, Value)>) -> Story {
    let (protocol, files) = protocol(&format!("{SHARED}{text}"));
    Story { name, protocol, files, answers }
}

/// What all of them have.
const SHARED: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
models: { default: "script:script.yaml" }
hooks:
  stamp: { patch: [{ op: add, path: /stamped, value: true }] }
  guard: { program: guard }
policy:
  programs:
    mark: { command: [./mark.sh] }
    guard: { command: [./guard.sh] }
  sources: { notes: { kind: files, path: notes } }
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string, minLength: 2 } } }
--- agents/writer.yaml
id: writer
description: writes
base: designer
--- agents/worker.yaml
id: worker
description: works
base: fixer
tools: replace
tools_list: [read, write]
--- work/notes/a.md
A gate is closed until it is opened.
--- work/mark.sh
#!/bin/sh
echo "$COUNTERSIGN_ACTION_ID" >> ids.txt
echo "$1 $(cat)"
--- work/guard.sh
#!/bin/sh
cat > /dev/null
echo '{"result":"patch","ops":[{"op":"add","path":"/guarded","value":true}]}'
"#;

/// Tools, hooks and effects.
pub(super) fn deeds() -> Story {
    let text = r#"
--- workflows/main.yaml
id: main
phases:
  - { id: look, do: { retrieve: { source: notes, query: "'gate'" } }, apply: { set: { at: /found, value: reply } } }
  - { id: use, on_enter: stamp, agent: worker, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: put, do: { write: { path: "out/{{ run.id }}.md", content: state.note } }, apply: { set: { at: /file, value: reply } } }
  - { id: mark, on_exit: guard, do: { run: { program: mark, args: [one], input: state.note } }, apply: { set: { at: /mark, value: reply.stdout } } }
  - { id: again, do: { run: { program: mark, args: [two] } }, apply: { set: { at: /again, value: reply.stdout } } }
  - { id: done, terminal: true }
transitions:
  - { from: look, to: use }
  - { from: use, to: put }
  - { from: put, to: mark }
  - { from: mark, to: again }
  - { from: again, to: done }
--- work/script.yaml
- reply:
    tool_calls:
      - { tool: write, path: made.txt, content: "1" }
      - { tool: read, path: made.txt }
      - { tool: write, path: made.txt, content: "2" }
- reply: { tool_calls: [{ tool: read, path: made.txt }] }
- reply: { note: all seen }
"#;
    story("deeds", text, Vec::new())
}

/// Refusals, failures of the provider, questions, deadlines, gates that are asked again, approvals.
pub(super) fn people() -> Story {
    let text = r#"
--- workflows/main.yaml
id: main
phases:
  - { id: write, agent: writer, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - id: ask
    ask:
      - { id: colour, question: "Which colour for {{ state.note }}?", choices: [red, green], apply: { set: /colour } }
      - { id: size, question: How many?, answer: { type: integer, minimum: 1 }, apply: { set: /size } }
      - { id: never, question: Anything else?, deadline: 1h, default: nothing, apply: { set: /else } }
  - { id: put, do: { write: { path: ready.txt, content: state.colour } } }
  - { id: check }
  - { id: wait }
  - { id: approve }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: ask }
  - { from: ask, to: wait }
  - { from: wait, to: put, gate: { check: "run.version > 9", type: criteria, retry: { interval: 10s, max_attempts: 9 } } }
  - { from: put, to: check }
  - { from: check, to: approve, gate: { type: file_exists, path: ready.txt } }
  - { from: approve, to: done, gate: { type: manual, who: anna } }
--- work/script.yaml
- sure
- error: { kind: rate_limited, retry_after_ms: 90000 }
- { reply: { note: x } }
- { reply: { note: hello } }
"#;
    let answers = vec![("colour", json!("green")), ("size", json!(3)), ("done", json!(true))];
    story("people", text, answers)
}

/// Children that answer, children that nobody waits for any more, children of children.
pub(super) fn family() -> Story {
    let text = r#"
--- workflows/grandchild.yaml
id: grandchild
phases:
  - { id: mark, do: { run: { program: mark, args: [deep] } }, apply: { set: { at: /mark, value: reply.stdout } } }
transitions: []
--- workflows/child.yaml
id: child
phases:
  - { id: ask, ask: { question: "What of {{ state.title }}?", id: what, apply: { set: /result } } }
  - { id: deep, invoke: { workflow: grandchild, output: { /mark: reply.mark } } }
  - { id: put, do: { write: { path: "out/{{ run.id }}.md", content: state.result } } }
  - { id: done, terminal: true }
transitions: [{ from: ask, to: deep }, { from: deep, to: put }, { from: put, to: done }]
--- workflows/silent.yaml
id: silent
phases: [{ id: ask, ask: { question: Anybody?, id: nobody, apply: { set: /result } } }]
transitions: []
--- workflows/main.yaml
id: main
phases:
  - { id: call, invoke: { workflow: child, input: { /title: "run.id" }, output: { /result: reply.result, /mark: reply.mark } } }
  - { id: hope, timeout: { after: 5m, then: { goto: on } }, invoke: { workflow: silent } }
  - { id: on, agent: writer, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [{ from: call, to: hope }, { from: hope, to: on }, { from: on, to: done }]
--- work/script.yaml
- { reply: { note: went on } }
"#;
    story("family", text, vec![("what", json!("all of it"))])
}

/// Children side by side, some of them ready only when others have ended, one that fails; and effects for each
/// of them.
pub(super) fn brood() -> Story {
    let text = r#"
--- workflows/child.yaml
id: child
phases:
  - { id: write, agent: writer, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: ask, ask: { question: "What of {{ state.title }}?", id: what, apply: { set: /result } } }
  - { id: put, do: { write: { path: "out/{{ state.title }}.md", content: state.result, once: true }, on_failed: fail } }
  - { id: done, terminal: true }
transitions: [{ from: write, to: ask }, { from: ask, to: put }, { from: put, to: done }]
--- workflows/main.yaml
id: main
phases:
  - id: all
    invoke:
      workflow: child
      each: "(state.tasks ?? ['a', 'b', 'taken', 'c<a']).filter(t => !t.includes('<') || (state.got ?? []).some(g => g.startsWith(t.split('<')[1] + ' ')))"
      as: task
      limit: 2
      input: { /title: "task.split('<')[0]" }
      output: [ { append: { at: /got, value: "task + ' ' + reply.result" } } ]
      on_failed: { then: go_on, apply: { append: { at: /got, value: "task + ' ' + failure.code" } } }
  - id: keep
    do: { each: state.got, as: one, copy: { from: "out/{{ one.split(' ')[0].split('<')[0] }}.md", to: "kept/{{ one.split(' ')[0].split('<')[0] }}.md" } }
    apply: { append: { at: /kept, value: reply.path } }
  - { id: done, terminal: true }
transitions: [{ from: all, to: keep }, { from: keep, to: done }]
--- work/out/taken.md
somebody else's
--- work/script.yaml
- { reply: { note: hello } }
"#;
    story("brood", text, vec![("what", json!("all of it"))])
}

/// Rounds with long replies, so that snapshots are taken, each with a file and a program.
pub(super) fn long() -> Story {
    let mut text = r#"
--- workflows/main.yaml
id: main
phases:
  - { id: write, agent: writer, contract: note, apply: [{ append: { at: /notes, value: reply.note } }] }
  - { id: put, do: { write: { path: "out/{{ state.notes.length }}.md", content: state.notes } } }
  - { id: mark, do: { run: { program: mark, args: ["{{ state.notes.length }}"] } }, apply: { set: { at: /mark, value: reply.stdout } } }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: put }
  - { from: put, to: mark }
  - { from: mark, to: write, gate: "state.notes.length < 6" }
  - { from: mark, to: done, priority: 1 }
--- work/script.yaml
"#
    .to_owned();
    for round in 0..6 {
        text.push_str(&format!(
            "- {{ reply: {{ note: \"{round} {}\" }} }}\n",
            "word ".repeat(1_800)
        ));
    }
    story("long", &text, Vec::new())
}

/// Approvals by two people and approvals of exact calls, while others may write what is approved.
pub(super) fn signed() -> Story {
    let mut text = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
models: { default: "script:script.yaml" }
hooks:
  stamp: { patch: [{ op: add, path: /stamped, value: true }] }
policy:
  programs:
    mark: { command: [./mark.sh] }
  approvals:
    - { calls: write, who: [anna, bob], deadline: 2h }
    - { calls: run, when: "call.program === 'mark'", who: [anna, bob] }
workflows:
  main:
    document: { initial: { note: none } }
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string, minLength: 2 } } }
--- agents/worker.yaml
id: worker
description: works
base: fixer
tools: replace
tools_list: [read, write]
--- work/mark.sh
#!/bin/sh
echo "$COUNTERSIGN_ACTION_ID" >> ids.txt
echo "$COUNTERSIGN_ACTION_ID $1" >> marks.txt
--- workflows/main.yaml
id: main
phases:
  - { id: use, agent: worker, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: look, on_enter: stamp, writes: [/note] }
  - { id: put, do: { write: { path: "out/{{ run.id }}/{{ state.note }}.md", content: state.note }, on_failed: { goto: look } }, apply: { set: { at: /file, value: reply } } }
  - { id: mark, do: { run: { program: mark, args: ["{{ state.note }}"] }, on_failed: { goto: look } }, apply: { set: { at: /mark, value: reply.stdout } } }
  - { id: done, terminal: true }
transitions:
  - { from: use, to: look }
  - { from: look, to: put, gate: { type: manual, subject: [/note], who: [anna, bob], need: 2, deadline: 2h, escalate: { after: 1m, to: carl } } }
  - { from: look, to: use, after: denied }
  - { from: look, to: use, after: expired }
  - { from: put, to: mark }
  - { from: mark, to: done }
--- work/script.yaml
"#
    .to_owned();
    for round in 0..60 {
        let call = format!("{{ tool: write, path: made/{round}.txt, content: \"{round}\" }}");
        text.push_str(&format!(
            "- reply: {{ tool_calls: [{call}, {{ tool: read, path: made/{round}.txt }}] }}\n\
             - reply: {{ note: first {round} }}\n"
        ));
    }
    let (protocol, files) = protocol(&text);
    Story { name: "signed", protocol, files, answers: Vec::new() }
}
