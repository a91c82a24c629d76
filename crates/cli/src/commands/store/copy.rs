//! `countersign store copy FROM TO`: every run of one database into another, each proved on the way.
//!
//! A run goes as `export` and `import` move it: nothing is kept that does not prove itself, and what is
//! there already is not copied again. At the end both databases are asked where each run stands.

use std::sync::Arc;

use countersign_core::run::Status;
use countersign_runtime::transfer::{Packed, TransferError, export, import};
use countersign_store::{Head, Store, TenantId};
use serde_json::{Value, json};

use super::every::{Pages, engine, tenants};
use crate::args::Copy;
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::place::Place;
use crate::show::{BAD, GOOD, HEADING};

/// What became of the runs of a tenant.
#[derive(Debug, Default)]
struct Count {
    copied: u64,
    known: u64,
    open: u64,
    /// Runs that could not be copied, and why.
    refused: Vec<(String, String)>,
    /// Runs that stand elsewhere in the two databases at the end.
    apart: Vec<String>,
}

pub(super) fn run(args: &Copy, json: bool) -> Result<Exit, Error> {
    let (source, target) = (Place::named(&args.source)?, Place::named(&args.target)?);
    if !source.is_there() {
        return Err(Error::Usage(format!("no database at `{source}`")));
    }
    if source.to_string() == target.to_string() {
        return Err(Error::Usage(format!("`{source}` cannot be copied into itself")));
    }
    wait(async {
        let (from, to) = (source.open()?, target.open()?);
        let mut counts = Vec::new();
        for tenant in tenants(&from, args.tenant.as_deref()).await? {
            let mut count = Count::default();
            copy(&from, &to, &tenant, &mut count).await?;
            compare(&from, &to, &tenant, &mut count).await?;
            counts.push((tenant, count));
        }
        let good = counts.iter().all(|(_, count)| count.is_whole());
        if json {
            output::json(&told_to_programs(&counts, good));
        } else {
            tell(&counts, &source, &target);
        }
        Ok(if good { Exit::Good } else { Exit::Refused })
    })
}

async fn copy(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
    tenant: &TenantId,
    count: &mut Count,
) -> Result<(), Error> {
    let (source, target) = (engine(from, tenant), engine(to, tenant));
    let registry = countersign_contracts::registry();
    let mut pages = Pages::of(tenant);
    loop {
        let page = pages.next(from).await?;
        if page.is_empty() {
            return Ok(());
        }
        for head in page {
            if is_same(&head, to.head(&head.run).await?.as_ref()) {
                count.known += 1;
            } else {
                let run = &head.run.id;
                let moved = async {
                    let packed = Packed::read(&export(&source, run).await?, &registry)?;
                    import(&target, &packed).await
                };
                match moved.await {
                    Ok(_) => count.copied += 1,
                    // The store itself is away: the rest would fare no better.
                    Err(TransferError::Engine(error)) if is_outage(&error) => {
                        return Err(error.into());
                    }
                    Err(refused) => count.refused.push((run.clone(), refused.to_string())),
                }
            }
            let done = count.copied + count.known;
            if done.is_multiple_of(20) {
                output::passing(&format!("  {tenant}: {done} runs, {} of them new", count.copied));
            }
        }
    }
}

/// Asks both where each run stands, now that all is copied.
async fn compare(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
    tenant: &TenantId,
    count: &mut Count,
) -> Result<(), Error> {
    let mut pages = Pages::of(tenant);
    loop {
        let page = pages.next(from).await?;
        if page.is_empty() {
            output::passing("");
            return Ok(());
        }
        for head in page {
            let status = Status::ALL.into_iter().find(|status| status.as_str() == head.status);
            let ended = status.is_some_and(Status::ended);
            count.open += u64::from(!ended);
            let refused = count.refused.iter().any(|(run, _)| *run == head.run.id);
            if !refused && !is_same(&head, to.head(&head.run).await?.as_ref()) {
                count.apart.push(head.run.id);
            }
        }
    }
}

/// The hash is one of everything before it, so the same hash is the same history.
fn is_same(ours: &Head, theirs: Option<&Head>) -> bool {
    let place = |head: &Head| (head.version, head.seq, head.hash.clone());
    theirs.is_some_and(|theirs| place(ours) == place(theirs))
}

fn is_outage(error: &countersign_runtime::engine::EngineError) -> bool {
    matches!(error, countersign_runtime::engine::EngineError::Store(error) if error.may_pass())
}

impl Count {
    fn is_whole(&self) -> bool {
        self.refused.is_empty() && self.apart.is_empty()
    }
}

fn tell(counts: &[(TenantId, Count)], source: &Place, target: &Place) {
    if counts.is_empty() {
        output::talk(&format!("there is no run in `{source}`"));
    }
    let mut open = 0;
    for (tenant, count) in counts {
        let Count { copied, known, .. } = count;
        let mark = if count.is_whole() {
            format!("{GOOD}✓{GOOD:#}")
        } else {
            format!("{BAD}✗{BAD:#}")
        };
        output::talk(&format!(
            "{mark} {HEADING}{tenant}{HEADING:#}: {copied} runs copied, {known} were there already"
        ));
        for (run, why) in &count.refused {
            output::talk(&format!("  {BAD}not copied{BAD:#}: run {run}: {why}"));
        }
        for run in &count.apart {
            output::talk(&format!(
                "  {BAD}apart{BAD:#}: run {run} has gone on meanwhile; copy again to take that along"
            ));
        }
        open += count.open;
    }
    if counts.iter().all(|(_, count)| count.is_whole()) && !counts.is_empty() {
        output::talk(&format!("every run stands in `{target}` at the same hash as in `{source}`"));
    }
    if open > 0 {
        output::talk(&format!(
            "{open} runs are open: let only one of the two databases work on them"
        ));
    }
}

fn told_to_programs(counts: &[(TenantId, Count)], good: bool) -> Value {
    let tenants: Vec<Value> = counts
        .iter()
        .map(|(tenant, count)| {
            let refused: Vec<Value> =
                count.refused.iter().map(|(run, why)| json!({ "run": run, "why": why })).collect();
            json!({
                "tenant": tenant.as_str(),
                "copied": count.copied,
                "known": count.known,
                "open": count.open,
                "refused": refused,
                "apart": count.apart,
            })
        })
        .collect();
    json!({ "good": good, "tenants": tenants })
}
