//! Protocols that between them use everything a run can do.

use countersign_protocol::Protocol;

use crate::folder::sound;

const INDEX: &str = "--- index.yaml
name: laws
version: 1.0.0
default_workflow: main
hooks:
  stamp: { patch: [ { op: add, path: /stamped, value: true } ] }
  lint: { program: lint, timeout: 1s }
policy:
  programs: { lint: { command: [lint], timeout: 10s } }
  hosts: ['127.0.0.1:80']
  sources: { notes: { kind: files, path: docs } }
  budget: { tokens: 400, rework: 2, loops: { limit: 6, says: Enough rounds. } }
";

const PARTS: &str = "--- contracts/note.yaml
id: note
version: 1.0.0
intake: tolerant
schema: { type: object, required: [note], properties: { note: { type: string, maxLength: 8 }, patch: {}, good: { type: boolean } } }
rules:
  - { id: not_twice, then: \"new.note !== state.note || reply.note === 'b'\", at: /note, says: a note is new }
on_violation: { reask: 2, then: wait }
--- agents/worker.yaml
id: worker
description: works
base: fixer
tools: replace
tools_list: [read, list, write]
--- agents/plain.yaml
id: plain
description: works
base: oracle
--- workflows/child.yaml
id: child
phases: [ { id: only, ask: { question: What?, apply: { set: /result } } } ]
transitions: []
";

const REVIEW: &str = "--- workflows/main.yaml
id: main
phases:
  - id: write
    on_enter: stamp
    on_exit: lint
    agent: worker
    contract: note
    writes: [/note, /list, /free]
    apply: [ { set: { at: /note, value: reply.note } }, { append: { at: /list, value: reply.note } }, { patch: /patch } ]
    timeout: { after: 10m, then: { goto: lost } }
    budget: { provider_failures: 2, tool_rounds: 1, tokens: { limit: 100, then: wait } }
  - id: review
    agent: plain
    contract: note
    apply: [ { set: { at: /good, value: 'reply.good === true' } }, { merge: { at: /seen } } ]
    refusal_spends: reviewer_failures
    on_refused: { goto: review }
    budget: { reviewer_failures: { limit: 1, then: fail }, violations: 2 }
  - { id: check, on_exit: stamp }
  - { id: lost, terminal: true }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: review }
  - { from: write, to: lost, gate: \"false\", priority: 1 }
  - { from: review, to: check, gate: state.good }
  - { from: review, to: write, spends: rework, priority: 1 }
  - { from: check, to: done, gate: { type: manual, who: anna, deadline: 1h } }
  - { from: check, to: write, gate: { type: manual }, spends: rework }
  - { from: check, to: lost, gate: { type: file_exists, path: go, retry: { mode: exponential, interval: 10s, max_attempts: 2 } } }
";

const PEOPLE: &str = "--- workflows/main.yaml
id: main
phases:
  - id: ask
    ask:
      - { id: a, question: \"A, {{ run.loops }}?\", choices: [x, y], deadline: 1m, default: x, apply: { set: /a } }
      - { id: b, question: B?, answer: { type: integer, minimum: 0 }, deadline: 1m, apply: { set: /b } }
      - { id: c, question: C?, document: { accepts: [.md] }, who: anna, apply: { set: { at: /c, value: reply.path } } }
    budget: { questions: 7 }
    timeout: 5m
  - { id: idle }
  - { id: ring }
  - { id: again, ask: { id: d, question: D?, deadline: 1m, on_timeout: { goto: ask } } }
  - { id: done, terminal: true }
transitions:
  - { from: ask, to: idle, gate: \"state.b > 2\" }
  - { from: ask, to: again, priority: 1, gate: \"state.a === 'y'\" }
  - { from: ask, to: ask, priority: 2, spends: rework }
  - { from: again, to: ask }
  - { from: idle, to: ring }
  - { from: ring, to: idle }
  - { from: ring, to: done, gate: \"state.over === true\", priority: 1 }
  - { from: ring, to: ask, gate: { type: manual }, priority: 2 }
";

const WORLD: &str = "--- contracts/found.yaml
id: found
version: 1.0.0
schema: { type: object, required: [note] }
--- workflows/main.yaml
id: main
phases:
  - id: fetch
    do: { retrieve: { source: notes, query: \"state.query ?? 'x'\" }, retry: { mode: exponential, interval: 1s, max_attempts: 3 }, on_failed: { goto: call } }
    contract: found
    apply: { set: /found }
  - id: call
    invoke: { workflow: child, input: { /title: \"state.found.note\" }, output: { /result: reply.result } }
    timeout: 1m
  - id: act
    do: { http: { url: 'http://127.0.0.1:80/{{ state.result }}' }, retry: { max_attempts: 2 } }
    apply: { append: /answers }
  - { id: write, do: { write: { path: out.md, content: state } } }
  - { id: done, terminal: true }
transitions:
  - { from: fetch, to: call }
  - { from: call, to: act }
  - { from: act, to: write, gate: \"state.answers.length > 1\" }
  - { from: act, to: fetch, priority: 1 }
  - { from: write, to: done }
";

const LEDGER: &str = "--- contracts/ledger.yaml
id: ledger
version: 1.0.0
schema:
  type: object
  additionalProperties: false
  required: [meta, total, items]
  properties:
    meta: { type: object, properties: { stage: { enum: [work, end] }, count: { type: integer, maximum: 4 } } }
    total: { type: integer, minimum: 0 }
    items: { type: array, items: { type: integer } }
rules:
  - { id: adds_up, then: \"reply.total === reply.items.reduce((sum, item) => sum + item, 0)\", at: /total, says: the items add up }
--- contracts/book.yaml
id: book
version: 1.0.0
schema: { type: object, required: [item, total], properties: { item: { type: integer }, total: { type: integer } } }
on_violation: { reask: 3, then: wait }
--- workflows/main.yaml
id: main
phases:
  - { id: work, agent: plain, contract: book, apply: [ { append: { at: /items, value: reply.item } }, { set: { at: /total, value: reply.total } }, { patch: /patch } ] }
  - { id: done, terminal: true }
transitions:
  - { from: work, to: done, gate: \"state.total > 9\" }
  - { from: work, to: work, priority: 1 }
";

/// A document of the workflow's own, an input, changes on the ways, announcements, tickets.
const WAYS: &str = "--- contracts/tally.yaml
id: tally
version: 1.0.0
schema:
  type: object
  additionalProperties: false
  required: [meta, rounds]
  properties:
    meta: { type: object }
    rounds: { type: integer, maximum: 5 }
    note: { type: string }
    good: { type: string }
    over: { type: boolean }
    list: { type: array, maxItems: 2 }
--- workflows/main.yaml
id: main
phases:
  - { id: plan, issues: plan, agent: plain, contract: note, apply: [ { set: { at: /note, value: reply.note } }, { emit: { event: PLANNED, data: reply.note } } ] }
  - { id: count, needs: plan }
  - { id: review, needs: [plan, count], issues: [review], ask: { id: d, question: D?, apply: { set: /good } }, timeout: { after: 5m, then: { goto: late } } }
  - { id: late, needs: review, ask: { question: Late? } }
  - { id: done, terminal: true }
transitions:
  - { from: plan, to: count, apply: { set: { at: /rounds, value: '0' } } }
  - { from: count, to: review, gate: state.rounds > 1, issues: count, apply: { emit: { event: COUNTED } } }
  - { from: count, to: count, priority: 1, apply: { set: { at: /rounds, value: state.rounds + 1 } } }
  - { from: late, to: done }
  - { from: review, to: late, gate: state.good === 'y', priority: 0 }
  - { from: review, to: done, gate: state.good === 'x', apply: { emit: { event: OVER, data: state.good } } }
  - { from: review, to: plan, priority: 1, spends: rework, apply: [ { remove: /good }, { append: { at: /list, value: state.note.length } } ] }
";

/// Approvals: parts, four eyes, several approvers, a file, denials, and writes while somebody
/// decides.
const SIGNED: &str = "--- workflows/main.yaml
id: main
phases:
  - { id: write, agent: plain, contract: note, apply: [ { set: { at: /note, value: reply.note } }, { set: { at: /free, value: reply } } ] }
  - { id: check, writes: [/note, /free], on_exit: lint }
  - { id: two }
  - { id: last }
  - { id: lost, terminal: true }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: check }
  - { from: check, to: two, gate: { type: manual, subject: [/note, /sheet], distinct_from: [starter], description: 'Is {{ state.note }} good?', present: [ { at: /sheet, as: file } ] } }
  - { from: check, to: write, after: denied, apply: { set: { at: /why, value: 'run.decision.note ?? null' } } }
  - { from: check, to: check, priority: 1, gate: { type: manual, subject: [/free, /none], verified: true, note: on_denial } }
  - { from: two, to: done, gate: { type: manual, who: [anna, bob], need: 2, deadline: 2h, escalate: { after: 1m, to: carl }, present: [ { at: /sheet, as: file }, { at: /note } ] } }
  - { from: two, to: lost, after: expired }
  - { from: two, to: check, after: denied }
  - { from: two, to: last, gate: { type: manual, subject: [/note], need: 2, deadline: 3h } }
  - { from: last, to: done, gate: { type: manual, subject: [/note], distinct_from: [approver], deadline: 3h } }
  - { from: last, to: check, after: denied }
";

/// Calls that need an approval: tools of an agent, effects once and for each item, copies of a file
/// that changes, with retries.
const HELD: &str = "--- workflows/main.yaml
id: main
phases:
  - { id: write, agent: worker, contract: note, apply: [ { set: { at: /note, value: reply.note } } ], budget: { tool_rounds: 4 } }
  - { id: act, do: { http: { url: 'http://127.0.0.1:80/{{ state.note }}' }, retry: { interval: 1s, max_attempts: 3 }, on_failed: { goto: each } }, apply: { set: /answer }, timeout: { after: 3h, then: wait } }
  - { id: each, do: { each: \"['held.md', 'free.md', 'held.md']\", write: { path: '{{ item }}', content: state }, on_failed: go_on }, apply: { append: /files } }
  - { id: send, do: { copy: { from: sheet.csv, to: sent.csv }, retry: { interval: 1s, max_attempts: 2 }, on_failed: go_on }, apply: { set: /sent } }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: send }
  - { from: send, to: act }
  - { from: act, to: each }
  - { from: each, to: write, gate: \"(state.files ?? []).length < 4\", spends: rework }
  - { from: each, to: done, priority: 1 }
";

/// What the policy of `HELD` adds.
const APPROVALS: &str = "policy:
  approvals:
    - { calls: read, when: never }
    - { calls: write, when: \"call.origin === 'tool' || call.path === 'held.md'\", who: [anna, bob], deadline: 2h }
    - { calls: 'h*', who: [anna, bob] }
    - { calls: copy, who: [anna, bob] }
";

/// Work for each of several items, and outcomes with changes.
const MANY: &str = "--- workflows/main.yaml
id: main
phases:
  - id: ask
    ask:
      - { each: state.tasks, as: task, id: \"q-{{ task.id }}\", question: \"{{ task.id }}?\", choices: [x, y], deadline: 1m, on_timeout: { then: wait, apply: { append: { at: /late, value: task.id } } }, apply: { append: { at: /answers, value: task.id + reply } } }
      - { each: state.tasks, id: \"d-{{ item.id }}\", question: D?, document: { suggested_path: \"in/{{ item.id }}.md\", accepts: \"['.md']\" }, who: anna, when: item.after !== undefined, deadline: 2m, on_timeout: { goto: work } }
    budget: { questions: { limit: 9, then: { then: { goto: work }, apply: { set: { at: /asked, value: failure.code } } } } }
  - id: work
    writes: [/found, /list]
    do:
      each: state.tasks
      as: task
      retrieve: { source: \"{{ task.id === 'c' ? 'notes' : task.source ?? 'notes' }}\", query: task.id }
      retry: { interval: 1s, max_attempts: 2 }
      on_failed: { then: wait, apply: { append: { at: /failures, value: failure.code + task.id } } }
    contract: found
    apply: { append: { at: /found, value: task.id } }
  - id: call
    invoke:
      workflow: child
      each: state.tasks.filter(t => t.after === undefined || state.ended.includes(t.after))
      key: item.id
      limit: 2
      input: { /title: item.id }
      output: [ { append: { at: /ended, value: item.id } }, { append: { at: /ids, value: child.id } } ]
      on_failed: { then: go_on, apply: [ { append: { at: /ended, value: item.id } }, { append: { at: /broken, value: failure } } ] }
    timeout: { after: 20m, then: { then: wait, apply: { set: { at: /slow, value: failure.message } } } }
  - id: again
    do: { each: \"state.broken ?? []\", write: { path: \"out/{{ item.code }}.md\", content: item, once: true }, on_failed: go_on }
    apply: { append: { at: /files, value: reply } }
  - { id: lost, terminal: true }
  - { id: done, terminal: true }
transitions:
  - { from: ask, to: work }
  - { from: work, to: call, gate: \"state.found.length > 2\" }
  - { from: work, to: ask, priority: 1, spends: rework }
  - { from: call, to: again }
  - { from: again, to: done, gate: \"state.ended.length > 4\" }
  - { from: again, to: call, priority: 1 }
--- contracts/found.yaml
id: found
version: 1.0.0
schema: { type: object, required: [note] }
";

/// Tools of MCP servers: some of one, all of another.
const MCP: &str = "--- index.yaml
name: laws
version: 1.0.0
default_workflow: main
policy:
  mcp:
    box: { command: [box], tools: [add] }
    aid: { url: 'https://example.org/mcp' }
--- contracts/note.yaml
id: note
version: 1.0.0
intake: tolerant
schema: { type: object, required: [note], properties: { note: { type: string, maxLength: 8 } } }
on_violation: { reask: 2, then: wait }
--- agents/worker.yaml
id: worker
description: works
base: fixer
tools: replace
tools_list: [read, box.add, aid.*]
--- agents/plain.yaml
id: plain
description: works
base: oracle
tools: add
tools_list: [aid.*]
--- workflows/main.yaml
id: main
phases:
  - { id: write, agent: plain, contract: note, writes: [/note], apply: { set: { at: /note, value: reply.note } }, timeout: { after: 10m, then: { goto: again } } }
  - { id: again, agent: worker, contract: note, writes: [/note], apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: again }
  - { from: again, to: done, gate: { type: manual } }
  - { from: again, to: write, after: denied }
--- workflows/child.yaml
id: child
phases: [ { id: only, ask: { question: What?, apply: { set: /result } } } ]
transitions: []
";

const SHAPE: &str = "document:
  contract: ledger
  initial: { meta: { stage: work }, total: 0, items: [] }
  engine:
    status: /meta/status
    version: /meta/version
    stage: { at: /meta/stage, value: \"run.phase === 'done' ? 'end' : 'work'\" }
    items: { at: /meta/count, value: \"state.items.length\" }
models: { default: human }
";

/// What the index says about the workflow of `WAYS`.
const WAYS_RUNS: &str = "workflows:
  main:
    document:
      contract: tally
      initial: { meta: {}, rounds: 0 }
      engine: { status: /meta/status, phase: /meta/phase, version: /meta/version }
    input: { apply: [ { set: /note }, { emit: { event: GIVEN, data: reply } } ] }
";

/// What the index says about the workflow of `MANY`.
const MANY_RUNS: &str = "workflows:
  main:
    document: { initial: { tasks: [ { id: a }, { id: b, after: a }, { id: c } ], ended: [] } }
";

/// What the index says about the workflow of `SIGNED`.
const SIGNED_RUNS: &str = "workflows:
  main:
    document: { initial: { sheet: sheet.csv } }
";

/// All of them.
pub(crate) fn all() -> Vec<Protocol> {
    let texts = [
        format!("{INDEX}{PARTS}{REVIEW}"),
        format!("{INDEX}{PARTS}{PEOPLE}"),
        format!("{INDEX}{PARTS}{WORLD}"),
        format!("{INDEX}{SHAPE}{PARTS}{LEDGER}"),
        format!("{INDEX}{WAYS_RUNS}{PARTS}{WAYS}"),
        format!("{INDEX}{MANY_RUNS}{PARTS}{MANY}"),
        format!("{INDEX}{SIGNED_RUNS}{PARTS}{SIGNED}"),
        format!("{}{PARTS}{HELD}", INDEX.replace("policy:\n", APPROVALS)),
        MCP.to_owned(),
    ];
    texts.iter().map(|text| sound(text)).collect()
}
