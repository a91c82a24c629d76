//! Tests the HTTP API with an independent checker: `schemathesis` generates requests from the API
//! description that a real server process serves, and validates every response against it.
//!
//! If the checker cannot be installed, the trial reports that it did not run.

use std::error::Error;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::Args;
use serde_json::Value;
use tempfile::TempDir;

/// The pinned version, so that results are comparable between runs.
const PACKAGE: &str = "schemathesis==4.32.5";

/// The checks to run; `ignored_auth` repeats requests without the key and with a wrong one.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method,allow_header_conformance,ignored_auth";

#[derive(Debug, Args)]
pub(crate) struct SchemathesisArgs {
    /// The program to test; by default the one next to this program.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The number of requests per operation.
    #[arg(long, default_value_t = 25)]
    examples: u32,
    /// The seed of the checker's random number generator.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the trial; returns whether no problem was found.
pub(crate) fn run(
    settings: &SchemathesisArgs,
    out: &mut impl Write,
) -> Result<bool, Box<dyn Error>> {
    let beside = std::env::current_exe()?;
    let beside = beside.parent().ok_or("this program has no folder")?;
    let binary = settings.binary.clone().unwrap_or_else(|| beside.join("countersign"));
    if !binary.is_file() {
        return Err(
            format!("no program at `{}`; build it with `cargo build`", binary.display()).into()
        );
    }
    // The path must be absolute, because the program is called from another folder.
    let binary = binary.canonicalize()?;
    let target = beside.parent().unwrap_or(beside);
    let checker = match install_checker(&target.join("trials").join("schemathesis")) {
        Ok(checker) => checker,
        Err(why) => {
            writeln!(out, "not run: cannot install schemathesis: {why}")?;
            return Ok(true);
        }
    };
    let serving = TrialServer::start(&binary)?;
    let status = Command::new(checker)
        .args(["run", &format!("http://{}/v1/openapi.json", serving.address)])
        // Without a key, every route would refuse the request, and the code behind it would not be
        // tested.
        .args(["--header", &format!("Authorization: Bearer {}", serving.key)])
        .args(["--checks", CHECKS])
        .args(["--max-examples", &settings.examples.to_string()])
        .args(["--seed", &settings.seed.to_string()])
        // Event streams do not end.
        .args(["--exclude-path-regex", "/stream$"])
        .args(["--phases", "examples,coverage,fuzzing", "--continue-on-failure"])
        .current_dir(serving.folder.path())
        .stdin(Stdio::null())
        .status()?;
    let proved = Command::new(&binary)
        .args(["replay", "--all", "--verify"])
        .current_dir(serving.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    writeln!(
        out,
        "schemathesis: {}; the runs that it started {}",
        if status.success() { "no problems found" } else { "problems found" },
        if proved.success() { "verify" } else { "do not verify" },
    )?;
    Ok(status.success() && proved.success())
}

/// Installs the checker in its own virtual environment.
fn install_checker(home: &Path) -> Result<PathBuf, String> {
    let checker = home.join("bin/schemathesis");
    if !checker.is_file() {
        fs::create_dir_all(home).map_err(|error| error.to_string())?;
        run_command(Command::new("python3").args(["-m", "venv"]).arg(home))?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE];
    run_command(Command::new(home.join("bin/python")).args(pip))?;
    Ok(checker)
}

fn run_command(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{program}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    Err(format!("`{program}` ended with {}: {last}", output.status))
}

/// A server with a copy of the demo in its own folder; the server stops on drop.
struct TrialServer {
    folder: TempDir,
    child: Child,
    address: String,
    key: String,
}

impl TrialServer {
    fn start(binary: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        run_command(Command::new(binary).args(["init", "demo"]).current_dir(folder.path()))?;
        let made = Command::new(binary)
            .args(["key", "create", "--tenant", "default", "--role", "admin"])
            .current_dir(folder.path())
            .output()?;
        let key = String::from_utf8(made.stdout)?.trim().to_owned();
        let mut child = Command::new(binary)
            .args(["serve", "--keys", "--rate", "100000", "--listen", "127.0.0.1:0", "--json"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the server prints nothing")?;
        let mut line = String::new();
        let mut lines = BufReader::new(stdout);
        while !line.ends_with("}\n") {
            if lines.read_line(&mut line)? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
        let line: Value = serde_json::from_str(&line)?;
        let address =
            line["listening"][0].as_str().ok_or("the server prints no address")?.to_owned();
        Ok(Self { folder, child, address, key })
    }
}

impl Drop for TrialServer {
    fn drop(&mut self) {
        // The server may have stopped already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
