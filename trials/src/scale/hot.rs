//! The operations that workers, people and lists send all day, each at places chosen by chance.

use std::time::{Duration, Instant};

use countersign_store::{
    Commit, EntryRow, HeadUpdate, Lease, RunFilter, RunId, Store, StoreError, Taking, TenantId,
    WaitFilter,
};
use testkit::Chance;

use super::generate::{DUE, Size, WAITING, name};

/// How long each call of one operation took.
pub(super) struct Timed {
    pub(super) what: &'static str,
    pub(super) times: Vec<Duration>,
}

/// Does every operation so many times.
pub(super) async fn all(
    store: &dyn Store,
    size: Size,
    calls: usize,
    seed: u64,
) -> Result<Vec<Timed>, StoreError> {
    let mut chance = Chance::new(seed);
    let mut pick = |every: i64, rest: i64| {
        let number = chance.below((size.runs / every) as usize) as i64 * every + rest;
        run_id(size, number)
    };
    let (mut heads, mut loads, mut logs, mut appends) = (vec![], vec![], vec![], vec![]);
    let (mut lists, mut more, mut inboxes, mut resolved) = (vec![], vec![], vec![], vec![]);
    let (mut takings, mut kept, mut given_back) = (vec![], vec![], vec![]);
    for call in 0..calls {
        let run = pick(1, 0);
        let head = timed(&mut heads, store.head(&run)).await?;
        let head = head.ok_or_else(|| StoreError::NotFound { run: run.clone() })?;
        timed(&mut loads, store.load(&run, None)).await?;
        timed(&mut logs, store.log(&run, 0, 100)).await?;
        let next = (head.version + 1, head.seq + 1);
        let entry = entry(next.0, next.1, call);
        let mut commit = Commit::new(run.clone(), head.version, entry, standing("done"));
        commit.wake_at = head.wake_at;
        timed(&mut appends, store.append(commit)).await?;
        let first = RunFilter::newest(run.tenant.clone(), 50);
        timed(&mut lists, store.runs(&first)).await?;
        let after = RunFilter { after: Some(head.cursor()), ..first };
        timed(&mut more, store.runs(&after)).await?;
        let waiting = pick(WAITING, 1);
        timed(&mut inboxes, store.waits(&WaitFilter::all(waiting.tenant.clone(), 50))).await?;
        timed(&mut resolved, store.resolve(&waiting.tenant, &waiting.id[..12])).await?;
        if call % 10 == 0 {
            let taking = Taking::new("scale", now(), now() + 30_000, 8);
            let leases: Vec<Lease> = timed(&mut takings, store.take(&taking)).await?;
            for lease in leases {
                let found = store.head(&lease.run).await?;
                let found = found.ok_or_else(|| StoreError::NotFound { run: lease.run.clone() })?;
                let entry = self::entry(found.version + 1, found.seq + 1, call);
                let mut commit =
                    Commit::new(lease.run.clone(), found.version, entry, standing("running"));
                commit.wake_at = found.wake_at;
                commit.lease = Some(lease.clone());
                timed(&mut kept, store.append(commit)).await?;
                timed(&mut given_back, store.release(&lease)).await?;
            }
        }
    }
    debug_assert!(size.runs >= DUE, "some are due");
    let all = [
        ("head", heads),
        ("load", loads),
        ("log", logs),
        ("append", appends),
        ("append under a lease", kept),
        ("take up to 8", takings),
        ("release", given_back),
        ("runs, first 50", lists),
        ("runs, 50 further down", more),
        ("inbox, first 50", inboxes),
        ("resolve a short id", resolved),
    ];
    Ok(all.into_iter().map(|(what, times)| Timed { what, times }).collect())
}

fn run_id(size: Size, number: i64) -> RunId {
    let (tenant, id) = name(size, number);
    RunId::new(TenantId::new(tenant), id)
}

fn entry(version: u64, place: u64, call: usize) -> EntryRow {
    let hash = format!("{:064x}", version ^ ((call as u64) << 32));
    EntryRow { version, first: place, last: place, time: now(), hash, body: "x".repeat(320) }
}

fn standing(status: &str) -> HeadUpdate {
    HeadUpdate {
        status: status.to_owned(),
        phase: "work".to_owned(),
        updated_at: now(),
        summary: "a run of the scale trial".to_owned(),
    }
}

async fn timed<T>(
    times: &mut Vec<Duration>,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let begun = Instant::now();
    let answer = call.await?;
    times.push(begun.elapsed());
    Ok(answer)
}

/// Milliseconds since the epoch.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
