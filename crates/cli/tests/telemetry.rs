//! What goes out by OpenTelemetry, received by a collector on this machine: who was asked, how long it took, what
//! it used up, and nothing of what was said. Off where nobody is named.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const PROTOCOL: [(&str, &str); 4] = [
    ("index.yaml", "name: t\nversion: 1.0.0\ndefault_workflow: main\n"),
    (
        "workflows/main.yaml",
        "id: main\nphases: [{ id: judge, agent: judge, contract: verdict }, { id: done, terminal: true }]\ntransitions: [{ from: judge, to: done }]\n",
    ),
    (
        "agents/judge.yaml",
        "id: judge\ndescription: Judges\nprompt: Judge the unspeakable.\nmodel: override\nmodel_config: { name: human }\n",
    ),
    (
        "contracts/verdict.yaml",
        "id: verdict\nversion: 1.0.0\nschema: { type: object, additionalProperties: false, required: [good], properties: { good: { type: boolean } } }\non_violation: { reask: 1, then: fail }\n",
    ),
];

/// Far longer than a request on its way from a program that has ended.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request as it came.
struct Seen {
    head: String,
    body: Vec<u8>,
}

impl Seen {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Listens on this machine, answers everything the same, and hands on what came.
fn listener(kind: &'static str, answer: String) -> (String, Receiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (tell, seen) = channel();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let request = read(&socket);
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type:";
            let length = answer.len();
            write!(socket, "{head} {kind}\r\ncontent-length: {length}\r\n\r\n{answer}").unwrap();
            if tell.send(request).is_err() {
                return;
            }
        }
    });
    (address, seen)
}

fn read(socket: &TcpStream) -> Seen {
    let mut reader = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Seen { head, body }
}

