//! Signatures under death: whatever people, replies, hooks, answers, timers, forks and files do, and
//! wherever processes die, nothing is written, copied or run that nobody with authority approved as
//! it was done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use countersign_contract::json::{digest_json, sha256_hex};
use countersign_contract::reply::FinishReason;
use countersign_run::{
    HookAnswer, InputKind, ModelReply, PendingAction, ReplyUsage, RunEvent, RunState, RunWait,
    SubjectPart, WaitKind, WaitResolution, apply,
};
use countersign_runtime::engine::{Engine, EngineError, ForkOptions};
use countersign_store::{FaultPlan, InjectedFault};
use serde_json::{Map, Value, json};
use testkit::SeededRng;

use super::stories;
use super::world::{Life, World};

/// People who may approve; others only by delegation or escalation.
const APPROVERS: [&str; 2] = ["anna", "bob"];

/// People who decide, and do harm for a while.
pub(super) struct Crowd {
    chance: Mutex<SeededRng>,
    /// How much harm is left.
    harm: Mutex<usize>,
    /// Digests that were shown at some time.
    seen: Mutex<Vec<String>>,
}

impl Crowd {
    pub(super) fn new(seed: u64, harm: usize) -> Self {
        let chance = Mutex::new(SeededRng::for_case(0x516E, seed));
        Self { chance, harm: Mutex::new(harm), seen: Mutex::default() }
    }

    /// What people do about one run in one round.
    pub(super) async fn act(&self, engine: &Engine, run: &str) -> Result<(), EngineError> {
        let state = engine.get_run(run).await?.state;
        let harm = {
            let mut left = self.harm.lock().unwrap();
            let does_harm = *left > 0 && self.roll(60);
            *left -= usize::from(does_harm);
            does_harm
        };
        if harm {
            if self.roll(15) {
                return self.fork(engine, &state).await;
            }
            if self.roll(15) {
                self.tamper(engine);
                return Ok(());
            }
            return submit(engine, run, self.harm(&state)).await;
        }
        if state.halted.is_some() {
            let grants = BTreeMap::new();
            submit(engine, run, InputKind::Resumed { by: "anna".to_owned(), grants }).await?;
        }
        for wait in state.waits.values() {
            for by in APPROVERS {
                // The second approver of two sees the wait as it is now.
                let state = engine.get_run(run).await?.state;
                let Some(wait) = state.waits.get(&wait.id) else { break };
                submit(engine, run, self.say_yes(wait, by)).await?;
            }
        }
        Ok(())
    }

    /// What a person of good will sends.
    fn say_yes(&self, wait: &RunWait, by: &str) -> InputKind {
        if wait.kind != WaitKind::Question {
            return wait.decide(true, by, None);
        }
        let title = format!("t{}", self.chance.lock().unwrap().next_below(9));
        InputKind::Answered { wait: wait.id.clone(), value: json!(title), by: by.to_owned() }
    }

    /// Somebody writes into the file that people are shown.
    fn tamper(&self, engine: &Engine) {
        let content = self.chance.lock().unwrap().next_below(5).to_string();
        std::fs::write(engine.workspace().unwrap().path().join("sheet.csv"), content).unwrap();
    }

    fn roll(&self, percent: usize) -> bool {
        self.chance.lock().unwrap().roll_percent(percent)
    }

