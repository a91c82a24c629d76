//! `countersign trust`: shows what a protocol may use beyond files, and keeps a person's word on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::protocol::Protocol;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::folder::Home;
use countersign_runtime::trust::{Permissions, TrustFile, TrustRecord, model_server};
use countersign_server::catalog::shipped_permissions;
use serde_json::{Value, json};

use crate::args::Trust;
use crate::exit::{Error, Exit};
use crate::house::{House, protocol, protocol_at, protocol_near, wait};
use crate::settings::Settings;
use crate::show::{GOOD, HEADING};
use crate::{output, terminal};

/// Something that can be trusted, and whether it is.
struct TrustRequest {
    record: TrustRecord,
    /// Why nobody has to be asked, where that is so.
    settled: Option<&'static str>,
}

pub(super) fn run(args: &Trust, json: bool) -> Result<Exit, Error> {
    let file = trust_file()?;
    if args.list {
        return list(&file, json);
    }
    if let Some(what) = &args.revoke {
        return revoke(&file, what, json);
    }
    wait(async {
        let requests = match &args.run {
            Some(named) => run_requests(args, &file, named).await?,
            None => folder_requests(args, &file)?,
        };
        decide(&file, requests, args.yes, json).await
    })
}

/// The protocol and the allow-list of a folder of work, as far as they want anything.
fn folder_requests(args: &Trust, file: &TrustFile) -> Result<Vec<TrustRequest>, Error> {
    let here = args.folder.as_deref().unwrap_or(Path::new("."));
    let folder = work_folder(here)?;
    let settings = Settings::read(&folder, &args.site, None)?;
    let by = settings.user();
    let mut requests = Vec::new();
    if !settings.allow.is_empty() {
        let record = TrustRecord {
            digest: settings.allow.trust_digest(&folder),
            subject: "settings countersign.toml".to_owned(),
            folder: folder.clone(),
            list: settings.allow.describe(),
            commands: settings.allow.commands().to_vec(),
            by: by.clone(),
            at: SystemClock.now(),
        };
        requests.push(request(file, record, None)?);
    }
    let found = match settings.protocol.value.as_deref() {
        Some(named) => protocol_at(Path::new(named)),
        None => protocol_near(&folder),
    };
    match found {
        Ok(found) => requests.extend(protocol_request(file, &protocol(&found)?.0, folder, by)?),
        // An allow-list may stand alone.
        Err(_) if !requests.is_empty() => {}
        Err(error) => return Err(error),
    }
    Ok(requests)
}

async fn run_requests(
    args: &Trust,
    file: &TrustFile,
    named: &str,
) -> Result<Vec<TrustRequest>, Error> {
    let house = House::look(&args.site)?;
    let run = house.run(Some(named)).await?;
    let live = house.engine.look(&run).await?;
    let (folder, by) = (house.home.workspace().to_owned(), house.settings.user());
    let server = live.state.model.as_deref().and_then(model_server);
    let model = server.map(|server| {
        let record = TrustRecord::for_model_server(&server, &folder, &by, SystemClock.now());
        request(file, record, None)
    });
    let protocol = protocol_request(file, &live.protocol, folder, by)?;
    protocol.map(Ok).into_iter().chain(model).collect()
}

/// Keeps the server of the model that this command names for a run: whoever goes on with the run
/// later has not named it again.
pub(super) fn trust_own_model(house: &House) -> Result<(), Error> {
    let Some(model) = &house.settings.model.value else { return Ok(()) };
    if house.settings.own_model().is_empty() { Ok(()) } else { trust_model(house, model) }
}

/// Trusts the server of a model, where it is named with an address.
pub(super) fn trust_model(house: &House, model: &str) -> Result<(), Error> {
    let by = house.settings.user();
    house.guard().trust_model(model, &by, SystemClock.now()).map_err(Error::Trust)
}

fn protocol_request(
    file: &TrustFile,
    protocol: &Protocol,
    folder: PathBuf,
    by: String,
) -> Result<Option<TrustRequest>, Error> {
    let permissions = Permissions::from_protocol(protocol);
    if permissions.is_empty() {
        return Ok(None);
    }
    let ships = shipped_permissions(&protocol.name).contains(&permissions);
    let record = record(protocol, &permissions, folder, by);
    request(file, record, ships.then_some("it ships with this program")).map(Some)
}

fn record(
    protocol: &Protocol,
    permissions: &Permissions,
    folder: PathBuf,
    by: String,
) -> TrustRecord {
    TrustRecord {
        digest: permissions.trust_digest(&protocol.name, &folder),
        subject: format!("protocol {}", protocol.name),
        folder,
        list: permissions.describe(),
        commands: permissions.programs.values().map(|program| program.command.clone()).collect(),
        by,
        at: SystemClock.now(),
    }
}

fn request(
    file: &TrustFile,
    record: TrustRecord,
    settled: Option<&'static str>,
) -> Result<TrustRequest, Error> {
    let known = file.has(&record.digest).map_err(Error::Trust)?;
    let settled = settled.or(known.then_some("you trust it already"));
    Ok(TrustRequest { record, settled })
}