/// A provider that says yes.
fn provider() -> (String, Receiver<Seen>) {
    let piece = json!({
        "model": "some-model-2026",
        "choices": [{"delta": {"content": "{\"good\": true}"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
    });
    listener("text/event-stream", format!("data: {piece}\n\ndata: [DONE]\n\n"))
}

fn collector() -> (String, Receiver<Seen>) {
    listener("application/json", "{}".to_owned())
}

fn put(folder: &Path) {
    for (name, text) in PROTOCOL {
        let file = folder.join(".opencode/protocol").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

fn command(folder: &Path, arguments: &[&str], more: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(arguments).current_dir(folder).env_clear().stdin(Stdio::null());
    command.envs(more.iter().copied());
    command
}

/// Runs the protocol to its end, with a model on this machine.
fn run(folder: &Path, more: &[(&str, &str)]) -> Output {
    put(folder);
    let (address, _asked) = provider();
    let model = format!("openai:some-model@{address}/v1");
    command(folder, &["run", "--detach", "--model", &model], more).output().unwrap()
}

/// The first request to a path; what came before it is let pass.
fn sent_to(seen: &Receiver<Seen>, path: &str) -> Seen {
    loop {
        let request = seen.recv_timeout(PATIENCE).unwrap();
        if request.head.starts_with(&format!("POST {path} ")) {
            return request;
        }
    }
}

/// The first span with a name.
fn find_span<'t>(traces: &'t Value, name: &str) -> &'t Value {
    let spans = traces["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{name} in {traces}"))
}

/// The attributes of something, by name, each as the one value it has.
fn attributes(of: &Value) -> Value {
    let pairs = of["attributes"].as_array().unwrap().iter().map(|pair| {
        let value = pair["value"].as_object().unwrap().values().next().unwrap();
        (pair["key"].as_str().unwrap().to_owned(), value.clone())
    });
    pairs.collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_call_of_a_model_is_told_by_its_usual_names_and_nothing_of_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let (address, seen) = collector();
    let output = run(
        folder.path(),
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", &address), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")],
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let traces = sent_to(&seen, "/v1/traces");
    assert!(traces.head.contains("content-type: application/json"), "{}", traces.head);
    let told = traces.json();
    let resource = attributes(&told["resourceSpans"][0]["resource"]);
    assert_eq!(resource["service.name"], "countersign");
    let span = find_span(&told, "chat some-model");
    assert_eq!(span["kind"], json!(3));
    let about = attributes(span);
    for (name, value) in [
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.provider.name", json!("openai")),
        ("gen_ai.request.model", json!("some-model")),
        ("gen_ai.response.model", json!("some-model-2026")),
        ("gen_ai.output.type", json!("json")),
        ("gen_ai.usage.input_tokens", json!("12")),
        ("gen_ai.usage.output_tokens", json!("3")),
        ("gen_ai.response.finish_reasons", json!({"values": [{"stringValue": "stop"}]})),
        ("server.address", json!("127.0.0.1")),
        ("countersign.phase", json!("judge")),
    ] {
        assert_eq!(about[name], value, "{name} of {about}");
    }
    let run = about["countersign.run"].as_str().unwrap();
    assert!(said.contains(run), "{run} in {said}");

    // The call and the version that its reply led to belong to the work on the run.
    let work = find_span(&told, "run");
    assert_eq!(attributes(work)["countersign.run"], run);
    assert_eq!(span["parentSpanId"], work["spanId"]);
    let all = told["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let versions: Vec<_> = all.iter().filter(|one| one["name"] == "version").collect();
    let inputs: Vec<_> =
        versions.iter().map(|one| attributes(one)["countersign.input"].clone()).collect();
    assert_eq!(inputs, ["start", "model_replied"]);
    assert_eq!(attributes(versions[1])["countersign.version"], "2");
    assert_eq!(versions[1]["parentSpanId"], work["spanId"]);
    assert_eq!(versions[1]["traceId"], span["traceId"]);

    let measures = sent_to(&seen, "/v1/metrics");
    let told = measures.json();
    let scopes = told["resourceMetrics"][0]["scopeMetrics"].as_array().unwrap();
    let all: Vec<&Value> =
        scopes.iter().flat_map(|one| one["metrics"].as_array().unwrap()).collect();
    let named = |name: &str| *all.iter().find(|one| one["name"] == name).unwrap();
    let usage = named("gen_ai.client.token.usage");
    assert_eq!(usage["unit"], "{token}");
    for point in usage["histogram"]["dataPoints"].as_array().unwrap() {
        let sum = if attributes(point)["gen_ai.token.type"] == "input" { 12.0 } else { 3.0 };
        assert_eq!(point["sum"].as_f64(), Some(sum), "{point}");
    }
    assert_eq!(named("gen_ai.client.operation.duration")["unit"], "s");
    let verdicts = &named("countersign.replies")["sum"]["dataPoints"][0];
    assert_eq!(attributes(verdicts)["countersign.verdict"], "accepted");
    let ends = &named("countersign.runs.ended")["sum"]["dataPoints"][0];
    assert_eq!(attributes(ends)["countersign.end"], "completed");

    for sent in [traces, measures] {
        let text = String::from_utf8_lossy(&sent.body).into_owned();
        assert!(!text.contains("unspeakable") && !text.contains("good"), "{text}");
    }
}

#[test]
fn a_request_is_a_part_of_the_trace_it_came_with() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path());
    let (address, seen) = collector();
    // Named in the file this time, in the form that most collectors want.
    fs::write(folder.path().join("countersign.toml"), format!("telemetry = \"{address}\"\n"))
        .unwrap();
    testkit::trust_protocol(env!("CARGO_BIN_EXE_countersign"), folder.path());
    let settings = testkit::config_home(folder.path());
    let json = [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_SERVICE_NAME", "desk"),
        (testkit::CONFIG_HOME, settings.to_str().unwrap()),
    ];
    let mut child = command(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--json"], &json)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut told = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    while !told.ends_with("}\n") {
        assert!(lines.read_line(&mut told).unwrap() > 0, "it says where it listens");
    }
    let told: Value = serde_json::from_str(&told).unwrap();
    let host = told["listening"][0].as_str().unwrap();
    let mut socket = TcpStream::connect(host).unwrap();
    let token = fs::read_to_string(folder.path().join(".countersign/token")).unwrap();
    let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    write!(
        socket,
        "GET /v1/runs/nobody HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {}\r\ntraceparent: 00-{trace}-{parent}-01\r\n\r\n",
        token.trim_end()
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(child.wait().unwrap().success());

    let told = sent_to(&seen, "/v1/traces").json();
    assert_eq!(attributes(&told["resourceSpans"][0]["resource"])["service.name"], "desk");
    let span = find_span(&told, "GET /v1/runs/{run}");
    assert_eq!((&span["traceId"], &span["parentSpanId"]), (&json!(trace), &json!(parent)));
    let about = attributes(span);
    assert_eq!(about["http.route"], "/v1/runs/{run}");
    assert_eq!(about["http.response.status_code"], "404");
    let told = sent_to(&seen, "/v1/metrics").json().to_string();
    assert!(told.contains("http.server.request.duration"), "{told}");
}

