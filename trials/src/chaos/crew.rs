//! Worker processes, and what is done to them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::settings::Settings;
use super::site::Site;

/// A worker process, and when it goes on where it was stopped.
struct Hand {
    child: Child,
    asleep_until: Option<Instant>,
}

/// All of them.
pub(super) struct Crew<'s> {
    site: &'s Site,
    settings: &'s Settings,
    hands: Vec<Hand>,
    begun: usize,
}

impl<'s> Crew<'s> {
    pub(super) fn new(site: &'s Site, settings: &'s Settings) -> io::Result<Self> {
        let mut crew = Self { site, settings, hands: Vec::new(), begun: 0 };
        for _ in 0..settings.workers {
            let hand = crew.begin()?;
            crew.hands.push(hand);
        }
        Ok(crew)
    }

    pub(super) fn len(&self) -> usize {
        self.hands.len()
    }

    fn begin(&mut self) -> io::Result<Hand> {
        self.begun += 1;
        let told = File::create(self.site.path().join(format!("worker-{:04}.jsonl", self.begun)))?;
        let lease = format!("{}ms", self.settings.lease);
        let arguments = ["worker", "--json", "--capacity", "8", "--poll", "200ms", "--grace", "5s"];
        let arguments = [&arguments[..], &["--lease", &lease]].concat();
        let mut command = self.site.command(&arguments);
        let child = command.stdout(told.try_clone()?).stderr(Stdio::from(told)).spawn()?;
        Ok(Hand { child, asleep_until: None })
    }

    /// Kills one without a word, and begins another.
    pub(super) fn kill(&mut self, index: usize) -> io::Result<()> {
        self.signal(index, Signal::KILL)?;
        self.hands[index].child.wait()?;
        self.hands[index] = self.begin()?;
        Ok(())
    }

    /// Stops one in its tracks for a while; whether it was awake.
    pub(super) fn put_to_sleep(&mut self, index: usize, time: Duration) -> io::Result<bool> {
        if self.hands[index].asleep_until.is_some() {
            return Ok(false);
        }
        self.signal(index, Signal::STOP)?;
        self.hands[index].asleep_until = Some(Instant::now() + time);
        Ok(true)
    }

    /// Lets those go on that have slept long enough; all of them where everything is to end.
    pub(super) fn wake(&mut self, all: bool) -> io::Result<()> {
        for index in 0..self.hands.len() {
            let over = |until: Instant| all || Instant::now() >= until;
            if self.hands[index].asleep_until.is_some_and(over) {
                self.signal(index, Signal::CONT)?;
                self.hands[index].asleep_until = None;
            }
        }
        Ok(())
    }

    /// Lets one leave in good order, and begins another. Gives the code it ended with.
    pub(super) fn relieve(&mut self, index: usize) -> io::Result<Option<i32>> {
        if self.hands[index].asleep_until.take().is_some() {
            self.signal(index, Signal::CONT)?;
        }
        self.signal(index, Signal::TERM)?;
        let status = self.hands[index].child.wait()?;
        self.hands[index] = self.begin()?;
        Ok(status.code())
    }

    /// Lets all of them leave in good order.
    pub(super) fn dismiss(&mut self) -> io::Result<Vec<Option<i32>>> {
        self.wake(true)?;
        for index in 0..self.hands.len() {
            self.signal(index, Signal::TERM)?;
        }
        let mut codes = Vec::new();
        for mut hand in self.hands.drain(..) {
            codes.push(hand.child.wait()?.code());
        }
        Ok(codes)
    }

    /// What the workers told, counted by kind.
    pub(super) fn told(&self) -> io::Result<BTreeMap<String, usize>> {
        let mut told: BTreeMap<String, usize> = BTreeMap::new();
        for number in 1..=self.begun {
            let path = self.site.path().join(format!("worker-{number:04}.jsonl"));
            for line in fs::read_to_string(path)?.lines() {
                // One that was killed may have left half a line; what is no JSON is a complaint.
                let news = serde_json::from_str::<Value>(line)
                    .map_or("?".to_owned(), |line| line["news"].as_str().unwrap_or("?").to_owned());
                *told.entry(news).or_default() += 1;
            }
        }
        Ok(told)
    }

    fn signal(&self, index: usize, signal: Signal) -> io::Result<()> {
        let id = self.hands[index].child.id().cast_signed();
        let pid = Pid::from_raw(id).ok_or_else(|| io::Error::other("no such process"))?;
        Ok(kill_process(pid, signal)?)
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        for hand in &mut self.hands {
            // Where the trial broke off, nobody else ends them.
            let _ = hand.child.kill();
            let _ = hand.child.wait();
        }
    }
}
