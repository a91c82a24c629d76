//! `countersign serve`: HTTP, live events and the driver of runs, in one process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use countersign_contracts::registry;
use countersign_core::run::{Event, State};
use countersign_protocols::Shipped;
use countersign_runtime::driver::Connected;
use countersign_runtime::folder::Home;
use countersign_runtime::private;
use countersign_runtime::watch::Watch;
use countersign_server::access::{Demand, Hosts, Keyring, LocalToken};
use countersign_server::catalog::{SHIPPED_PREFIX, find_shipped};
use countersign_server::house::{Furniture, House as Served};
use countersign_server::serve::{ServeError, Server};
use countersign_server::stop::Stop;
use serde_json::json;

use super::init;
use super::worker::host;
use crate::args::Serve;
use crate::exit::{Error, Exit};
use crate::house::{House, protocol, wait};
use crate::settings::env;
use crate::show::{BAD, DIM, HEADING};
use crate::signals::Signals;
use crate::{output, sources};

pub(super) fn run(args: &Serve, json: bool) -> Result<Exit, Error> {
    if let Some(name) = &args.tried {
        into_trial(name)?;
    }
    wait(async {
        let model = args.model.as_deref();
        let house =
            House::open_remembering(&args.site, model, Arc::new(Warnings), !args.no_memory)?
                .with_allowed(&args.allow)?;
        let keyring = Arc::new(Keyring::at(house.home.folder().join("keys.json")));
        let demand = match (args.keys, args.no_token) {
            (true, _) => Demand::Always,
            (false, true) => Demand::OpenLoopback,
            (false, false) => Demand::BeyondLoopback,
        };
        let shown = Arc::new(Served::open(furniture(&house)?));
        let server = Server::bind(&args.listen, shown, keyring, demand).await.map_err(told)?;
        let addresses = server.addresses().to_vec();
        let (stop, stopping) = Stop::new();
        let mut signals = Signals::listen();
        if json {
            let token = server.token().map(LocalToken::path);
            output::json(&json!({ "listening": addresses, "token_file": token }));
        } else {
            greet(&house, &addresses, demand, server.token());
        }
        if args.open {
            browse(&house, &addresses, server.token());
        }
        let ending = tokio::spawn(async move {
            signals.next().await;
            output::talk(
                "Ending: what is under way is brought to its end. Once more ends at once.",
            );
            stop.say();
            signals.next().await;
            // Whatever was kept is kept; what was not is done again by the next process.
            std::process::exit(Exit::World as i32);
        });
        server.with_rate(args.rate).with_limits(house.settings.limits.clone()).run(stopping).await;
        ending.abort();
        if !json {
            output::talk(
                "Ended. Every run can go on: `countersign serve`, or `countersign run --resume RUN`.",
            );
        }
        Ok(Exit::Good)
    })
}

/// Goes into the folder of a trial; where there is none, it is made, with the protocol and its script.
fn into_trial(name: &str) -> Result<(), Error> {
    let shipped = init::named(name)?;
    let folder = PathBuf::from(format!("countersign-{}", shipped.name));
    let unwritable = |source| Error::Unwritable { what: folder.display().to_string(), source };
    if !folder.is_dir() {
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        // The folder is a workplace of its own, whatever lies above it.
        Home::create(&folder)?;
        init::put(shipped, &folder)?;
    }
    std::env::set_current_dir(&folder).map_err(unwritable)
}

/// What the server is furnished with: what every command has.
pub(super) fn furniture(house: &House) -> Result<Furniture, Error> {
    let settings = countersign_models::Settings::from_env(&env)
        .map_err(|error| Error::Usage(error.to_string()))?;
    let engine = &house.engine;
    Ok(Furniture {
        store: Arc::clone(engine.store()),
        memory: engine.recall().map(|recall| Arc::clone(recall.memory())),
        unremembered: !house.settings.remembers(),
        embedder: engine.recall().and_then(|recall| recall.embedder().map(Arc::clone)),
        clock: Arc::clone(engine.clock()),
        watch: Arc::clone(engine.watch()),
        models: Arc::new(Connected::new(settings, house.home.workspace().to_owned())),
        sources: Arc::new(sources::kinds()),
        guard: house.guard(),
        contracts: Arc::new(registry()),
        home: house.home.clone(),
        protocol: house.protocol_folder().ok(),
        model: house.settings.model.value.clone(),
        user: house.settings.user(),
        host: host(),
    })
}

