//! What no store may keep, whatever it is made of: a commit that contradicts itself. Asks nothing of
//! what is stored already; that is `ruling.rs`.

use std::collections::BTreeSet;

use crate::{Blob, Commit, EntryRow, NewRun, RunId, StoreError};

/// A new run and its first commit.
pub(crate) fn check_creation(run: &NewRun, commit: &Commit) -> Result<(), StoreError> {
    plain("protocol", &run.protocol)?;
    plain("workflow", &run.workflow)?;
    if commit.expected_version != 0 {
        return refuse(format!(
            "the first commit of a run expects version 0, not {}",
            commit.expected_version
        ));
    }
    if commit.lease.is_some() {
        return refuse("a run that does not exist yet cannot be leased");
    }
    check_commit(commit)
}

/// A commit by itself.
pub(crate) fn check_commit(commit: &Commit) -> Result<(), StoreError> {
    check_run(&commit.run)?;
    check_numbers(commit)?;
    check_entry(commit)?;
    if let Some(snapshot) = &commit.snapshot {
        plain("snapshot", &snapshot.body)?;
        if snapshot.version != commit.version || snapshot.seq != commit.entry.last {
            return refuse(format!(
                "the snapshot shows version {} and event {}, expected {} and {}",
                snapshot.version, snapshot.seq, commit.version, commit.entry.last
            ));
        }
    }
    once("action", commit.actions.iter().map(|action| action.id.as_str()))?;
    for action in &commit.actions {
        plain("kind of action", &action.kind)?;
        plain("action", &action.body)?;
    }
    once("wait", commit.waits_opened.iter().map(|wait| wait.id.as_str()))?;
    for wait in &commit.waits_opened {
        if wait.run != commit.run {
            return refuse(format!("wait `{}` belongs to another run, `{}`", wait.id, wait.run));
        }
        plain("kind of wait", &wait.kind)?;
        plain("name of who may answer", wait.who.as_deref().unwrap_or_default())?;
        plain("wait", &wait.body)?;
    }
    commit.blobs.iter().try_for_each(check_blob)?;
    if let Some(key) = &commit.key {
        name("idempotency key", key)?;
    }
    for (what, text) in [
        ("status", &commit.head.status),
        ("phase", &commit.head.phase),
        ("summary", &commit.head.summary),
    ] {
        plain(what, text)?;
    }
    match &commit.lease {
        Some(lease) if lease.run != commit.run => {
            refuse(format!("the lease is one of another run, `{}`", lease.run))
        }
        _ => Ok(()),
    }
}

/// The name of a run.
pub(crate) fn check_run(run: &RunId) -> Result<(), StoreError> {
    name("tenant", run.tenant.as_str())?;
    name("run id", &run.id)
}

/// Bytes under a digest.
pub(crate) fn check_blob(blob: &Blob) -> Result<(), StoreError> {
    name("digest", &blob.digest)
}

/// Text that is the name of something.
pub(crate) fn name(what: &str, text: &str) -> Result<(), StoreError> {
    if text.is_empty() {
        return refuse(format!("the {what} is empty"));
    }
    plain(what, text)
}

/// Text that every database can hold: not all of them take the character zero.
pub(crate) fn plain(what: &str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        return refuse(format!("the {what} holds the character U+0000"));
    }
    Ok(())
}

fn check_numbers(commit: &Commit) -> Result<(), StoreError> {
    if commit.expected_version.checked_add(1) != Some(commit.version) {
        return refuse(format!(
            "a commit on version {} makes the next one, not {}",
            commit.expected_version, commit.version
        ));
    }
    if commit.version.max(commit.entry.last) > i64::MAX as u64 {
        return refuse("versions and places in the log end at 2^63 - 1");
    }
    Ok(())
}

fn check_entry(commit: &Commit) -> Result<(), StoreError> {
    let EntryRow { version, first, last, hash, body, .. } = &commit.entry;
    if *version != commit.version {
        return refuse(format!(
            "an entry of version {version} stands in the commit to version {}",
            commit.version
        ));
    }
    if *first == 0 || last < first {
        return refuse(format!("an entry cannot go from event {first} to event {last}"));
    }
    plain("hash of the entry", hash)?;
    name("entry", body)
}

fn once<'t>(what: &str, ids: impl Iterator<Item = &'t str>) -> Result<(), StoreError> {
    let mut seen = BTreeSet::new();
    for id in ids {
        name(what, id)?;
        if !seen.insert(id) {
            return refuse(format!("{what} `{id}` is given twice"));
        }
    }
    Ok(())
}

fn refuse(what: impl Into<String>) -> Result<(), StoreError> {
    Err(StoreError::malformed(what))
}
