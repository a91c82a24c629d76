//! `countersign trust`: shows what a protocol may use beyond files and stores the user's decision.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_protocol::Protocol;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::folder::EngineHome;
use countersign_runtime::trust::{
    ProtocolPermissions, TrustFile, TrustRecord, extract_model_server,
};
use countersign_view::protocol_catalog::load_shipped_permissions;
use serde_json::{Value, json};

use crate::args::TrustArgs;
use crate::context::{
    CliContext, block_on, find_nearest_protocol, load_protocol_folder, resolve_protocol_folder,
};
use crate::exit::{CliError, CliExit};
use crate::render::{GOOD, HEADING};
use crate::settings::CliSettings;
use crate::{output, terminal};

/// A permission request and whether it is already granted.
struct TrustRequest {
    record: TrustRecord,
    /// Why no confirmation is needed; `None` if the user has to decide.
    settled: Option<&'static str>,
}

pub(super) fn run(args: &TrustArgs, json: bool) -> Result<CliExit, CliError> {
    let file = require_trust_file()?;
    if args.list {
        return list_records(&file, json);
    }
    if let Some(what) = &args.revoke {
        return revoke_records(&file, what, json);
    }
    block_on(async {
        let requests = match &args.run {
            Some(named) => collect_run_requests(args, &file, named).await?,
            None => collect_folder_requests(args, &file)?,
        };
        confirm_requests(&file, requests, args.yes, json).await
    })
}

/// Collects the requests of a workspace's protocol and of its allow list, if they request anything.
fn collect_folder_requests(
    args: &TrustArgs,
    file: &TrustFile,
) -> Result<Vec<TrustRequest>, CliError> {
    let here = args.folder.as_deref().unwrap_or(Path::new("."));
    let folder = find_work_folder(here)?;
    let settings = CliSettings::load(&folder, &args.store_args, None)?;
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
            trusted_at: SystemClock.now(),
        };
        requests.push(build_request(file, record, None)?);
    }
    let found = match settings.protocol.value.as_deref() {
        Some(named) => resolve_protocol_folder(Path::new(named)),
        None => find_nearest_protocol(&folder),
    };
    match found {
        Ok(found) => requests.extend(build_protocol_request(
            file,
            &load_protocol_folder(&found)?.0,
            folder,
            by,
        )?),
        // A folder may have an allow list without a protocol.
        Err(_) if !requests.is_empty() => {}
        Err(error) => return Err(error),
    }
    Ok(requests)
}

async fn collect_run_requests(
    args: &TrustArgs,
    file: &TrustFile,
    named: &str,
) -> Result<Vec<TrustRequest>, CliError> {
    let context = CliContext::open_existing(&args.store_args)?;
    let run = context.resolve_run(Some(named)).await?;
    let live = context.engine.get_run(&run).await?;
    let (folder, by) = (context.home.workspace().to_owned(), context.settings.user());
    let server = live.state.model.as_deref().and_then(extract_model_server);
    let model = server.map(|server| {
        let record = TrustRecord::for_model_server(&server, &folder, &by, SystemClock.now());
        build_request(file, record, None)
    });
    let protocol = build_protocol_request(file, &live.protocol, folder, by)?;
    protocol.map(Ok).into_iter().chain(model).collect()
}

/// Trusts the server of the model that this command names for a run, because later commands that
/// continue the run do not name it again.
pub(super) fn trust_own_model(context: &CliContext) -> Result<(), CliError> {
    let Some(model) = &context.settings.model.value else { return Ok(()) };
    if context.settings.allow_named_model().is_empty() {
        Ok(())
    } else {
        trust_model(context, model)
    }
}

/// Trusts the server of a model, if the model is named with an address.
pub(super) fn trust_model(context: &CliContext, model: &str) -> Result<(), CliError> {
    let by = context.settings.user();
    context.build_action_guard().trust_model(model, &by, SystemClock.now()).map_err(CliError::Trust)
}

