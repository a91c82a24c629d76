//! The documentation tells the truth: every transcript in it is replayed.
//!
//! In a block marked `console`, `$ cat FILE` gives the content of a file, and any other command is
//! run by bash, in a fresh folder a block, and must print just what follows it.
//! A page that begins with `<!-- One folder` is played in order in one folder: a block that begins
//! with `# PATH` is a file, commands in a block `sh` must succeed, and `console` is as above.
//! With `COUNTERSIGN_UPDATE_DOCS=1`, the pages are rewritten with what the commands print; read the
//! difference before you commit it.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a page begins whose blocks are played in order in one folder.
const ONE_FOLDER: &str = "<!-- One folder";

#[test]
fn transcripts_are_true() {
    let mut wrong = Vec::new();
    let mut replayed = 0;
    let updates = updates_pages();
    for page in pages() {
        let mut text = fs::read_to_string(&page).unwrap();
        let folder = text.starts_with(ONE_FOLDER).then(|| tempfile::tempdir().unwrap());
        for block in list_blocks(&text) {
            let (differences, played) = match &folder {
                Some(folder) => replay_in_page(&block, folder.path()),
                None if block.language == "console" => replay(&block.body),
                None => (Vec::new(), block.body.clone()),
            };
            replayed += usize::from(block.language == "console");
            if updates && played != block.body && !differences.is_empty() {
                text = text.replacen(&block.body, &played, 1);
                fs::write(&page, &text).unwrap();
            } else {
                let differences = differences.into_iter();
                wrong.extend(differences.map(|one| format!("{}: {one}", page.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(replayed >= 40, "only {replayed} transcripts were found");
}

/// On the page of a protocol, which is named like it, a drawing stands under the command that makes it.
#[test]
fn drawings_are_true() {
    let (mut wrong, mut drawn) = (Vec::new(), 0);
    for page in pages().into_iter().filter(|page| page.parent().unwrap().ends_with("protocols")) {
        let name = page.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut text = fs::read_to_string(&page).unwrap();
        let drawings: Vec<String> =
            text.split("<!-- countersign graph").skip(1).map(str::to_owned).collect();
        let folder = tempfile::tempdir().unwrap();
        run(&format!("countersign init {name}"), folder.path());
        for drawing in drawings {
            drawn += 1;
            let (arguments, rest) = drawing.split_once(" -->\n```mermaid\n").unwrap();
            let shown = rest.split("\n```").next().unwrap();
            let printed = run(&format!("countersign graph{arguments}"), folder.path());
            if printed.trim_end() != shown.trim_end() && updates_pages() {
                text = text.replacen(shown, printed.trim_end(), 1);
                fs::write(&page, &text).unwrap();
            } else if printed.trim_end() != shown.trim_end() {
                wrong.push(format!("{name}: `countersign graph{arguments}` prints\n{printed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(drawn >= 2, "only {drawn} drawings were found");
}

fn updates_pages() -> bool {
    std::env::var_os("COUNTERSIGN_UPDATE_DOCS").is_some()
}

/// Every page: the README, the book, the error codes.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![testkit::workspace_root().join("README.md")];
    let folders =
        ["docs", "docs/concepts", "docs/errors", "docs/guides", "docs/protocols", "docs/reference"];
    for folder in folders {
        let entries = fs::read_dir(testkit::workspace_root().join(folder)).unwrap();
        pages.extend(entries.map(|entry| entry.unwrap().path()));
    }
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// A code block of a page.
struct CodeBlock {
    language: String,
    body: String,
}

/// Lists the code blocks of a page.
fn list_blocks(text: &str) -> Vec<CodeBlock> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    let split = blocks.map(|block| block.split_once('\n').unwrap_or((block, "")));
    split
        .map(|(language, body)| CodeBlock { language: language.to_owned(), body: body.to_owned() })
        .collect()
}

/// Plays one block of a page that has one folder. Returns the differences, and the block with what
/// was printed.
fn replay_in_page(block: &CodeBlock, folder: &Path) -> (Vec<String>, String) {
    let CodeBlock { language, body } = block;
    let (first, rest) = body.split_once('\n').unwrap_or((body.as_str(), ""));
    let file = first.strip_prefix("# ").filter(|path| path.contains('.') && !path.contains(' '));
    let mut differences = Vec::new();
    match (language.as_str(), file) {
        ("console", _) => return replay_in(body, folder),
        ("sh" | "yaml" | "python", Some(file)) => {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{rest}\n")).unwrap();
        }
        ("sh", None) => {
            let printed = run(&format!("set -e\n{body}\necho succeeded"), folder);
            if !printed.ends_with("succeeded\n") {
                differences.push(format!("`{body}` fails\n{printed}"));
            }
        }
        _ => {}
    }
    (differences, body.clone())
}

/// Plays one block in a fresh folder. Returns the differences, and the block with what was printed.
fn replay(block: &str) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    // What the pages use of the repository.
    let examples = testkit::workspace_root().join("examples").canonicalize().unwrap();
    std::os::unix::fs::symlink(examples, folder.path().join("examples")).unwrap();
    replay_in(block, folder.path())
}

fn replay_in(block: &str, folder: &Path) -> (Vec<String>, String) {
    let block = format!("\n{block}\n");
    let mut steps = block.split("\n$ ");
    let mut played = vec![steps.next().unwrap().trim_start_matches('\n').to_owned()];
    let mut differences = Vec::new();
    for step in steps {
        let (command, shown) = step.split_once('\n').unwrap_or((step, ""));
        if let Some(file) =
            command.strip_prefix("cat ").filter(|file| !file.starts_with("examples/"))
        {
            fs::write(folder.join(file), format!("{}\n", shown.trim_end_matches('\n'))).unwrap();
            played.push(format!("{command}\n{}", shown.trim_end()));
            continue;
        }
        let printed = run(command, folder);
        if printed.trim_end() != shown.trim_end() {
            differences.push(format!("`{command}` prints\n{printed}\nbut the page shows\n{shown}"));
        }
        played.push(format!("{command}\n{}", printed.trim_end()).trim_end().to_owned());
    }
    (differences, played.join("\n$ ").trim_start_matches('\n').to_owned())
}

fn run(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
