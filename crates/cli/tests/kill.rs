//! Real processes are killed at random moments, over and over, on a real file: nothing that was
//! acknowledged is lost, nothing is done that was not ordered, and every run comes to its end.
//!
//! `COUNTERSIGN_KILLS=200` makes it long; `COUNTERSIGN_SEED` makes it another one.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "kill/site.rs"]
mod site;
#[path = "kill/aftermath.rs"]
mod aftermath;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use testkit::SeededRng;

use site::{End, Site};

/// How many kills are enough to see that it works; the long one is for when something changed here.
const FEW: usize = 40;

/// How many runs are under way at once.
const CROWD: usize = 4;

#[test]
fn killed_processes_lose_nothing_and_do_nothing_twice() {
    let number = |name: &str, default: usize| {
        std::env::var(name).map_or(default, |value| value.parse().unwrap())
    };
    let (kills, seed) = (number("COUNTERSIGN_KILLS", FEW), number("COUNTERSIGN_SEED", 1));
    if kills < 200 {
        let why = format!("{kills} kills were made; COUNTERSIGN_KILLS=200 makes as many");
        testkit::report_not_run("kill, the long one", &why);
    }
    let begun = Instant::now();
    let mut story = Story::new(seed as u64);
    while story.kills < kills {
        story.disturb();
    }
    story.finish();
    let checked = aftermath::check(&story.site, &story.started, &story.acknowledged);
    println!(
        "seed {seed}: {} kills of {} processes, {} runs; {} answers acknowledged and kept; \
         {} events proved; {} orders to a program, carried out {} times; {} files; {} s",
        story.kills,
        story.processes,
        story.started.len(),
        story.acknowledged.len(),
        checked.events,
        checked.orders,
        checked.marks,
        checked.files,
        begun.elapsed().as_secs()
    );
}

/// What has happened so far.
struct Story {
    site: Site,
    chance: SeededRng,
    /// How long a process takes before it does anything, and until its end.
    life: (Duration, Duration),
    kills: usize,
    processes: usize,
    /// Runs that were acknowledged, by key, and whether they are over.
    started: BTreeMap<String, bool>,
    /// Keys that nobody has heard of yet.
    begun: Option<String>,
    /// Answers that were acknowledged: run and key.
    acknowledged: Vec<(String, String)>,
}

impl Story {
    fn new(seed: u64) -> Self {
        let site = Site::new();
        // One run in peace shows how long a process lives, and one call that it does nothing at first.
        let begun = Instant::now();
        let end = site.start("key-0", "0").run();
        let whole = begun.elapsed();
        assert!(matches!(end, End::Good(_)), "{end:?}");
        let begun = Instant::now();
        let end = site.resume("key-0").run();
        let life = (begun.elapsed().mul_f64(0.7), whole);
        assert!(matches!(end, End::Good(_)), "{end:?}");
        let started = BTreeMap::from([("key-0".to_owned(), false)]);
        let chance = SeededRng::new(seed);
        let (kills, processes, begun) = (0, 2, None);
        Self { site, chance, life, kills, processes, started, begun, acknowledged: Vec::new() }
    }

    /// Starts one to three processes at once, and kills each at some moment of its life.
    fn disturb(&mut self) {
        let mut running = Vec::new();
        for _ in 0..self.chance.next_between(1, 3) {
            let errand = self.errand();
            let moment = self.moment();
            running.push((errand.spawn(), moment, errand));
        }
        let begun = Instant::now();
        running.sort_by_key(|(_, moment, _)| *moment);
        for (child, moment, errand) in running {
            let end = child.until(begun + moment);
            self.kills += usize::from(matches!(end, End::Killed));
            self.note(&errand, &end);
        }
    }

    /// When to kill: mostly while something is being done, now and then before or after.
    fn moment(&mut self) -> Duration {
        let (idle, whole) = self.life;
        let share = self.chance.next_below(1_000) as f64 / 1_000.0;
        if self.chance.roll_percent(80) {
            idle + whole.saturating_sub(idle).mul_f64(share)
        } else {
            whole.mul_f64(1.2 * share)
        }
    }

    /// Something that somebody would do now.
    fn errand(&mut self) -> site::Errand {
        self.processes += 1;
        let open: Vec<String> =
            self.started.iter().filter(|(_, over)| !**over).map(|(run, _)| run.clone()).collect();
        if open.len() < CROWD {
            let key = self.begun.clone().unwrap_or_else(|| self.started.len().to_string());
            self.begun = Some(key.clone());
            return self.site.start(&format!("key-{key}"), &key);
        }
        let run = self.chance.pick(&open).clone();
        if self.site.is_parked(&run) {
            return self.site.unpark(&run);
        }
        // Whoever asks may be told something that is over by the time it is answered.
        match self.site.open_wait(&run) {
            Some(wait) => self.site.answer(&run, &wait),
            None => self.site.resume(&run),
        }
    }

    fn note(&mut self, errand: &site::Errand, end: &End) {
        let outcome = match end {
            End::Good(outcome) => outcome,
            End::Killed => return,
            // Two who find it parked both say that it may go on, and one of them is late.
            End::Bad(complaint) if complaint.contains("there is nothing to resume") => return,
            // Nobody does anything here that a run would not take.
            End::Bad(complaint) => panic!("{}: {complaint}", errand.run),
        };
        if let Some(key) = &errand.answers {
            self.acknowledged.push((errand.run.clone(), key.clone()));
        }
        if errand.begins {
            self.begun = None;
        }
        let over = outcome["status"] == "completed";
        let known = self.started.entry(errand.run.clone()).or_insert(false);
        *known |= over;
    }

    /// Lets every run come to its end in peace.
    fn finish(&mut self) {
        if let Some(key) = self.begun.take() {
            let errand = self.site.start(&format!("key-{key}"), &key);
            let end = errand.run();
            assert!(matches!(end, End::Good(_)), "{end:?}");
            self.note(&errand, &end);
        }
        for _ in 0..1_000 {
            let open = self.started.iter().find(|(_, over)| !**over);
            let Some(run) = open.map(|(run, _)| run.clone()) else { return };
            let errand = match self.site.open_wait(&run) {
                _ if self.site.is_parked(&run) => self.site.unpark(&run),
                Some(wait) => self.site.answer(&run, &wait),
                None => self.site.resume(&run),
            };
            self.processes += 1;
            let end = errand.run();
            assert!(matches!(end, End::Good(_)), "{}: {end:?}", errand.run);
            self.note(&errand, &end);
        }
        panic!("not every run comes to its end: {:?}", self.started);
    }
}
