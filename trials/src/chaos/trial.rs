//! The trial: begin, disturb, let everything end, look.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use testkit::{Chance, Cluster};

use super::check::{Checked, check};
use super::crew::Crew;
use super::ledger::Ledger;
use super::people::Acknowledged;
use super::settings::Settings;
use super::site::Site;
use super::trouble::{Trouble, World, pause};

/// Runs it; whether nothing is wrong.
pub(crate) fn run(settings: &Settings, out: &mut dyn Write) -> io::Result<bool> {
    let program = match &settings.program {
        Some(program) => program.clone(),
        None => beside()?,
    };
    let begun = Instant::now();
    let cluster = match settings.store.as_str() {
        "postgres" => Some(cluster()?),
        _ => None,
    };
    let server = cluster.as_ref().map_or_else(|| settings.store.clone(), Cluster::url);
    let site = Site::new(program, &server)?;
    let ledger = Ledger::of(&site);
    let mut chance = Chance::new(settings.seed);
    let mut told = Acknowledged::default();
    // The first one makes the tables, and what the protocols read.
    told.begin(&site, 0)?;
    let mut crew = Crew::new(&site, settings)?;
    let mut trouble = Trouble::default();
    let world = World { ledger: &ledger, server: site.server(), cluster: cluster.as_ref() };
    let mut next_blow = Instant::now() + pause(settings, &mut chance);
    while trouble.blows() < settings.kills || told.begun.len() < settings.runs {
        // As many runs have begun of all as blows have fallen, and a few more.
        let share = settings.runs * (trouble.blows() + 1) / settings.kills.max(1);
        if told.begun.len() < settings.runs && told.begun.len() < share + settings.workers {
            told.begin(&site, told.begun.len())?;
        } else {
            told.answer(&site, &ledger)?;
            thread::sleep(Duration::from_millis(20));
        }
        if Instant::now() >= next_blow && trouble.blows() < settings.kills {
            trouble.strike(&mut crew, &world, settings, &mut chance)?;
            next_blow = Instant::now() + pause(settings, &mut chance);
        }
    }
    crew.wake(true)?;
    let disturbed = begun.elapsed();
    let ended = finish(settings, &site, &ledger, &mut told)?;
    let whole = begun.elapsed();
    let codes = crew.dismiss()?;
    trouble.bad_ends += codes.iter().filter(|code| **code != Some(0)).count();
    let checked = check(&site, &ledger, &told, trouble.kills)?;
    let news = crew.told()?;
    report(out, settings, &told, &trouble, &checked)?;
    writeln!(out, "told by workers: {news:?}")?;
    writeln!(
        out,
        "{:.0} s of trouble, {:.0} s in all",
        disturbed.as_secs_f64(),
        whole.as_secs_f64()
    )?;
    Ok(ended && trouble.bad_ends == 0 && checked.faults.is_empty())
}

/// Lets every run come to its end in peace; whether all did in time.
fn finish(
    settings: &Settings,
    site: &Site,
    ledger: &Ledger,
    told: &mut Acknowledged,
) -> io::Result<bool> {
    let over = Instant::now() + Duration::from_secs(settings.patience);
    while ledger.unended()? > 0 {
        if Instant::now() >= over {
            return Ok(false);
        }
        told.answer(site, ledger)?;
        thread::sleep(Duration::from_millis(100));
    }
    Ok(true)
}

fn report(
    out: &mut dyn Write,
    settings: &Settings,
    told: &Acknowledged,
    trouble: &Trouble,
    checked: &Checked,
) -> io::Result<()> {
    let Trouble { kills, stops, reliefs, cuts, restarts, bad_ends } = trouble;
    writeln!(
        out,
        "seed {}: {} workers at once, leases of {} ms; {kills} killed, {stops} stopped past their leases, {reliefs} relieved, {cuts} times every connection cut, {restarts} times the server restarted",
        settings.seed, settings.workers, settings.lease
    )?;
    writeln!(
        out,
        "{} runs begun, {} with their children; {} inputs acknowledged and kept, {} had to be said again",
        told.begun.len(),
        checked.runs,
        told.keys.len(),
        told.refused
    )?;
    writeln!(
        out,
        "{} versions, {} events, {} snapshots; {} results of orders, none twice; {} orders to a program, carried out {} times",
        checked.versions,
        checked.events,
        checked.snapshots,
        checked.results,
        checked.orders,
        checked.marks
    )?;
    if *bad_ends > 0 {
        writeln!(out, "{bad_ends} workers did not leave in good order")?;
    }
    writeln!(out, "{} faults", checked.faults.len())?;
    for fault in checked.faults.iter().take(50) {
        writeln!(out, "  {fault}")?;
    }
    Ok(())
}

/// A server of its own. It need not survive the machine, only itself: nothing waits for the disk.
fn cluster() -> io::Result<Cluster> {
    let binaries = Cluster::binaries().ok_or_else(|| io::Error::other("no server is installed"))?;
    let name = format!("chaos-{}", std::process::id());
    Cluster::start(binaries, &name, "synchronous_commit = on\n").map_err(io::Error::other)
}

/// The program that was built beside this one.
fn beside() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("countersign");
    if program.is_file() {
        return Ok(program);
    }
    let shown = program.display();
    Err(io::Error::other(format!("no program at `{shown}`; build it, or name it with `--program`")))
}