/// Shows the requests, asks about those that are not settled, and keeps the answer.
async fn decide(
    file: &TrustFile,
    requests: Vec<TrustRequest>,
    yes: bool,
    json: bool,
) -> Result<Exit, Error> {
    if !json {
        if requests.is_empty() {
            output::talk("Nothing to trust: no programs, no hosts, no sources, no model servers.");
        }
        for one in &requests {
            show_request(&one.record);
            if let Some(why) = one.settled {
                output::talk(&format!("  {GOOD}trusted{GOOD:#}: {why}"));
            }
        }
    }
    let open: Vec<&TrustRequest> = requests.iter().filter(|one| one.settled.is_none()).collect();
    let trusted = open.is_empty() || yes || (!json && confirm("Trust this? [y/N]").await?);
    if trusted {
        for one in open {
            file.add(one.record.clone()).map_err(Error::Trust)?;
        }
    }
    if json {
        let shown: Vec<Value> = requests.iter().map(|one| as_json(&one.record)).collect();
        output::json(&json!({ "trusted": trusted, "lists": shown }));
    } else if !trusted {
        output::talk("Not trusted: nothing of it is used.");
    } else if requests.iter().any(|one| one.settled.is_none()) {
        output::talk(&format!("{GOOD}trusted{GOOD:#}: kept in {}", file.path().display()));
    }
    Ok(if trusted { Exit::Good } else { Exit::Refused })
}

/// Asks whoever sits at the terminal; an error where nobody does.
async fn confirm(question: &str) -> Result<bool, Error> {
    match terminal::ask(&format!("? {question}")).await {
        Some(line) => Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes")),
        None => Err(Error::Usage(
            "nobody is at the terminal to be asked; `countersign trust --yes` trusts the list above"
                .to_owned(),
        )),
    }
}

fn show_request(record: &TrustRecord) {
    output::talk(&format!("{HEADING}{}{HEADING:#} in {}", record.subject, record.folder.display()));
    for line in &record.list {
        output::talk(&format!("  {line}"));
    }
}

fn as_json(record: &TrustRecord) -> Value {
    json!({
        "digest": record.digest,
        "subject": record.subject,
        "folder": record.folder,
        "list": record.list,
        "by": record.by,
        "at": record.at,
    })
}

fn list(file: &TrustFile, json: bool) -> Result<Exit, Error> {
    let records = file.records().map_err(Error::Trust)?;
    if json {
        output::json(&Value::Array(records.iter().map(as_json).collect()));
        return Ok(Exit::Good);
    }
    if records.is_empty() {
        output::talk("Nothing is trusted.");
    }
    for record in &records {
        let digest = record.digest.strip_prefix("sha256:").unwrap_or(&record.digest);
        output::data(&format!(
            "{} {} in {} (by {}, {})\n",
            &digest[..digest.len().min(12)],
            record.subject,
            record.folder.display(),
            record.by,
            record.at
        ));
        for line in &record.list {
            output::data(&format!("  {line}\n"));
        }
    }
    Ok(Exit::Good)
}

fn revoke(file: &TrustFile, what: &str, json: bool) -> Result<Exit, Error> {
    let folder = Path::new(what).is_dir().then(|| work_folder(Path::new(what))).transpose()?;
    let digest = what.strip_prefix("sha256:").unwrap_or(what);
    if folder.is_none() && digest.len() < 6 {
        return Err(Error::Usage(format!(
            "`{what}` is neither a folder nor six digits of a digest"
        )));
    }
    let gone = file
        .remove(|record| match &folder {
            Some(folder) => record.folder == *folder,
            None => record.digest.trim_start_matches("sha256:").starts_with(digest),
        })
        .map_err(Error::Trust)?;
    if json {
        output::json(&json!({ "revoked": gone.iter().map(as_json).collect::<Vec<_>>() }));
    } else {
        for record in &gone {
            output::talk(&format!("revoked: {} in {}", record.subject, record.folder.display()));
        }
        if gone.is_empty() {
            output::talk("Nothing was trusted there.");
        }
    }
    Ok(Exit::Good)
}

/// Asks about the protocol of a run that is about to be worked on, where somebody sits at the terminal.
/// Whoever says no, or nothing, has a run that halts when it wants what is not trusted.
pub(super) async fn ask_for_run(house: &House, run: &str) -> Result<(), Error> {
    use std::io::IsTerminal as _;
    let protocol = house.engine.look(run).await?.protocol;
    let Some(file) = house.trust.as_ref().filter(|_| std::io::stdin().is_terminal()) else {
        return Ok(());
    };
    let (folder, by) = (house.home.workspace().to_owned(), house.settings.user());
    let Some(request) = protocol_request(file, &protocol, folder, by)? else { return Ok(()) };
    if request.settled.is_some() {
        return Ok(());
    }
    output::talk("The protocol of this run wants more than files:");
    show_request(&request.record);
    if confirm("Trust this? Without it, the run halts when it wants any of them. [y/N]").await? {
        file.add(request.record).map_err(Error::Trust)?;
    }
    Ok(())
}

/// Trusts the protocol of a run for a folder of work.
pub(super) fn trust_protocol(house: &House, protocol: &Arc<Protocol>) -> Result<(), Error> {
    let permissions = Permissions::from_protocol(protocol);
    let (folder, by) = (house.home.workspace().to_owned(), house.settings.user());
    trust_file()?.add(record(protocol, &permissions, folder, by)).map_err(Error::Trust)?;
    Ok(())
}

fn trust_file() -> Result<TrustFile, Error> {
    crate::settings::trust_file().ok_or_else(|| {
        let what = "trust has no place: neither XDG_CONFIG_HOME nor HOME names an absolute folder";
        Error::Usage(what.to_owned())
    })
}

/// The folder of work that a folder belongs to; itself where nothing was kept yet.
fn work_folder(here: &Path) -> Result<PathBuf, Error> {
    match Home::find(here)? {
        Some(home) => Ok(home.workspace().to_owned()),
        None => here
            .canonicalize()
            .map_err(|source| Error::Unreadable { what: here.display().to_string(), source }),
    }
}