    /// Something that must not lead to an unsigned action.
    fn harm(&self, state: &RunState) -> InputKind {
        let mut chance = self.chance.lock().unwrap();
        let mut seen = self.seen.lock().unwrap();
        let waits: Vec<&RunWait> = state.waits.values().collect();
        let shown = waits.iter().filter_map(|wait| wait.subject.as_ref());
        seen.extend(shown.map(|subject| subject.digest.clone()));
        let by = chance.pick_ref(&["mallory", "anna", "bob", "carl"]).to_owned();
        let field = *chance.pick(&["note", "note", "title", "sheet", "file"]);
        let tampered = json!({ "merge": { field: format!("n{}", chance.next_below(1_000)) } });
        let tampered = InputKind::ManualPatch { text: tampered.to_string(), by: by.clone() };
        let pending: Vec<(&String, &PendingAction)> = state.pending.iter().collect();
        if !pending.is_empty() && chance.roll_percent(25) {
            let (action, order) = *chance.pick(&pending);
            return forge_result(&mut chance, action, order);
        }
        let Some(wait) = (!waits.is_empty()).then(|| *chance.pick(&waits)) else { return tampered };
        let action = wait.action.clone().unwrap_or_default();
        match chance.next_below(14) {
            0..3 => tampered,
            3 => wait.decide(true, &by, None),
            4 | 5 => {
                let subject = (!seen.is_empty()).then(|| chance.pick(&seen).clone());
                let wait = wait.id.clone();
                InputKind::ApprovalDecided { wait, approve: true, by, note: None, subject }
            }
            6 => wait.decide(false, &by, Some("no".to_owned())),
            7 => InputKind::Delegated {
                wait: wait.id.clone(),
                to: "carl".to_owned(),
                by,
                note: None,
            },
            8 => InputKind::Halted { by, reason: None },
            9 => InputKind::Answered { wait: wait.id.clone(), value: json!("forged"), by },
            10 => InputKind::Ticked,
            11 => InputKind::Resumed { by, grants: BTreeMap::new() },
            12 => InputKind::EffectFinished { action, result: json!({ "path": "forged" }) },
            _ => InputKind::ToolFinished { action, ok: true, output: "forged".to_owned() },
        }
    }

    /// A fork from any version.
    async fn fork(&self, engine: &Engine, state: &RunState) -> Result<(), EngineError> {
        let version = self.chance.lock().unwrap().next_between(1, state.version as usize) as u64;
        let otherwise = ForkOptions {
            version: Some(version),
            by: "mallory".to_owned(),
            ..ForkOptions::default()
        };
        let key = format!("fork of {} at {version}", state.run);
        ignore_rejection(engine.fork_run(&state.run, otherwise, Some(key)).await.map(drop))
    }
}

/// A result that nobody executed anything for.
fn forge_result(chance: &mut SeededRng, action: &str, order: &PendingAction) -> InputKind {
    let action = action.to_owned();
    let note = format!("forged {}", chance.next_below(9));
    match order {
        PendingAction::Model { .. } => InputKind::ModelReplied(Box::new(ModelReply {
            action,
            text: json!({ "note": note }).to_string(),
            finish: FinishReason::Stop,
            by: "mallory".to_owned(),
            usage: ReplyUsage::default(),
            response_format: None,
            exchange: None,
            packet_build: None,
            repairs: Vec::new(),
        })),
        PendingAction::Hook { .. } => {
            let ops = json!([{ "op": "add", "path": "/note", "value": note }]);
            let answer = match chance.next_below(3) {
                0 => HookAnswer::Ok,
                1 => HookAnswer::Redirect { to: "put".to_owned() },
                _ => HookAnswer::Patch { ops },
            };
            InputKind::HookFinished { action, answer }
        }
        PendingAction::Tool { .. } => {
            InputKind::ToolFinished { action, ok: true, output: "forged".to_owned() }
        }
        _ => InputKind::EffectFinished { action, result: json!({ "path": "forged" }) },
    }
}

async fn submit(engine: &Engine, run: &str, input: InputKind) -> Result<(), EngineError> {
    ignore_rejection(engine.submit_input(run, input, None).await.map(drop))
}

/// What is refused changes nothing; a store that fails ends the life.
fn ignore_rejection(outcome: Result<(), EngineError>) -> Result<(), EngineError> {
    match outcome {
        Err(EngineError::Rejected(_)) => Ok(()),
        other => other,
    }
}

/// Calls and transitions of a run that people signed, computed from what its log says they saw.
#[derive(Default)]
struct Signatures {
    /// Who approved each call, by action: the call as it was shown.
    calls: BTreeMap<String, Value>,
    /// Who approved which parts and files, since the phase was entered.
    subjects: BTreeMap<String, BTreeSet<String>>,
    /// Notes whose transition was taken with two signatures.
    released: BTreeSet<String>,
    deputies: BTreeSet<String>,
    /// The run that this one is a fork of; what was signed there stands in its document.
    origin: Option<String>,
}

