//! Runs the trial: starts runs, injects faults, waits until all runs have ended, and checks the
//! tables.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use testkit::{PostgresCluster, SeededRng};

use super::acknowledged_inputs::AcknowledgedInputs;
use super::chaos_args::ChaosTrialArgs;
use super::chaos_workspace::ChaosWorkspace;
use super::check::{ChaosReport, check_tables};
use super::fault_injector::{FaultInjector, FaultTargets, random_pause};
use super::store_tables::StoreTables;
use super::worker_pool::WorkerPool;

/// Runs the trial; returns whether no fault was found.
pub(crate) fn run(settings: &ChaosTrialArgs, out: &mut dyn Write) -> io::Result<bool> {
    let program = match &settings.program {
        Some(program) => program.clone(),
        None => find_program()?,
    };
    let begun = Instant::now();
    let cluster = match settings.store.as_str() {
        "postgres" => Some(start_cluster()?),
        _ => None,
    };
    let server = cluster.as_ref().map_or_else(|| settings.store.clone(), PostgresCluster::url);
    let site = ChaosWorkspace::new(program, &server)?;
    let ledger = StoreTables::from_workspace(&site);
    let mut chance = SeededRng::new(settings.seed);
    let mut acknowledged = AcknowledgedInputs::default();
    // The first run creates the tables and the files that the protocols read.
    acknowledged.start_run(&site, 0)?;
    let mut crew = WorkerPool::new(&site, settings)?;
    let mut trouble = FaultInjector::default();
    let world = FaultTargets { tables: &ledger, server: site.server(), cluster: cluster.as_ref() };
    let mut next_blow = Instant::now() + random_pause(settings, &mut chance);
    while trouble.count_injected() < settings.kills
        || acknowledged.started_runs.len() < settings.runs
    {
        // The share of started runs follows the share of injected faults, plus a few.
        let share = settings.runs * (trouble.count_injected() + 1) / settings.kills.max(1);
        if acknowledged.started_runs.len() < settings.runs
            && acknowledged.started_runs.len() < share + settings.workers
        {
            acknowledged.start_run(&site, acknowledged.started_runs.len())?;
        } else {
            acknowledged.answer_waits(&site, &ledger)?;
            thread::sleep(Duration::from_millis(20));
        }
        if Instant::now() >= next_blow && trouble.count_injected() < settings.kills {
            trouble.inject_fault(&mut crew, &world, settings, &mut chance)?;
            next_blow = Instant::now() + random_pause(settings, &mut chance);
        }
    }
    crew.resume_workers(true)?;
    let disturbed = begun.elapsed();
    let ended = wait_until_finished(settings, &site, &ledger, &mut acknowledged)?;
    let whole = begun.elapsed();
    let codes = crew.stop_all()?;
    trouble.failed_exits += codes.iter().filter(|code| **code != Some(0)).count();
    let checked = check_tables(&site, &ledger, &acknowledged, trouble.kills)?;
    let news = crew.count_log_events()?;
    print_report(out, settings, &acknowledged, &trouble, &checked)?;
    writeln!(out, "worker events: {news:?}")?;
    writeln!(
        out,
        "{:.0} s with faults, {:.0} s in total",
        disturbed.as_secs_f64(),
        whole.as_secs_f64()
    )?;
    Ok(ended && trouble.failed_exits == 0 && checked.faults.is_empty())
}

/// Waits for every run to end without further faults; returns whether all ended in time.
fn wait_until_finished(
    settings: &ChaosTrialArgs,
    site: &ChaosWorkspace,
    ledger: &StoreTables,
    acknowledged: &mut AcknowledgedInputs,
) -> io::Result<bool> {
    let over = Instant::now() + Duration::from_secs(settings.patience);
    while ledger.count_unfinished()? > 0 {
        if Instant::now() >= over {
            return Ok(false);
        }
        acknowledged.answer_waits(site, ledger)?;
        thread::sleep(Duration::from_millis(100));
    }
    Ok(true)
}

fn print_report(
    out: &mut dyn Write,
    settings: &ChaosTrialArgs,
    acknowledged: &AcknowledgedInputs,
    trouble: &FaultInjector,
    checked: &ChaosReport,
) -> io::Result<()> {
    let FaultInjector {
        kills,
        suspensions: stops,
        replacements: reliefs,
        connection_cuts: cuts,
        restarts,
        failed_exits: bad_ends,
    } = trouble;
    writeln!(
        out,
        "seed {}: {} concurrent workers, leases of {} ms; {kills} killed, {stops} suspended past their leases, {reliefs} replaced, all connections cut {cuts} times, the server restarted {restarts} times",
        settings.seed, settings.workers, settings.lease
    )?;
    writeln!(
        out,
        "{} runs started, {} with their children; {} inputs acknowledged and stored, {} had to be sent again",
        acknowledged.started_runs.len(),
        checked.runs,
        acknowledged.keys.len(),
        acknowledged.refused
    )?;
    writeln!(
        out,
        "{} versions, {} events, {} snapshots; {} results of actions, none twice; {} program actions, executed {} times",
        checked.versions,
        checked.events,
        checked.snapshots,
        checked.results,
        checked.actions,
        checked.executions
    )?;
    if *bad_ends > 0 {
        writeln!(out, "{bad_ends} workers did not exit with code 0")?;
    }
    writeln!(out, "{} faults", checked.faults.len())?;
    for fault in checked.faults.iter().take(50) {
        writeln!(out, "  {fault}")?;
    }
    Ok(())
}

/// Starts a private server. It must survive a crash of the server but not of the machine, so
/// nothing waits for the disk.
fn start_cluster() -> io::Result<PostgresCluster> {
    let binaries = PostgresCluster::find_binaries()
        .ok_or_else(|| io::Error::other("no PostgreSQL server is installed"))?;
    let name = format!("chaos-{}", std::process::id());
    PostgresCluster::start(binaries, &name, "synchronous_commit = on\n").map_err(io::Error::other)
}

/// Finds the program that was built next to this one.
fn find_program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("countersign");
    if program.is_file() {
        return Ok(program);
    }
    let shown = program.display();
    Err(io::Error::other(format!("no program at `{shown}`; build it, or name it with `--program`")))
}
