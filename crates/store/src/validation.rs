//! Rejects commits that contradict themselves, which no store may keep. Uses nothing of what is
//! already stored; `stored_run_state.rs` checks against that.

use std::collections::BTreeSet;

use crate::{
    Blob, LogEntryRow, MAX_SEARCH_TERM_BYTES, MAX_SEARCH_TERMS, NewRun, RunCommit, RunId,
    StoreError,
};

/// Checks a new run and its first commit.
pub(crate) fn check_creation(run: &NewRun, commit: &RunCommit) -> Result<(), StoreError> {
    check_text("protocol", &run.protocol)?;
    check_text("workflow", &run.workflow)?;
    check_text("version of the protocol", &run.protocol_version)?;
    run.started_by.iter().try_for_each(|name| check_name("name of the starter", name))?;
    run.parent.iter().try_for_each(|id| check_name("id of the parent", id))?;
    if commit.expected_version != 0 {
        return reject(format!(
            "the first commit of a run expects version 0, not {}",
            commit.expected_version
        ));
    }
    if commit.lease.is_some() {
        return reject("a run that does not exist yet cannot be leased");
    }
    check_commit(commit)
}

/// Checks a commit by itself, without the stored state.
pub(crate) fn check_commit(commit: &RunCommit) -> Result<(), StoreError> {
    check_run_id(&commit.run)?;
    check_versions(commit)?;
    check_entry(commit)?;
    if let Some(snapshot) = &commit.snapshot {
        check_text("snapshot", &snapshot.body)?;
        if snapshot.version != commit.version || snapshot.seq != commit.entry.last_seq {
            return reject(format!(
                "the snapshot has version {} and event {}, expected {} and {}",
                snapshot.version, snapshot.seq, commit.version, commit.entry.last_seq
            ));
        }
    }
    check_unique_ids("action", commit.actions.iter().map(|action| action.id.as_str()))?;
    for action in &commit.actions {
        check_text("kind of action", &action.kind)?;
        check_text("action", &action.body)?;
    }
    check_unique_ids("wait", commit.waits_opened.iter().map(|wait| wait.id.as_str()))?;
    for wait in &commit.waits_opened {
        if wait.run != commit.run {
            return reject(format!("wait `{}` belongs to another run, `{}`", wait.id, wait.run));
        }
        check_text("kind of wait", &wait.kind)?;
        wait.who.iter().try_for_each(|one| check_name("assignee of the wait", one))?;
        check_text("wait", &wait.body)?;
    }
    commit.blobs.iter().try_for_each(check_blob)?;
    if let Some(key) = &commit.idempotency_key {
        check_name("idempotency key", key)?;
    }
    for (what, text) in [
        ("status", &commit.head.status),
        ("phase", &commit.head.phase),
        ("summary", &commit.head.summary),
        ("title", &commit.head.title),
        ("names that are asked", &commit.head.asks),
    ] {
        check_text(what, text)?;
    }
    let usage = [commit.head.input_tokens, commit.head.output_tokens, commit.head.cost];
    if usage.iter().any(|amount| *amount > i64::MAX as u64) {
        return reject("tokens and cost must be at most 2^63 - 1");
    }
    check_search_terms(commit.search_terms.as_deref().unwrap_or_default())?;
    match &commit.lease {
        Some(lease) if lease.run != commit.run => {
            reject(format!("the lease belongs to another run, `{}`", lease.run))
        }
        _ => Ok(()),
    }
}

/// Checks a run's tenant and id.
pub(crate) fn check_run_id(run: &RunId) -> Result<(), StoreError> {
    check_name("tenant", run.tenant.as_str())?;
    check_name("run id", &run.id)
}

/// Checks the digest of a blob.
pub(crate) fn check_blob(blob: &Blob) -> Result<(), StoreError> {
    check_name("digest", &blob.digest)
}

/// Checks a text that names something: it must not be empty.
pub(crate) fn check_name(what: &str, text: &str) -> Result<(), StoreError> {
    if text.is_empty() {
        return reject(format!("the {what} is empty"));
    }
    check_text(what, text)
}

/// Checks a text that every database must be able to store: some do not accept U+0000.
pub(crate) fn check_text(what: &str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        return reject(format!("the {what} contains the character U+0000"));
    }
    Ok(())
}

fn check_versions(commit: &RunCommit) -> Result<(), StoreError> {
    if commit.expected_version.checked_add(1) != Some(commit.version) {
        return reject(format!(
            "a commit on version {} must create the next version, not {}",
            commit.expected_version, commit.version
        ));
    }
    if commit.version.max(commit.entry.last_seq) > i64::MAX as u64 {
        return reject("versions and event numbers must be at most 2^63 - 1");
    }
    Ok(())
}

fn check_entry(commit: &RunCommit) -> Result<(), StoreError> {
    let LogEntryRow { version, first_seq: first, last_seq: last, hash, body, .. } = &commit.entry;
    if *version != commit.version {
        return reject(format!(
            "an entry of version {version} is in the commit to version {}",
            commit.version
        ));
    }
    if *first == 0 || last < first {
        return reject(format!("an entry cannot go from event {first} to event {last}"));
    }
    check_text("hash of the entry", hash)?;
    check_name("entry", body)
}

fn check_search_terms(terms: &[String]) -> Result<(), StoreError> {
    if terms.len() > MAX_SEARCH_TERMS {
        return reject(format!(
            "a run is found by at most {MAX_SEARCH_TERMS} words, found {}",
            terms.len()
        ));
    }
    for term in terms {
        check_name("search term", term)?;
        if term.len() > MAX_SEARCH_TERM_BYTES || term.contains(' ') {
            return reject(format!(
                "a search term is one word of at most {MAX_SEARCH_TERM_BYTES} bytes, found `{term}`"
            ));
        }
    }
    if !terms.is_sorted_by(|one, other| one < other) {
        return reject("search terms must be sorted, and each appear once");
    }
    Ok(())
}

fn check_unique_ids<'t>(what: &str, ids: impl Iterator<Item = &'t str>) -> Result<(), StoreError> {
    let mut seen = BTreeSet::new();
    for id in ids {
        check_name(what, id)?;
        if !seen.insert(id) {
            return reject(format!("{what} `{id}` appears twice"));
        }
    }
    Ok(())
}

fn reject(what: impl Into<String>) -> Result<(), StoreError> {
    Err(StoreError::malformed(what))
}