/// What a story did, for the tests that want to know that something happened.
#[derive(Debug, Default)]
struct Deeds {
    files: usize,
    programs: usize,
    runs: usize,
    superseded: usize,
    denied: usize,
    copies: usize,
    hooked: usize,
    answered: usize,
    escalated: usize,
    expired: usize,
    tampered: usize,
}

impl Deeds {
    /// The counts by their names.
    fn counts(&self) -> [(&'static str, usize); 11] {
        [
            ("files", self.files),
            ("programs", self.programs),
            ("runs", self.runs),
            ("superseded waits", self.superseded),
            ("denied calls", self.denied),
            ("copies", self.copies),
            ("approvals that a hook voided", self.hooked),
            ("answers", self.answered),
            ("escalations", self.escalated),
            ("expired approvals", self.expired),
            ("approvals of a file that changed", self.tampered),
        ]
    }
}

/// Holds the world against the logs: each file and each program's mark against a signature.
async fn nobody_acted_unsigned(world: &World, label: &str) -> Deeds {
    let judgement = world.judge().await;
    let engine = world.app.engine();
    let mut deeds = Deeds { runs: judgement.ends.len(), ..Deeds::default() };
    let mut signed = BTreeMap::new();
    for run in judgement.ends.keys() {
        signed.insert(run.clone(), read_signatures(&engine, run, &mut deeds, label).await);
    }
    let approved = |call: &dyn Fn(&Value) -> bool| {
        signed.values().flat_map(|run| run.calls.values()).any(call)
    };
    for (path, content) in &judgement.files {
        let written = |call: &Value| call["path"] == *path && call["content"] == *content;
        if let Some((run, note)) = path.strip_prefix("out/").and_then(|path| path.split_once('/')) {
            deeds.files += 1;
            assert_eq!(note.strip_suffix(".md"), Some(content.as_str()), "{label}");
            assert!(signed[run].calls.values().any(written), "{label}: {path} was not approved");
            let mut line = std::iter::successors(Some(&signed[run]), |run| {
                run.origin.as_ref().map(|origin| &signed[origin])
            });
            let is_signed = line.any(|run| run.released.contains(content));
            assert!(is_signed, "{label}: {content} was not signed by two");
        } else if let Some(run) =
            path.strip_prefix("sent/").and_then(|path| path.strip_suffix(".csv"))
        {
            deeds.copies += 1;
            let digest = format!("sha256:{}", sha256_hex(&[content.as_bytes()]));
            let copied = |call: &Value| call["to"] == *path && call["digest"] == digest;
            assert!(signed[run].calls.values().any(copied), "{label}: {path} was not approved");
        } else if path.starts_with("made/") {
            deeds.files += 1;
            assert!(approved(&written), "{label}: {path} was not approved");
        }
    }
    for mark in judgement.files.get("marks.txt").map_or("", String::as_str).lines() {
        deeds.programs += 1;
        let (id, argument) = mark.split_once(' ').unwrap();
        let (run, action) = id.split_once('/').unwrap();
        let call = signed[run].calls.get(action);
        let call = call.unwrap_or_else(|| panic!("{label}: the program of {id} was not approved"));
        assert_eq!(call["args"], json!([argument]), "{label}: {id} had other arguments");
    }
    deeds
}

/// Reads a log as an auditor does: who saw what and said yes, and what was done after that.
async fn read_signatures(engine: &Engine, run: &str, deeds: &mut Deeds, label: &str) -> Signatures {
    let mut signed = Signatures::default();
    let mut waits: BTreeMap<String, RunWait> = BTreeMap::new();
    let mut state = RunState::new(run);
    for entry in engine.read_log(run).await.unwrap() {
        let mut contents = BTreeMap::new();
        for event in entry.decode_events(run).unwrap() {
            match &event {
                RunEvent::WaitOpened { wait } => {
                    deeds.superseded += usize::from(!wait.supersedes.is_empty());
                    let unchanged = |old: &String| list_parts(&waits[old]) == list_parts(wait);
                    deeds.tampered += usize::from(wait.supersedes.last().is_some_and(unchanged));
                    waits.insert(wait.id.clone(), (**wait).clone());
                }
                RunEvent::CallDenied { .. } => deeds.denied += 1,
                RunEvent::WaitEscalated { wait } => {
                    deeds.escalated += 1;
                    let approval = waits[wait].approval.as_ref().unwrap();
                    signed.deputies.extend(approval.escalate_to.iter().map(ToString::to_string));
                }
                RunEvent::WaitClosed { resolution: WaitResolution::Expired, .. } => {
                    deeds.expired += 1;
                }
                RunEvent::PhaseEntered { .. } => {
                    signed.subjects.clear();
                    signed.deputies.clear();
                }
                RunEvent::DocumentChanged { .. } => {
                    let is_hook = state.decisions.values().any(|decision| decision.approve);
                    deeds.hooked += usize::from(is_hook && state.phase == "look");
                }
                RunEvent::TransitionTaken { transition: Some(_), to, .. } if to == "put" => {
                    let parts = ["/note", "/title", "/sheet"].map(|pointer| {
                        let value = state.document.pointer(pointer).cloned();
                        (pointer.to_owned(), value.unwrap_or_default())
                    });
                    let shown = state.document["sheet"].as_str();
                    let content = |path: &str| contents.get(path).cloned().flatten();
                    let files = shown.map(|path| (path.to_owned(), content(path)));
                    let subject = describe(parts, files);
                    let count = signed.subjects.get(&subject).map_or(0, BTreeSet::len);
                    assert!(count >= 2, "{label}: {run}: {count} signed {subject}");
                    signed.released.insert(state.document["note"].as_str().unwrap().to_owned());
                }
                RunEvent::InputReceived { input } => {
                    contents.clone_from(&input.file_digests);
                    match &input.payload {
                        InputKind::Start(start) => {
                            signed.origin = start.fork.as_ref().map(|fork| fork.run.clone());
                        }
                        InputKind::Answered { .. } => deeds.answered += 1,
                        InputKind::Delegated { to, by, .. } if may_approve(&signed, by) => {
                            signed.deputies.insert(to.clone());
                        }
                        InputKind::ApprovalDecided { wait, approve: true, by, subject, .. }
                            if may_approve(&signed, by) =>
                        {
                            sign(&mut signed, &waits[wait], by, subject.as_deref(), label);
                        }
                        InputKind::ToolFinished { action, .. }
                        | InputKind::EffectFinished { action, .. } => {
                            let (_, call) = state.pending[action].describe_call().unwrap();
                            let held = call["name"] != "read";
                            assert!(
                                !held || signed.calls.get(action) == Some(&call),
                                "{label}: {run}/{action} was done and not approved: {call}"
                            );
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
            apply(&mut state, &event).unwrap();
        }
    }
    signed
}

/// The parts of the document and the files that an approval is for, as one text.
fn describe(
    parts: impl IntoIterator<Item = (String, Value)>,
    files: impl IntoIterator<Item = (String, Option<String>)>,
) -> String {
    let parts: Map<String, Value> = parts.into_iter().collect();
    let files: Map<String, Value> =
        files.into_iter().map(|(path, digest)| (path, json!(digest))).collect();
    json!({ "parts": parts, "files": files }).to_string()
}

fn list_parts(wait: &RunWait) -> &[SubjectPart] {
    wait.subject.as_ref().map_or(&[], |subject| &subject.parts)
}

fn may_approve(signed: &Signatures, by: &str) -> bool {
    APPROVERS.contains(&by) || signed.deputies.contains(by)
}

/// Notes a yes to exactly what the digest says, computed anew from the parts that were shown.
fn sign(signed: &mut Signatures, wait: &RunWait, by: &str, digest: Option<&str>, label: &str) {
    let subject = wait.subject.as_ref().unwrap();
    assert_eq!(digest, Some(subject.digest.as_str()), "{label}: another digest was accepted");
    match &wait.action {
        Some(action) => {
            let value = &subject.parts[0].value;
            assert_eq!(digest_json(&json!({ "call": value })), subject.digest, "{label}");
            signed.calls.insert(action.clone(), value.clone());
        }
        None => {
            let parts: Vec<(String, Value)> = subject
                .parts
                .iter()
                .map(|part| (part.pointer.clone(), part.value.clone()))
                .collect();
            let shown = wait.presented.iter().filter_map(|part| part.file.as_ref());
            let files: BTreeMap<String, Option<String>> =
                shown.map(|file| (file.path.clone(), file.digest.clone())).collect();
            let members: Map<String, Value> = parts.iter().cloned().collect();
            let mut whole =
                json!({ "transition": { "from": "look", "to": "put" }, "parts": members });
            if !files.is_empty() {
                whole["files"] = json!(files);
            }
            assert_eq!(digest_json(&whole), subject.digest, "{label}: another digest was shown");
            let subject = describe(parts, files);
            signed.subjects.entry(subject).or_default().insert(by.to_owned());
        }
    }
}

/// Lives these lives and then a good one, with people who do harm, and judges what was done.
async fn lived(seed: u64, harm: usize, lives: &[Life], label: &str) -> (Deeds, u64) {
    let world = World::with_crowd(&stories::signed(), Crowd::new(seed, harm));
    for life in lives {
        if world.live(life).is_some() {
            break;
        }
    }
    let writes = world.live(&Life::good()).expect("the last life comes to an end");
    (nobody_acted_unsigned(&world, label).await, writes)
}

/// Dies at every write of a story, on one side of it.
async fn dies_at_every_write(fault: InjectedFault) {
    let (_, writes) = lived(0, 6, &[], "undisturbed").await;
    assert!(writes > 40, "a story worth telling: {writes} writes");
    for write in 1..=writes {
        let life = Life { plan: FaultPlan::Crash { write, fault }, polls: None };
        lived(write, 6, &[life], &format!("dies at write {write}, {fault:?}")).await;
    }
}

#[tokio::test]
async fn no_death_before_a_write_lets_an_unsigned_action_through() {
    dies_at_every_write(InjectedFault::BeforeWrite).await;
}

#[tokio::test]
async fn no_death_after_a_write_lets_an_unsigned_action_through() {
    dies_at_every_write(InjectedFault::AfterWrite).await;
}

#[tokio::test]
async fn no_lost_reply_of_a_write_lets_an_unsigned_action_through() {
    dies_at_every_write(InjectedFault::LostReply).await;
}

#[tokio::test]
async fn no_chance_lets_an_unsigned_action_through() {
    let seeds: u64 =
        std::env::var("COUNTERSIGN_SEEDS_OF_CHANCE").map_or(120, |seeds| seeds.parse().unwrap());
    let mut all = [0; 11];
    for seed in 0..seeds {
        let mut chance = SeededRng::for_case(0x51D, seed);
        let lives: Vec<Life> =
            (0..chance.next_between(1, 4)).map(|_| Life::by_chance(&mut chance, 60)).collect();
        let (deeds, _) = lived(seed, 12, &lives, &format!("seed {seed}: {lives:?}")).await;
        for (sum, (_, count)) in all.iter_mut().zip(deeds.counts()) {
            *sum += count;
        }
    }
    println!("{seeds} stories");
    for (sum, (name, _)) in all.into_iter().zip(Deeds::default().counts()) {
        println!("{sum} {name}");
        // Forks are runs beside the first of each story; timers are reached less often.
        let least = match name {
            "runs" => seeds + seeds / 2,
            "escalations" | "expired approvals" => seeds / 30,
            _ => seeds / 2,
        };
        assert!(sum as u64 >= least, "a law about nothing: {sum} {name} in {seeds} stories");
    }
}