#[test]
fn protobuf_where_nobody_says_and_each_signal_to_its_own_place() {
    let folder = tempfile::tempdir().unwrap();
    let (address, seen) = collector();
    let own = format!("{address}/own/place");
    let output = run(folder.path(), &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &own)]);
    assert!(output.status.success());
    let sent = sent_to(&seen, "/own/place");
    assert!(sent.head.contains("content-type: application/x-protobuf"), "{}", sent.head);
    let text = String::from_utf8_lossy(&sent.body);
    assert!(text.contains("gen_ai.request.model") && text.contains("some-model"), "{text}");
    assert!(seen.try_recv().is_err(), "measures were not asked for");
}

/// The lines of a log: those that begin with a time.
fn log_lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    text.lines().filter(|line| line.starts_with("20")).map(str::to_owned).collect()
}

/// Runs the protocol with more arguments, and without a collector.
fn run_logged(arguments: &[&str], more: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path());
    let (address, _asked) = provider();
    let model = format!("openai:some-model@{address}/v1");
    let mut all = vec!["run", "--detach", "--model", &model];
    all.extend(arguments);
    command(folder.path(), &all, more).output().unwrap()
}

#[test]
fn verbose_logs_each_version_within_its_run_and_nothing_of_what_was_said() {
    let output = run_logged(&["-v"], &[]);
    assert!(output.status.success());
    let lines = log_lines(&output);
    let reply = lines.iter().find(|line| line.contains("reply_accepted")).unwrap();
    for part in [
        " INFO run{countersign.run=",
        "version{",
        "countersign.input=\"model_replied\"",
        "countersign_runtime::engine::run_metrics: committed countersign.version=2",
    ] {
        assert!(reply.contains(part), "`{part}` in {reply}");
    }
    assert!(!lines.iter().any(|line| line.contains("DEBUG") || line.contains("histogram")));

    let lines = log_lines(&run_logged(&["-vvv"], &[]));
    assert!(
        lines.iter().any(|line| line.contains("TRACE") && line.contains("choosing a transition"))
    );
    let text = lines.concat();
    assert!(!text.contains("unspeakable") && !text.contains("good"), "{text}");
}

#[test]
fn rust_log_selects_what_is_logged_and_json_makes_each_line_an_object() {
    let only = [("RUST_LOG", "countersign_runtime::driver=debug")];
    let lines = log_lines(&run_logged(&[], &only));
    assert!(
        lines.iter().any(|line| line.contains("DEBUG") && line.contains("performing an action"))
    );
    assert!(lines.iter().all(|line| line.contains("countersign_runtime::driver")), "{lines:?}");

    let output = run_logged(&["-v", "--json"], &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    let logged: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let reply = logged.iter().find(|line| line["countersign.version"] == 2).unwrap();
    assert_eq!((&reply["level"], &reply["message"]), (&json!("INFO"), &json!("committed")));
    assert_eq!(reply["spans"][0]["name"], "run");

    assert!(log_lines(&run_logged(&[], &[])).is_empty(), "nothing is logged by default");
}

#[test]
fn a_log_filter_that_cannot_be_read_is_reported_before_anything_is_done() {
    let output = run_logged(&[], &[("RUST_LOG", "countersign=loud")]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("RUST_LOG: cannot parse `countersign=loud`"), "{text}");
    assert!(!text.contains("run "), "{text}");
}

#[test]
fn nothing_goes_out_unless_it_is_wanted() {
    let (address, seen) = collector();
    for more in [
        vec![],
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()), ("OTEL_SDK_DISABLED", "true")],
        vec![
            ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
            ("OTEL_TRACES_EXPORTER", "none"),
            ("OTEL_METRICS_EXPORTER", "none"),
        ],
    ] {
        let folder = tempfile::tempdir().unwrap();
        assert!(run(folder.path(), &more).status.success(), "{more:?}");
        assert!(seen.try_recv().is_err(), "{more:?}");
    }
}

#[test]
fn a_protocol_that_is_not_spoken_is_told_and_a_collector_that_is_away_holds_nothing_up() {
    let folder = tempfile::tempdir().unwrap();
    let (address, _seen) = collector();
    let grpc = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ];
    let output = run(folder.path(), &grpc);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("telemetry: unsupported protocol `grpc`; expected"), "{said}");

    // Nobody listens at a port that was just given back.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let away = format!("http://{nobody}");
    let output = run(folder.path(), &[("OTEL_EXPORTER_OTLP_ENDPOINT", &away)]);
    assert!(output.status.success(), "the run is not the collector's");
}