fn build_protocol_request(
    file: &TrustFile,
    protocol: &Protocol,
    folder: PathBuf,
    by: String,
) -> Result<Option<TrustRequest>, CliError> {
    let permissions = ProtocolPermissions::from_protocol(protocol);
    if permissions.is_empty() {
        return Ok(None);
    }
    let ships = load_shipped_permissions(&protocol.name).contains(&permissions);
    let record = build_record(protocol, &permissions, folder, by);
    build_request(file, record, ships.then_some("it ships with this program")).map(Some)
}

fn build_record(
    protocol: &Protocol,
    permissions: &ProtocolPermissions,
    folder: PathBuf,
    by: String,
) -> TrustRecord {
    TrustRecord {
        digest: permissions.trust_digest(&protocol.name, &folder),
        subject: format!("protocol {}", protocol.name),
        folder,
        list: permissions.describe(),
        commands: permissions.list_commands(),
        by,
        trusted_at: SystemClock.now(),
    }
}

fn build_request(
    file: &TrustFile,
    record: TrustRecord,
    settled: Option<&'static str>,
) -> Result<TrustRequest, CliError> {
    let known = file.contains_digest(&record.digest).map_err(CliError::Trust)?;
    let settled = settled.or(known.then_some("you already trust it"));
    Ok(TrustRequest { record, settled })
}

/// Shows the requests, asks about those that are not granted, and stores the answer.
async fn confirm_requests(
    file: &TrustFile,
    requests: Vec<TrustRequest>,
    yes: bool,
    json: bool,
) -> Result<CliExit, CliError> {
    if !json {
        if requests.is_empty() {
            output::print_message(
                "Nothing to trust: no programs, no hosts, no MCP servers, no sources, no model servers.",
            );
        }
        for one in &requests {
            print_request(&one.record);
            if let Some(why) = one.settled {
                output::print_message(&format!("  {GOOD}trusted{GOOD:#}: {why}"));
            }
        }
    }
    let open: Vec<&TrustRequest> = requests.iter().filter(|one| one.settled.is_none()).collect();
    let trusted = open.is_empty() || yes || (!json && confirm("Trust this? [y/N]").await?);
    if trusted {
        for one in open {
            file.add(one.record.clone()).map_err(CliError::Trust)?;
        }
    }
    if json {
        let shown: Vec<Value> = requests.iter().map(|one| record_to_json(&one.record)).collect();
        output::print_json(&json!({ "trusted": trusted, "lists": shown }));
    } else if !trusted {
        output::print_message("Not trusted: nothing on this list is used.");
    } else if requests.iter().any(|one| one.settled.is_none()) {
        output::print_message(&format!(
            "{GOOD}trusted{GOOD:#}: recorded in {}",
            file.path().display()
        ));
    }
    Ok(if trusted { CliExit::Success } else { CliExit::Refused })
}

/// Asks for confirmation at the terminal; returns an error if there is no terminal.
async fn confirm(question: &str) -> Result<bool, CliError> {
    match terminal::prompt_line(&format!("? {question}")).await {
        Some(line) => Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes")),
        None => Err(CliError::Usage(
            "cannot ask for confirmation without a terminal; `countersign trust --yes` trusts the list above"
                .to_owned(),
        )),
    }
}

fn print_request(record: &TrustRecord) {
    output::print_message(&format!(
        "{HEADING}{}{HEADING:#} in {}",
        record.subject,
        record.folder.display()
    ));
    for line in &record.list {
        output::print_message(&format!("  {line}"));
    }
}

fn record_to_json(record: &TrustRecord) -> Value {
    json!({
        "digest": record.digest,
        "subject": record.subject,
        "folder": record.folder,
        "list": record.list,
        "by": record.by,
        "trusted_at": record.trusted_at,
    })
}

