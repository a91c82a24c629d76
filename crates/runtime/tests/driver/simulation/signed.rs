//! Signatures under death: whatever people, forks and clocks do, and wherever processes die, nothing
//! is written or run that nobody with authority approved as it was done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use countersign_contract::json::digest_json;
use countersign_run::{InputKind, RunEvent, RunState, RunWait, fold_entry};
use countersign_runtime::engine::{Engine, EngineError, ForkOptions};
use countersign_store::{FaultPlan, InjectedFault};
use serde_json::{Value, json};
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
                submit(engine, run, wait.decide(true, by, None)).await?;
            }
        }
        Ok(())
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
        let tampered = json!({ "merge": { "note": format!("n{}", chance.next_below(1_000)) } });
        let tampered = InputKind::ManualPatch { text: tampered.to_string(), by: by.clone() };
        let Some(wait) = (!waits.is_empty()).then(|| *chance.pick(&waits)) else { return tampered };
        let action = wait.action.clone().unwrap_or_default();
        match chance.next_below(11) {
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
            9 => InputKind::EffectFinished { action, result: json!({ "path": "forged" }) },
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
    /// Who approved which note, since the phase was entered.
    notes: BTreeMap<String, BTreeSet<String>>,
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
        let before = state.clone();
        for event in fold_entry(&mut state, &entry.body).unwrap() {
            match event {
                RunEvent::WaitOpened { wait } => {
                    deeds.superseded += usize::from(!wait.supersedes.is_empty());
                    waits.insert(wait.id.clone(), *wait);
                }
                RunEvent::CallDenied { .. } => deeds.denied += 1,
                RunEvent::WaitEscalated { wait } => {
                    let approval = waits[&wait].approval.as_ref().unwrap();
                    signed.deputies.extend(approval.escalate_to.iter().map(ToString::to_string));
                }
                RunEvent::PhaseEntered { .. } => {
                    signed.notes.clear();
                    signed.deputies.clear();
                }
                RunEvent::TransitionTaken { transition: Some(_), .. } if before.phase == "look" => {
                    let Some(note) = before.document["note"].as_str() else { continue };
                    let count = signed.notes.get(note).map_or(0, BTreeSet::len);
                    if count >= 2 {
                        signed.released.insert(note.to_owned());
                    }
                }
                RunEvent::InputReceived { input } => match &input.payload {
                    InputKind::Start(start) => {
                        signed.origin = start.fork.as_ref().map(|fork| fork.run.clone());
                    }
                    InputKind::Delegated { to, by, .. } if may_approve(&signed, by) => {
                        signed.deputies.insert(to.clone());
                    }
                    InputKind::ApprovalDecided { wait, approve: true, by, subject, .. } => {
                        if may_approve(&signed, by) {
                            sign(&mut signed, &waits[wait], by, subject.as_deref(), label);
                        }
                    }
                    InputKind::ToolFinished { action, .. }
                    | InputKind::EffectFinished { action, .. } => {
                        let (_, call) = before.pending[action].describe_call().unwrap();
                        let held = call["name"] != "read";
                        assert!(
                            !held || signed.calls.get(action) == Some(&call),
                            "{label}: {run}/{action} was done and not approved: {call}"
                        );
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }
    signed
}

fn may_approve(signed: &Signatures, by: &str) -> bool {
    APPROVERS.contains(&by) || signed.deputies.contains(by)
}

/// Notes a yes to exactly what the digest says, computed anew from the parts that were shown.
fn sign(signed: &mut Signatures, wait: &RunWait, by: &str, digest: Option<&str>, label: &str) {
    let subject = wait.subject.as_ref().unwrap();
    assert_eq!(digest, Some(subject.digest.as_str()), "{label}: another digest was accepted");
    let value = &subject.parts[0].value;
    match &wait.action {
        Some(action) => {
            assert_eq!(digest_json(&json!({ "call": value })), subject.digest, "{label}");
            signed.calls.insert(action.clone(), value.clone());
        }
        None => {
            let note = value.as_str().unwrap().to_owned();
            signed.notes.entry(note).or_default().insert(by.to_owned());
        }
    }
}

/// Lives these lives and then a good one, with people who do harm, and judges what was done.
async fn lived(seed: u64, lives: &[Life], label: &str) -> (Deeds, u64) {
    let world = World::with_crowd(&stories::signed(), Crowd::new(seed, 12));
    for life in lives {
        if world.live(life).is_some() {
            break;
        }
    }
    let writes = world.live(&Life::good()).expect("the last life comes to an end");
    (nobody_acted_unsigned(&world, label).await, writes)
}

#[tokio::test]
async fn no_death_at_a_write_lets_an_unsigned_action_through() {
    let (_, writes) = lived(0, &[], "undisturbed").await;
    assert!(writes > 40, "a story worth telling: {writes} writes");
    for write in 1..=writes {
        for fault in
            [InjectedFault::BeforeWrite, InjectedFault::AfterWrite, InjectedFault::LostReply]
        {
            let life = Life { plan: FaultPlan::Crash { write, fault }, polls: None };
            lived(write, &[life], &format!("dies at write {write}, {fault:?}")).await;
        }
    }
}

#[tokio::test]
async fn no_chance_lets_an_unsigned_action_through() {
    let seeds: u64 =
        std::env::var("COUNTERSIGN_SEEDS_OF_CHANCE").map_or(120, |seeds| seeds.parse().unwrap());
    let mut all = Deeds::default();
    for seed in 0..seeds {
        let mut chance = SeededRng::for_case(0x51D, seed);
        let lives: Vec<Life> =
            (0..chance.next_between(1, 4)).map(|_| Life::by_chance(&mut chance, 60)).collect();
        let (deeds, _) = lived(seed, &lives, &format!("seed {seed}: {lives:?}")).await;
        all.files += deeds.files;
        all.programs += deeds.programs;
        all.runs += deeds.runs;
        all.superseded += deeds.superseded;
        all.denied += deeds.denied;
    }
    let enough = |count: usize, name: &str| {
        assert!(count as u64 >= seeds / 2, "a law about nothing: {name} in {all:?}");
    };
    enough(all.files, "files");
    enough(all.programs, "programs");
    enough(all.superseded, "superseded waits");
    enough(all.denied, "denied calls");
    enough(all.runs.saturating_sub(seeds as usize), "forks");
}
