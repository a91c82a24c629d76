//! Previews of calls that wait for an approval: what a file will look like, the command line, the
//! request.

use std::time::Duration;

use countersign_contract::json::sha256_hex;
use countersign_protocol::Protocol;
use countersign_run::RunWait;
use serde_json::Value;
use similar::TextDiff;

use crate::engine::Engine;
use crate::workspace::MAX_READ_BYTES;

/// Time for computing a difference; after it the difference is correct, but may be longer.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// Describes what the call of a wait would do; `None` if the wait holds no call.
///
/// `read` returns the text of a file in the workspace, or `None` if there is no such file or it is
/// no text.
#[must_use]
pub fn preview_call(
    wait: &RunWait,
    protocol: &Protocol,
    read: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    wait.action.as_ref()?;
    let call = wait.subject.as_ref()?.find_value("")?;
    let text = |key: &str| call[key].as_str().unwrap_or_default();
    Some(match call["name"].as_str()? {
        "write" => preview_file(text("path"), read(text("path")).as_deref(), text("content")),
        "copy" => {
            let line = format!("copies {} to {}", text("from"), text("to"));
            match read(text("from")) {
                Some(content) if !is_signed_content(&call["digest"], &content) => format!(
                    "{line}\n{} changed since the approval was requested, so the copy will fail",
                    text("from")
                ),
                Some(content) => {
                    let current = read(text("to"));
                    let file = preview_file(text("to"), current.as_deref(), &content);
                    format!("{line}\n{file}")
                }
                None => line,
            }
        }
        "run" => {
            let program = protocol.policy.programs.get(text("program"));
            let command = program.map_or(&[][..], |program| &program.command);
            let args = call["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let words = command.iter().map(String::as_str).chain(args).map(quote_word);
            let line = words.collect::<Vec<_>>().join(" ");
            let input = call.get("input").map(|input| format!("\nstandard input:\n{input:#}"));
            format!("runs {line}{}", input.unwrap_or_default())
        }
        "http" => {
            let body = call.get("body").map(|body| format!("\n{body:#}")).unwrap_or_default();
            format!("{} {}{body}", text("method"), text("url"))
        }
        _ => return None,
    })
}

/// Describes what a file will look like, beside what it contains now.
fn preview_file(path: &str, current: Option<&str>, content: &str) -> String {
    match current {
        None => format!("new file {path}\n{}", prefix_lines("+", content)),
        Some(current) if current == content => format!("{path} already has this content"),
        Some(current) => format!("changes {path}\n{}", diff_lines(current, content)),
    }
}

/// Whether a text is the one whose digest is signed.
fn is_signed_content(digest: &Value, content: &str) -> bool {
    digest.as_str().is_none_or(|digest| {
        digest.strip_prefix("sha256:") == Some(&sha256_hex(&[content.as_bytes()]))
    })
}

/// Returns the lines that differ, with `-` and `+` before them and two lines around each change.
#[must_use]
pub fn diff_lines(before: &str, after: &str) -> String {
    let changes = TextDiff::configure().timeout(DIFF_TIME).diff_lines(before, after);
    let text = changes.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
    text.lines().filter(|line| !line.starts_with("@@")).collect::<Vec<_>>().join("\n")
}

impl Engine {
    /// Describes what the call of a wait would do, beside the files of the workspace as they are
    /// now. `None` if the wait holds no call, or the run cannot be read.
    pub async fn preview_wait(&self, run: &str, wait: &RunWait) -> Option<String> {
        wait.action.as_ref()?;
        let live = self.get_run(run).await.ok()?;
        let protocol = live.protocol;
        let files =
            self.workspace().map(|files| files.with_policy(&protocol.policy).with_run(&live.state));
        let wait = wait.clone();
        let read = move |path: &str| {
            let content = files.as_ref()?.read(path, MAX_READ_BYTES).ok()?;
            String::from_utf8(content.bytes).ok().filter(|_| !content.truncated)
        };
        let previewed = tokio::task::spawn_blocking(move || preview_call(&wait, &protocol, read));
        previewed.await.ok().flatten()
    }
}

fn prefix_lines(prefix: &str, text: &str) -> String {
    text.lines().map(|line| format!("{prefix}{line}")).collect::<Vec<_>>().join("\n")
}

/// A word of a command line, in quotes where it could be read as several.
fn quote_word(word: &str) -> String {
    let plain = |one: char| one.is_alphanumeric() || "-_./=:@%+,".contains(one);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use countersign_contract::contract::ContractRegistry;
    use serde_json::json;

    use super::*;

    fn test_protocol() -> Protocol {
        let files = [
            (
                "index.yaml",
                "name: t\nversion: 1.0.0\ndefault_workflow: main\npolicy: { programs: { lint: { command: [cargo, clippy] } } }\n",
            ),
            ("workflows/main.yaml", "id: main\nphases: [{ id: a }]\ntransitions: []\n"),
        ];
        let bundle = files.into_iter().collect();
        countersign_protocol::load_protocol(bundle, &ContractRegistry::default())
            .expect("it loads")
            .protocol
    }

    fn preview(call: &Value, current: Option<&str>) -> String {
        let wait = json!({
            "id": "w1", "kind": "approval", "phase": "a", "name": "n", "question": "?", "opened_at": 0,
            "action": "1.1", "subject": { "digest": "d", "parts": [{ "pointer": "", "value": call }] },
        });
        let wait = serde_json::from_value(wait).expect("a wait");
        let protocol = test_protocol();
        preview_call(&wait, &protocol, |_| current.map(str::to_owned)).expect("a preview")
    }

    #[test]
    fn a_preview_shows_what_a_call_would_do() {
        let write = json!({ "name": "write", "path": "a.md", "content": "one\ntwo\n" });
        assert_eq!(preview(&write, None), "new file a.md\n+one\n+two");
        assert_eq!(preview(&write, Some("one\n2\n")), "changes a.md\n one\n-2\n+two");
        assert_eq!(preview(&write, Some("one\ntwo\n")), "a.md already has this content");
        let run = json!({ "name": "run", "program": "lint", "args": ["-l", "a b", "it's", ""] });
        assert_eq!(preview(&run, None), "runs cargo clippy -l 'a b' 'it'\\''s' ''");
        let digest = format!("sha256:{}", sha256_hex(&[b"one\n"]));
        let copy = json!({ "name": "copy", "from": "a.md", "to": "b.md", "digest": digest });
        let shown = preview(&copy, Some("one\n"));
        assert_eq!(shown, "copies a.md to b.md\nb.md already has this content");
        let shown = preview(&copy, Some("two\n"));
        assert!(
            shown.ends_with("a.md changed since the approval was requested, so the copy will fail")
        );
        assert_eq!(preview(&copy, None), "copies a.md to b.md");
        let http = json!({ "name": "http", "method": "PUT", "url": "https://x/", "body": [1] });
        assert_eq!(preview(&http, None), "PUT https://x/\n[\n  1\n]");
    }
}
