//! `countersign serve`: serves HTTP and live events and drives runs in the same process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use countersign_run::{RunEvent, RunState};
use countersign_runtime::driver::CachedModelResolver;
use countersign_runtime::folder::EngineHome;
use countersign_runtime::private_files;
use countersign_runtime::run_observer::RunObserver;
use countersign_server::access::{AuthMode, HostPolicy, Keyring, LocalToken};
use countersign_server::app_state::{AppState, ServerDeps};
use countersign_server::serve::{HttpServer, ServeError};
use countersign_server::shutdown::ShutdownTrigger;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_protocols::ShippedProtocol;
use countersign_view::protocol_catalog::{SHIPPED_PREFIX, find_shipped};
use serde_json::json;

use super::init;
use super::worker::host_name;
use crate::args::ServeArgs;
use crate::context::{CliContext, block_on, load_protocol_folder};
use crate::exit::{CliError, CliExit};
use crate::render::{BAD, DIM, HEADING};
use crate::settings::env_var;
use crate::signals::TerminationSignals;
use crate::{output, source_kinds};

pub(super) fn run(args: &ServeArgs, json: bool) -> Result<CliExit, CliError> {
    if let Some(name) = &args.trial {
        enter_trial_folder(name)?;
    }
    block_on(async {
        let model = args.model.as_deref();
        let context = CliContext::open_with_memory(
            &args.store_args,
            model,
            Arc::new(WarningPrinter),
            !args.no_memory,
        )?
        .with_allow_list(&args.allow)?;
        let keyring = Arc::new(Keyring::open(context.home.folder().join("keys.json")));
        let demand = match (args.keys, args.no_token) {
            (true, _) => AuthMode::KeyRequired,
            (false, true) => AuthMode::LoopbackOpen,
            (false, false) => AuthMode::LoopbackToken,
        };
        let shown = Arc::new(AppState::open(build_server_deps(&context)?));
        let server =
            HttpServer::bind(&args.listen, shown, keyring, demand).await.map_err(to_cli_error)?;
        let addresses = server.addresses().to_vec();
        let (stop, stopping) = ShutdownTrigger::new();
        let mut signals = TerminationSignals::listen();
        if json {
            let token = server.token().map(LocalToken::path);
            output::print_json(&json!({ "listening": addresses, "token_file": token }));
        } else {
            print_banner(&context, &addresses, demand, server.token());
        }
        if args.open {
            open_browser(&context, &addresses, server.token());
        }
        let ending = tokio::spawn(async move {
            signals.recv().await;
            output::print_message(
                "Stopping: work in progress finishes first. Press Ctrl-C again to stop at once.",
            );
            stop.trigger();
            signals.recv().await;
            // Everything committed is durable; the next process repeats the rest.
            std::process::exit(CliExit::SystemError as i32);
        });
        server
            .with_rate(args.rate)
            .with_limits(context.settings.limits.clone())
            .run(stopping)
            .await;
        ending.abort();
        if !json {
            output::print_message(
                "Stopped. Continue runs with `countersign serve`, or `countersign run --resume RUN`.",
            );
        }
        Ok(CliExit::Success)
    })
}

/// Changes to the folder of a trial. Creates it with the protocol and its script if it does not
/// exist.
fn enter_trial_folder(name: &str) -> Result<(), CliError> {
    let shipped = init::find_template(name)?;
    let folder = PathBuf::from(format!("countersign-{}", shipped.name));
    let unwritable = |source| CliError::Unwritable { what: folder.display().to_string(), source };
    if !folder.is_dir() {
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        // The folder gets its own engine home, regardless of any home in a parent folder.
        EngineHome::create(&folder)?;
        init::write_template(shipped, &folder)?;
    }
    std::env::set_current_dir(&folder).map_err(unwritable)
}

/// Builds the server's dependencies from those of every command.
pub(super) fn build_server_deps(context: &CliContext) -> Result<ServerDeps, CliError> {
    let settings = countersign_models::ModelSettings::from_env(&env_var)
        .map_err(|error| CliError::Usage(error.to_string()))?;
    let engine = &context.engine;
    Ok(ServerDeps {
        store: Arc::clone(engine.store()),
        memory: engine.memory_recorder().map(|recall| Arc::clone(recall.memory())),
        memory_disabled: !context.settings.is_memory_enabled(),
        embedder: engine.memory_recorder().and_then(|recall| recall.embedder().map(Arc::clone)),
        clock: Arc::clone(engine.clock()),
        watch: Arc::clone(engine.observer()),
        models: Arc::new(CachedModelResolver::new(settings, context.home.workspace().to_owned())),
        sources: Arc::new(source_kinds::build_source_kinds()),
        document_reader: source_kinds::get_document_reader(),
        guard: context.build_action_guard(),
        channels: Arc::clone(engine.channels()),
        contracts: Arc::new(load_shipped_contracts()),
        home: context.home.clone(),
        protocol_folder: context.find_protocol_folder().ok(),
        model_override: context.settings.model.value.clone(),
        default_user: context.settings.user(),
        default_sender: context.settings.sender(),
        host: host_name(),
    })
}

