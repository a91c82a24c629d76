//! Asks questions on the terminal and reads the answers.
//!
//! A background thread reads lines, so that a question can be abandoned when the answer arrives in
//! another way. A line typed after that answers the next question.

use std::io::IsTerminal as _;
use std::sync::OnceLock;
use std::thread;

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::output;

static LINES: OnceLock<Mutex<UnboundedReceiver<String>>> = OnceLock::new();

/// Asks for a line on the terminal; `None` if standard input is not a terminal or has ended.
pub(crate) async fn prompt_line(question: &str) -> Option<String> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    let lines = LINES.get_or_init(|| {
        let (give, take) = unbounded_channel();
        thread::spawn(move || {
            for line in std::io::stdin().lines() {
                let Ok(line) = line else { return };
                if give.send(line.trim_end_matches('\r').to_owned()).is_err() {
                    return;
                }
            }
        });
        Mutex::new(take)
    });
    output::print_prompt(question);
    lines.lock().await.recv().await
}