fn list_records(file: &TrustFile, json: bool) -> Result<CliExit, CliError> {
    let records = file.read_records().map_err(CliError::Trust)?;
    if json {
        output::print_json(&Value::Array(records.iter().map(record_to_json).collect()));
        return Ok(CliExit::Success);
    }
    if records.is_empty() {
        output::print_message("Nothing is trusted.");
    }
    for record in &records {
        let digest = record.digest.strip_prefix("sha256:").unwrap_or(&record.digest);
        output::print_data(&format!(
            "{} {} in {} (by {}, {})\n",
            &digest[..digest.len().min(12)],
            record.subject,
            record.folder.display(),
            record.by,
            record.trusted_at
        ));
        for line in &record.list {
            output::print_data(&format!("  {line}\n"));
        }
    }
    Ok(CliExit::Success)
}

fn revoke_records(file: &TrustFile, what: &str, json: bool) -> Result<CliExit, CliError> {
    let folder = Path::new(what).is_dir().then(|| find_work_folder(Path::new(what))).transpose()?;
    let digest = what.strip_prefix("sha256:").unwrap_or(what);
    if folder.is_none() && digest.len() < 6 {
        return Err(CliError::Usage(format!(
            "`{what}` is neither a folder nor a digest of at least six digits"
        )));
    }
    let gone = file
        .remove(|record| match &folder {
            Some(folder) => record.folder == *folder,
            None => record.digest.trim_start_matches("sha256:").starts_with(digest),
        })
        .map_err(CliError::Trust)?;
    if json {
        output::print_json(
            &json!({ "revoked": gone.iter().map(record_to_json).collect::<Vec<_>>() }),
        );
    } else {
        for record in &gone {
            output::print_message(&format!(
                "revoked: {} in {}",
                record.subject,
                record.folder.display()
            ));
        }
        if gone.is_empty() {
            output::print_message("Nothing was trusted there.");
        }
    }
    Ok(CliExit::Success)
}

/// Asks, if there is a terminal, whether to trust the protocol of a run that is about to be driven.
/// Without consent, the run halts when it needs something that is not trusted.
pub(super) async fn confirm_run_protocol(context: &CliContext, run: &str) -> Result<(), CliError> {
    use std::io::IsTerminal as _;
    let protocol = context.engine.get_run(run).await?.protocol;
    let Some(file) = context.trust.as_ref().filter(|_| std::io::stdin().is_terminal()) else {
        return Ok(());
    };
    let (folder, by) = (context.home.workspace().to_owned(), context.settings.user());
    let Some(request) = build_protocol_request(file, &protocol, folder, by)? else { return Ok(()) };
    if request.settled.is_some() {
        return Ok(());
    }
    output::print_message("The protocol of this run needs access to more than files:");
    print_request(&request.record);
    if confirm("Trust this? If not, the run halts when it needs any of it. [y/N]").await? {
        file.add(request.record).map_err(CliError::Trust)?;
    }
    Ok(())
}

/// Trusts the protocol of a run in this workspace.
pub(super) fn trust_protocol(
    context: &CliContext,
    protocol: &Arc<Protocol>,
) -> Result<(), CliError> {
    let permissions = ProtocolPermissions::from_protocol(protocol);
    let (folder, by) = (context.home.workspace().to_owned(), context.settings.user());
    require_trust_file()?
        .add(build_record(protocol, &permissions, folder, by))
        .map_err(CliError::Trust)?;
    Ok(())
}

fn require_trust_file() -> Result<TrustFile, CliError> {
    crate::settings::locate_trust_file().ok_or_else(|| {
        let what =
            "no location for the trust file: neither XDG_CONFIG_HOME nor HOME is an absolute path";
        CliError::Usage(what.to_owned())
    })
}

/// Returns the workspace of a folder; the folder itself if it has no engine home.
fn find_work_folder(here: &Path) -> Result<PathBuf, CliError> {
    match EngineHome::find(here)? {
        Some(home) => Ok(home.workspace().to_owned()),
        None => here
            .canonicalize()
            .map_err(|source| CliError::Unreadable { what: here.display().to_string(), source }),
    }
}
