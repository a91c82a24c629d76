//! A world: what outlives a process, and one process after another in it.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use countersign_run::{InputKind, RunEvent, RunState};
use countersign_runtime::clock::Clock;
use countersign_runtime::driver::IdleReason;
use countersign_runtime::engine::{Engine, EngineError};
use countersign_runtime::run_observer::RunObserver;
use countersign_store::{FaultPlan, FaultyStore, InjectedFault, RunFilter, Store, TenantId};
use serde_json::json;
use testkit::SeededRng;

use super::clock::Simulated;
use super::signed::Crowd;
use super::stories::Story;
use crate::rig::{Kind, TestApp};

/// One process, and how it ends.
#[derive(Debug, Clone)]
pub(super) struct Life {
    /// What goes wrong with its writes.
    pub(super) plan: FaultPlan,
    /// How often it is polled before it dies, where it dies for no reason.
    pub(super) polls: Option<usize>,
}

impl Life {
    pub(super) fn good() -> Self {
        Self { plan: FaultPlan::NoFaults, polls: None }
    }

    /// A death at one of so many writes, or writes that fail now and then.
    pub(super) fn by_writes(chance: &mut SeededRng, writes: u64) -> Self {
        let plan = if chance.roll_percent(30) {
            FaultPlan::Seeded { seed: chance.next_u64(), per_mille: 150 }
        } else {
            let write = chance.next_between(1, writes as usize) as u64;
            let fault = *chance.pick(&[
                InjectedFault::BeforeWrite,
                InjectedFault::AfterWrite,
                InjectedFault::LostReply,
            ]);
            FaultPlan::Crash { write, fault }
        };
        Self { plan, polls: None }
    }

    /// The same, or a death anywhere.
    pub(super) fn by_chance(chance: &mut SeededRng, writes: u64) -> Self {
        let mut life = Self::by_writes(chance, writes);
        life.polls = chance.roll_percent(30).then(|| chance.next_between(1, 60));
        life
    }
}

/// Everything that was acknowledged.
#[derive(Default)]
pub(super) struct Witness {
    /// Run, version, events.
    pub(super) kept: Mutex<Vec<(String, u64, Vec<RunEvent>)>>,
    /// Run and key of what people were told is taken.
    pub(super) taken: Mutex<Vec<(String, String)>>,
}

impl RunObserver for Witness {
    fn on_commit(&self, state: &RunState, events: &[RunEvent]) {
        let kept = (state.run.clone(), state.version, events.to_vec());
        self.kept.lock().unwrap().push(kept);
    }

    fn on_model_text(&self, _: &RunState, _: &str, _: &str) {}
}

/// What outlives a process.
pub(super) struct World {
    pub(super) app: TestApp,
    pub(super) clock: Arc<Simulated>,
    pub(super) witness: Arc<Witness>,
    answers: Vec<(&'static str, serde_json::Value)>,
    /// Who decides instead of those who give the story's answers.
    crowd: Option<Crowd>,
    lives: Mutex<usize>,
}

impl World {
    pub(super) fn with_crowd(story: &Story, crowd: Crowd) -> Self {
        Self { crowd: Some(crowd), ..Self::new(story) }
    }

    pub(super) fn new(story: &Story) -> Self {
        Self::over(Kind::Memory, story)
    }

    pub(super) fn on_sqlite(story: &Story) -> Self {
        Self::over(Kind::Sqlite, story)
    }

    fn over(kind: Kind, story: &Story) -> Self {
        let app = TestApp::loaded(kind, &story.protocol, &story.files);
        for (path, content) in &story.files {
            if content.starts_with("#!") {
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(app.work().join(path), mode).unwrap();
            }
        }
        let answers = story.answers.clone();
        Self {
            app,
            clock: Arc::new(Simulated::new()),
            witness: Arc::default(),
            answers,
            crowd: None,
            lives: Mutex::default(),
        }
    }

    /// Lives one life. Gives the number of its writes where it saw the end of every run. It has a runtime of its
    /// own, which goes with it and its threads: no file is written by the dead.
    pub(super) fn live(&self, life: &Life) -> Option<u64> {
        let lived = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(self.lived(life))
        };
        let over = std::thread::scope(|process| process.spawn(lived).join());
        over.unwrap_or_else(|fault| std::panic::resume_unwind(fault))
    }

