//! People: they begin runs and answer questions, each under a key, until they are told that it is taken.

use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;

use super::ledger::Ledger;
use super::site::{KINDS, SAID, Site};

/// What was acknowledged: for each run its keys.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    pub(super) keys: Vec<(String, String)>,
    pub(super) begun: BTreeMap<String, &'static str>,
    /// How often somebody had to say it again.
    pub(super) refused: usize,
}

impl Acknowledged {
    /// Begins a run; tries again until that is acknowledged.
    pub(super) fn begin(&mut self, site: &Site, number: usize) -> io::Result<()> {
        let (kind, arguments) = KINDS[number % KINDS.len()];
        let key = format!("{number:05}");
        let arguments = [arguments, &["--json", "--key", &key]].concat();
        for _ in 0..TRIES {
            if taken(site, &arguments)? {
                self.begun.insert(format!("key-{key}"), kind);
                self.keys.push((format!("key-{key}"), key));
                return Ok(());
            }
            self.refused += 1;
        }
        Err(io::Error::other(format!("run {key} could not be begun")))
    }

    /// Answers some of what is asked, once each, and lets runs go on that were parked.
    pub(super) fn answer(&mut self, site: &Site, ledger: &Ledger) -> io::Result<()> {
        for run in ledger.parked()? {
            // Where the third worker may still live, that is refused, and said again.
            taken(site, &["resume", &run, "--json"])?;
        }
        for (run, wait, answered) in ledger.questions()?.into_iter().take(SOME) {
            let place = format!("{run}/{wait}");
            let said = SAID.get(answered).copied().unwrap_or("Yes.");
            if taken(site, &["answer", &place, said, "--key", &place, "--json"])? {
                self.keys.push((run, place));
            } else {
                // Asked again when the list is read again; by then it may be over.
                self.refused += 1;
            }
        }
        Ok(())
    }
}

/// How many questions are answered before somebody does something else.
const SOME: usize = 4;

/// How often a beginning is tried.
const TRIES: usize = 50;

fn taken(site: &Site, arguments: &[&str]) -> io::Result<bool> {
    let mut command = site.command(arguments);
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}