fn to_cli_error(error: ServeError) -> CliError {
    match error {
        ServeError::AddressInUse { address } => {
            let port = address.port().wrapping_add(1).max(1024);
            let ip = address.ip();
            CliError::Usage(format!(
                "`{address}` is in use by another program, perhaps another `countersign serve`\n  use another address: `countersign serve --listen {}`",
                SocketAddr::new(ip, port)
            ))
        }
        ServeError::NoActiveKey { address } => CliError::Usage(format!(
            "every request to `{address}` needs a key, but there is none\n  create a key:       `countersign key create --tenant default --role operator`\n  or serve locally:   `countersign serve --listen 127.0.0.1:{}`",
            address.port()
        )),
        ServeError::Bind { address, source } => {
            CliError::Unreadable { what: format!("the listen address `{address}`"), source }
        }
        ServeError::Token { folder, source } => {
            CliError::Unwritable { what: folder.join("token").display().to_string(), source }
        }
        ServeError::Keys(error) => CliError::Usage(error.to_string()),
    }
}

fn print_banner(
    context: &CliContext,
    addresses: &[SocketAddr],
    demand: AuthMode,
    token: Option<&LocalToken>,
) {
    for address in addresses {
        output::print_message(&format!(
            "Countersign listens at {HEADING}http://{address}{HEADING:#}"
        ));
    }
    // Print the token only on a terminal: it does not belong into a log file or a collector.
    if let (Some(token), Some(address)) = (token, addresses.first())
        && output::is_stderr_terminal()
    {
        output::print_message(&format!("  page      http://{address}/?token={}", token.reveal()));
    }
    let door = match token {
        Some(token) => format!("the token is in {}", token.path().display()),
        None if HostPolicy::from_addresses(addresses, demand).allows_keyless() => {
            "no key is needed on this machine".to_owned()
        }
        None => "every request needs a key: `countersign key list`".to_owned(),
    };
    if demand == AuthMode::LoopbackOpen {
        output::print_message(&format!(
            "{BAD}warning{BAD:#}: `--no-token` gives every user and every program of this machine admin access"
        ));
    }
    output::print_message(&format!("  API       /v1, listed at /v1/docs {DIM}({door}){DIM:#}"));
    output::print_message("  agents    /mcp, for coding agents");
    output::print_message(&format!("  runs      {}", context.location()));
    let folder = context.find_protocol_folder().ok();
    let shown = folder.as_ref().map_or_else(
        || "the shipped ones: `countersign init --list`".to_owned(),
        |folder| folder.display().to_string(),
    );
    output::print_message(&format!("  protocols {shown}"));
    if let Some(Ok((protocol, _))) = folder.as_deref().map(load_protocol_folder)
        && let Some(ShippedProtocol { name, .. }) = find_shipped(&protocol.name)
    {
        output::print_message(&format!(
            "            `{name}` is this one; the shipped one is `{SHIPPED_PREFIX}{name}`"
        ));
    }
    let memory = if context.engine.memory_recorder().is_some() { "on" } else { "off" };
    output::print_message(&format!("  memory    {memory}"));
    output::print_message("Press Ctrl-C to stop.");
}

/// Opens the page in the default browser; a failure is ignored.
fn open_browser(context: &CliContext, addresses: &[SocketAddr], token: Option<&LocalToken>) {
    let Some(address) = addresses.first() else { return };
    let plain = format!("http://{address}/");
    // Other users can see program arguments, so the token is passed in a file that only its owner
    // can read.
    let page = match token {
        Some(token) => write_redirect_page(context, &plain, token).unwrap_or_else(|| plain.clone()),
        None => plain.clone(),
    };
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.spawn().is_err() {
        output::print_message(&format!("  cannot open a browser; open {page} yourself"));
    }
}

/// Writes a private file that redirects a browser to the page with the token; returns its address.
fn write_redirect_page(context: &CliContext, plain: &str, token: &LocalToken) -> Option<String> {
    let path = context.home.folder().join("open.html");
    let text = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>Countersign</title><meta http-equiv=\"refresh\" content=\"0; url={plain}?token={}\">\n",
        token.reveal()
    );
    private_files::replace_file(&path, text.as_bytes()).ok()?;
    Some(format!("file://{}", path.display()))
}

/// Prints only errors. Clients follow a run through its events.
pub(super) struct WarningPrinter;

impl RunObserver for WarningPrinter {
    fn on_commit(&self, _: &RunState, _: &[RunEvent]) {}

    fn on_model_text(&self, _: &RunState, _: &str, _: &str) {}

    fn on_warning(&self, run: &str, message: &str) {
        output::print_message(&format!("{BAD}warning{BAD:#}: run {run}: {message}"));
    }
}
