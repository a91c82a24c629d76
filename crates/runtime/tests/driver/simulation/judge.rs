//! What must hold after every life, and what must be the same however many there were.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use countersign_run::{EffectCall, RunEvent, RunState, fold_entry};
use countersign_runtime::engine::Engine;
use countersign_runtime::integrity::verify_stored_run;
use countersign_store::{RunFilter, TenantId};
use serde_json::Value;

use super::world::World;

/// What a story came to.
#[derive(Debug, PartialEq)]
pub(super) struct Judgement {
    /// Status, phase and document of each run.
    pub(super) ends: BTreeMap<String, (String, String, Value)>,
    /// The words of each run's log.
    pub(super) kinds: BTreeMap<String, Vec<&'static str>>,
    /// Every file of the folder of work but the programs' own marks.
    pub(super) files: BTreeMap<String, String>,
    /// Orders to programs that were carried out.
    pub(super) programs: BTreeSet<String>,
}

impl World {
    async fn runs(&self, engine: &Engine) -> Vec<String> {
        let filter = RunFilter::newest(TenantId::default(), 100);
        let mut runs: Vec<String> = engine
            .store()
            .list_runs(&filter)
            .await
            .unwrap()
            .into_iter()
            .map(|head| head.run.id)
            .collect();
        runs.sort();
        runs
    }

    /// The text of every log.
    pub(super) async fn logs(&self) -> Vec<String> {
        let engine = self.app.engine();
        let mut logs = Vec::new();
        for run in self.runs(&engine).await {
            logs.extend(engine.read_log(&run).await.unwrap().into_iter().map(|one| one.body));
        }
        logs
    }

    /// Checks everything that was kept.
    pub(super) async fn judge(&self) -> Judgement {
        let engine = self.app.engine();
        let (mut ends, mut kinds) = (BTreeMap::new(), BTreeMap::new());
        let mut versions: BTreeMap<(String, u64), Vec<RunEvent>> = BTreeMap::new();
        let mut ordered = BTreeSet::new();
        let mut done = BTreeSet::new();
        for run in self.runs(&engine).await {
            // The log proves itself, and what is loaded from snapshots is its fold.
            let proved = verify_stored_run(&engine, &run).await.unwrap().unwrap();
            let loaded = engine.load_version(&run, None).await.unwrap();
            assert_eq!(*loaded.state, proved.state, "the state is the fold");
            assert_eq!(loaded.hash, proved.hash);
            let mut state = RunState::new(&run);
            let mut words = Vec::new();
            for one in engine.read_log(&run).await.unwrap() {
                for event in fold_entry(&mut state, &one.body).unwrap() {
                    // Whether a moment is stamped depends on whether another came before it.
                    if !matches!(event, RunEvent::EngineFieldsUpdated { .. }) {
                        words.push(event.kind());
                    }
                    match &event {
                        RunEvent::EffectRequested {
                            action,
                            effect: EffectCall::Run { .. },
                            ..
                        } => {
                            ordered.insert(format!("{run}/{action}"));
                        }
                        RunEvent::EffectFinished { action } => {
                            done.insert(format!("{run}/{action}"));
                        }
                        _ => {}
                    }
                    versions.entry((run.clone(), one.version)).or_default().push(event);
                }
            }
            assert!(state.pending.is_empty(), "nothing is left to do: {:?}", state.pending);
            let actions = engine.store().list_actions(&engine.run_id(&run)).await.unwrap();
            assert!(actions.is_empty(), "and the store knows: {actions:?}");
            let mut document = (*state.document).clone();
            timeless(&mut document);
            ends.insert(run.clone(), (state.status().as_str().to_owned(), state.phase, document));
            kinds.insert(run, words);
        }
        self.acknowledged(&engine, &versions).await;
        let marks = self.app.file("ids.txt");
        let programs: BTreeSet<String> = marks.lines().map(str::to_owned).collect();
        assert!(programs.is_subset(&ordered), "nothing was done that was not ordered");
        let missing: Vec<_> =
            ordered.intersection(&done).filter(|id| !programs.contains(*id)).collect();
        assert!(missing.is_empty(), "what is done was done: {missing:?}");
        let mut files = BTreeMap::new();
        gather(&self.app.work(), "", &mut files);
        files.remove("ids.txt");
        Judgement { ends, kinds, files, programs }
    }

    /// What somebody was told is kept, is kept.
    async fn acknowledged(
        &self,
        engine: &Engine,
        versions: &BTreeMap<(String, u64), Vec<RunEvent>>,
    ) {
        let (kept, taken) = {
            let witness = &self.witness;
            (witness.kept.lock().unwrap().clone(), witness.taken.lock().unwrap().clone())
        };
        for (run, version, events) in kept {
            let found = versions.get(&(run.clone(), version));
            assert_eq!(found, Some(&events), "version {version} of {run} was acknowledged");
        }
        for (run, key) in taken {
            let found = engine.store().find_key_version(&engine.run_id(&run), &key).await.unwrap();
            assert!(found.is_some(), "`{key}` was taken");
        }
    }
}

/// A document without the moments in it.
fn timeless(document: &mut Value) {
    match document {
        Value::Object(members) => {
            members.retain(|name, _| !name.ends_with("_at"));
            members.values_mut().for_each(timeless);
        }
        Value::Array(items) => items.iter_mut().for_each(timeless),
        _ => {}
    }
}

fn gather(folder: &Path, below: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{below}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            gather(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}