fn told(error: ServeError) -> Error {
    match error {
        ServeError::Taken { address } => {
            let port = address.port().wrapping_add(1).max(1024);
            let ip = address.ip();
            Error::Usage(format!(
                "`{address}` is taken: another program listens there, perhaps another `countersign serve`\n  elsewhere: `countersign serve --listen {}`",
                SocketAddr::new(ip, port)
            ))
        }
        ServeError::Open { address } => Error::Usage(format!(
            "every request at `{address}` would need a key, and there is none\n  a key:     `countersign key create --tenant local --role operator`\n  or alone:  `countersign serve --listen 127.0.0.1:{}`",
            address.port()
        )),
        ServeError::Refused { address, source } => {
            Error::Unreadable { what: format!("`{address}`, to listen there"), source }
        }
        ServeError::Token { folder, source } => {
            Error::Unwritable { what: folder.join("token").display().to_string(), source }
        }
        ServeError::Keys(error) => Error::Usage(error.to_string()),
    }
}

fn greet(house: &House, addresses: &[SocketAddr], demand: Demand, token: Option<&LocalToken>) {
    for address in addresses {
        output::talk(&format!("Countersign listens at {HEADING}http://{address}{HEADING:#}"));
    }
    // Only where a person reads it: what goes into a file or to a collector is no place for a token.
    if let (Some(token), Some(address)) = (token, addresses.first())
        && output::is_talking_to_a_person()
    {
        output::talk(&format!("  page      http://{address}/?token={}", token.reveal()));
    }
    let door = match token {
        Some(token) => format!("the token is in {}", token.path().display()),
        None if Hosts::of(addresses, demand).keyless() => {
            "no key is needed on this machine".to_owned()
        }
        None => "every request needs a key: `countersign key list`".to_owned(),
    };
    if demand == Demand::OpenLoopback {
        output::talk(&format!(
            "{BAD}warning{BAD:#}: with `--no-token` every user and every program of this machine is let in as an admin"
        ));
    }
    output::talk(&format!("  API       /v1, listed at /v1/docs {DIM}({door}){DIM:#}"));
    output::talk("  agents    /mcp, for coding agents");
    output::talk(&format!("  runs      {}", house.place()));
    let folder = house.protocol_folder().ok();
    let shown = folder.as_ref().map_or_else(
        || "those that ship: `countersign init --list`".to_owned(),
        |folder| folder.display().to_string(),
    );
    output::talk(&format!("  protocols {shown}"));
    if let Some(Ok((protocol, _))) = folder.as_deref().map(protocol)
        && let Some(Shipped { name, .. }) = find_shipped(&protocol.name)
    {
        output::talk(&format!(
            "            `{name}` means this one; the one that ships is `{SHIPPED_PREFIX}{name}`"
        ));
    }
    let memory = if house.engine.recall().is_some() { "on" } else { "off" };
    output::talk(&format!("  memory    {memory}"));
    output::talk("Ctrl-C ends it.");
}

/// Opens the page with whatever the system opens pages with. That it cannot is no fault.
fn browse(house: &House, addresses: &[SocketAddr], token: Option<&LocalToken>) {
    let Some(address) = addresses.first() else { return };
    let plain = format!("http://{address}/");
    // Other users see the arguments of programs, so the token goes by way of a file that only its owner reads.
    let page = match token {
        Some(token) => opening_page(house, &plain, token).unwrap_or_else(|| plain.clone()),
        None => plain.clone(),
    };
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.spawn().is_err() {
        output::talk(&format!("  no browser could be opened; the page is {page}"));
    }
}

/// A private file that leads a browser to the page, with the token.
fn opening_page(house: &House, plain: &str, token: &LocalToken) -> Option<String> {
    let path = house.home.folder().join("open.html");
    let text = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>Countersign</title><meta http-equiv=\"refresh\" content=\"0; url={plain}?token={}\">\n",
        token.reveal()
    );
    private::replace_file(&path, text.as_bytes()).ok()?;
    Some(format!("file://{}", path.display()))
}

/// Tells what went wrong, and nothing else: who wants to follow a run asks for its events.
pub(super) struct Warnings;

impl Watch for Warnings {
    fn committed(&self, _: &State, _: &[Event]) {}

    fn writing(&self, _: &State, _: &str, _: &str) {}

    fn warned(&self, run: &str, message: &str) {
        output::talk(&format!("{BAD}warning{BAD:#}: run {run}: {message}"));
    }
}
