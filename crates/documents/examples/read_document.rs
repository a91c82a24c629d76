//! Prints the text of a document: `cargo run -p countersign-documents --example read_document FILE`.

use std::process::ExitCode;

use countersign_documents::extract_document;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what it found")]
fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("name a file");
        return ExitCode::FAILURE;
    };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("`{path}` cannot be opened: {error}");
            return ExitCode::FAILURE;
        }
    };
    match extract_document(&path, &bytes) {
        Ok(document) => {
            for part in &document.parts {
                println!("--- {} {} ---\n{}", part.kind.as_str(), part.name, part.text);
            }
            for note in &document.notes {
                println!("note: {note}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("`{path}` {error}");
            ExitCode::FAILURE
        }
    }
}
