//! The log: what happens inside, written to standard error.
//!
//! `RUST_LOG` selects what is logged; `--verbose` selects our own crates. Without either, nothing is
//! logged, and the call sites cost almost nothing. Log lines contain no text of models or people.

use std::io::{self, Write};
use std::sync::OnceLock;

use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracer;
use tracing_opentelemetry::{MetricsLayer, OpenTelemetryLayer};
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Registry, fmt};

use crate::exit::CliError;
use crate::output;
use crate::settings::env_var;

/// The target of events that only carry metrics.
const METRICS_TARGET: &str = "metrics";

/// The start of the targets of all our crates.
const OWN_TARGETS: &str = "countersign";

/// What the command line says about the log.
#[derive(Debug, Clone)]
pub(crate) struct LogOptions {
    /// How often `--verbose` was given.
    verbosity: u8,
    /// The filter of `RUST_LOG`, which takes precedence.
    filter: Option<String>,
    /// Whether each line is a JSON object.
    json: bool,
}

static LOG_OPTIONS: OnceLock<LogOptions> = OnceLock::new();

/// Sets the options of the log, and reports a filter that cannot be parsed. Nothing is logged until
/// [`install`] is called.
pub(crate) fn set_options(verbosity: u8, json: bool) -> Result<(), CliError> {
    let options = LogOptions { verbosity, filter: env_var("RUST_LOG"), json };
    options.parse_filter()?;
    // The first call wins; `main` makes the only one.
    let _ = LOG_OPTIONS.set(options);
    Ok(())
}

impl LogOptions {
    /// Returns what is logged; `None` if nothing is.
    fn parse_filter(&self) -> Result<Option<EnvFilter>, CliError> {
        let own = match self.verbosity {
            0 => None,
            1 => Some(format!("warn,{OWN_TARGETS}=info")),
            2 => Some(format!("warn,{OWN_TARGETS}=debug")),
            _ => Some(format!("warn,{OWN_TARGETS}=trace")),
        };
        let Some(directives) = self.filter.clone().or(own) else { return Ok(None) };
        EnvFilter::try_new(&directives).map(Some).map_err(|error| {
            CliError::Usage(format!(
                "RUST_LOG: cannot parse `{directives}`: {error}; expected a level or `target=level` pairs, such as `debug` or `countersign_runtime=trace,warn`"
            ))
        })
    }
}

/// Where spans and metrics are sent besides the log.
#[derive(Debug, Default)]
pub(crate) struct Collectors {
    pub(crate) tracer: Option<SdkTracer>,
    pub(crate) meters: Option<SdkMeterProvider>,
}

/// Starts the log and the export to collectors. Only the first call of a process has an effect.
pub(crate) fn install(collectors: Collectors) {
    let Collectors { tracer, meters } = collectors;
    let options = LOG_OPTIONS.get();
    let filter = options.and_then(|options| options.parse_filter().ok().flatten());
    if filter.is_none() && tracer.is_none() && meters.is_none() {
        return;
    }
    let json = options.is_some_and(|options| options.json);
    let log = filter.map(|filter| {
        let lines = fmt::layer().with_writer(|| LogWriter).with_ansi(false);
        let lines: Box<dyn Layer<Registry> + Send + Sync> =
            if json { Box::new(lines.json().flatten_event(true)) } else { Box::new(lines) };
        let shown = filter_fn(|metadata| metadata.target() != METRICS_TARGET);
        lines.with_filter(filter).with_filter(shown)
    });
    let spans = tracer.map(|tracer| {
        OpenTelemetryLayer::new(tracer)
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            .with_filter(Targets::new().with_target(OWN_TARGETS, LevelFilter::INFO))
    });
    let metrics = meters.map(MetricsLayer::new);
    // A test or an embedding program may have installed its own subscriber, which then receives
    // everything.
    let _ = Registry::default().with(log).with(spans).with(metrics).try_init();
}

/// Writes complete lines through the filter for control characters.
struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        output::print_message(String::from_utf8_lossy(line).trim_end());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