    async fn lived(&self, life: &Life) -> Option<u64> {
        let number = {
            let mut lives = self.lives.lock().unwrap();
            *lives += 1;
            *lives
        };
        let store = Arc::new(FaultyStore::new(Arc::clone(&self.app.store), life.plan.clone()));
        let last = match life.plan {
            FaultPlan::Crash { write, fault: InjectedFault::LostReply } => write,
            _ => u64::MAX,
        };
        let unheard = async {
            // The write is done in the same poll in which it is counted; nobody hears of it.
            while store.write_count() < last {
                tokio::task::yield_now().await;
            }
        };
        let work =
            Mortal { work: pin!(self.work(Arc::clone(&store) as _, number)), left: life.polls };
        let over = tokio::select! {
            biased;
            over = work => over,
            () = unheard, if last < u64::MAX => false,
        };
        // Nobody gave its leases back.
        self.clock.advance(30_000);
        over.then(|| store.write_count())
    }

    /// What a process does: begins the run, works on all there are, asks people, lets time go by.
    /// False where the store is gone for good.
    async fn work(&self, store: Arc<dyn Store>, number: usize) -> bool {
        let engine =
            self.app.engine_at(store, Arc::clone(&self.clock) as _, Arc::clone(&self.witness) as _);
        let driver = self.app.driver(&engine, &format!("w{number}"));
        // Faults that pass are met again and again; one that lasts ends the process.
        for _ in 0..400 {
            match self.round(&engine, &driver).await {
                Ok(true) => return true,
                Ok(false) => {}
                Err(EngineError::Store(_)) => {
                    if engine.store().load_head(&engine.run_id("r1")).await.is_err() {
                        return false;
                    }
                }
                Err(other) => panic!("{other}"),
            }
        }
        panic!("the story does not end");
    }

    async fn round(
        &self,
        engine: &Engine,
        driver: &countersign_runtime::driver::Driver,
    ) -> Result<bool, EngineError> {
        let begun = engine.start_named_run(
            "r1",
            &self.app.protocol,
            self.app.begin(),
            Some("start".to_owned()),
        );
        begun.await?;
        let mut seen = BTreeSet::new();
        let mut over = true;
        let mut wakes: Option<i64> = None;
        loop {
            let filter = RunFilter::newest(TenantId::default(), 100);
            let heads = engine.store().list_runs(&filter).await?;
            let Some(head) = heads.into_iter().find(|head| seen.insert(head.run.id.clone())) else {
                break;
            };
            let run = &head.run.id;
            match driver.drive(run).await? {
                IdleReason::Ended(_) => continue,
                // Processes died too often on it, and somebody lets it go on.
                IdleReason::Parked => {
                    engine.store().unpark_run(&head.run, self.clock.now().0).await?;
                }
                _ => {}
            }
            over = false;
            match &self.crowd {
                Some(crowd) => crowd.act(engine, run).await?,
                None => self.answer(engine, run).await?,
            }
            let head = engine.store().load_head(&head.run).await?;
            let now = self.clock.now().0;
            let later = head.and_then(|head| head.wake_at).filter(|at| *at > now);
            wakes = wakes.into_iter().chain(later).min();
        }
        if let Some(wakes) = wakes {
            self.clock.reach(wakes);
        }
        Ok(over)
    }

    /// People answer what they are asked, each under a key, until they are told that it is taken.
    async fn answer(&self, engine: &Engine, run: &str) -> Result<(), EngineError> {
        for wait in engine.get_run(run).await?.state.waits.values() {
            let Some((_, value)) = self.answers.iter().find(|(name, _)| *name == wait.name) else {
                continue;
            };
            let (id, by) = (wait.id.clone(), "anna".to_owned());
            let what = match wait.kind {
                countersign_run::WaitKind::Approval => {
                    wait.decide(*value == json!(true), &by, None)
                }
                _ => InputKind::Answered { wait: id, value: value.clone(), by },
            };
            let key = format!("answer to {}", wait.id);
            engine.submit_input(run, what, Some(key.clone())).await?;
            self.witness.taken.lock().unwrap().push((run.to_owned(), key));
        }
        Ok(())
    }
}

/// Work that ends after so many polls, done or not.
struct Mortal<'w, F> {
    work: Pin<&'w mut F>,
    left: Option<usize>,
}

impl<F: Future<Output = bool>> Future for Mortal<'_, F> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        match &mut self.left {
            Some(0) => return Poll::Ready(false),
            Some(left) => *left -= 1,
            None => {}
        }
        self.work.as_mut().poll(context)
    }
}
