//! Whoever sits at the terminal: a question is put there, and a line comes back, whenever it does.
//!
//! Lines are read beside everything else, so that a question may be given up when the answer came another way;
//! what is typed after that answers the next one.

use std::io::IsTerminal as _;
use std::sync::OnceLock;
use std::thread;

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::output;

static LINES: OnceLock<Mutex<UnboundedReceiver<String>>> = OnceLock::new();

/// Asks a line of whoever sits at the terminal; `Empty` where nobody does, or they are done.
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
