//! What a run made: what stands at the places that its workflow calls its output, once it is completed.
//!
//! Which places these are is the protocol's to say; nothing here knows what they hold.

use countersign_core::run::EndKind;
use serde_json::{Value, json};

use crate::exit::Error;
use crate::house::House;
use crate::output;
use crate::show::HEADING;
use crate::standing::children;

/// One thing that was made.
#[derive(Debug)]
pub(crate) struct Product {
    /// The run that made it: the one that was asked for, or a child that it left this to.
    run: String,
    /// The place in that run's document.
    at: String,
    value: Value,
}

/// What a run made. One whose workflow names no output hands on what its children made.
pub(crate) async fn products(house: &House, run: &str) -> Result<Vec<Product>, Error> {
    let (mut made, mut asked) = (Vec::new(), vec![run.to_owned()]);
    while let Some(run) = asked.pop() {
        let outcome = house.engine.look(&run).await?;
        let state = outcome.state;
        let completed = matches!(state.end, Some((EndKind::Completed, _)));
        let Some(workflow) = outcome.protocol.workflows.get(&state.workflow).filter(|_| completed)
        else {
            continue;
        };
        if workflow.output.is_empty() {
            let children = children(&run, &house.engine.log(&run).await?).into_iter();
            let done = children.filter(|(_, end)| *end == Some(true)).map(|(child, _)| child);
            asked.extend(done.rev());
        }
        made.extend(workflow.given_by(&state.document).map(|(at, value)| Product {
            run: run.clone(),
            at: at.to_owned(),
            value: value.clone(),
        }));
    }
    Ok(made)
}

/// What was made, for programs.
pub(crate) fn as_json(products: &[Product]) -> Value {
    let one =
        |product: &Product| json!({ "run": product.run, "at": product.at, "value": product.value });
    products.iter().map(one).collect()
}

/// Prints what a run made: the things themselves are data, what they are called is talk.
pub(crate) fn print(run: &str, products: &[Product]) {
    for product in products {
        output::talk(&format!("\n{HEADING}{}{HEADING:#}", product.title(run)));
        output::data(&format!("{}\n", product.text()));
    }
    if !products.is_empty() {
        output::talk("");
    }
}

impl Product {
    /// What it is called beside the run that was asked for.
    pub(crate) fn title(&self, run: &str) -> String {
        if self.run == run { self.at.clone() } else { format!("{} {}", self.run, self.at) }
    }

    /// A text as it is, anything else as JSON. What could move the cursor of a terminal is left out.
    pub(crate) fn text(&self) -> String {
        match &self.value {
            Value::String(text) => {
                let harmless = |sign: &char| !sign.is_control() || matches!(sign, '\n' | '\t');
                text.trim_end().chars().filter(harmless).collect()
            }
            other => format!("{other:#}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_as_it_is_and_moves_no_cursor() {
        for (value, shown) in [
            (json!("one\n\ttwo \n"), "one\n\ttwo"),
            (json!("a\u{1b}[2Jb\rc\u{9b}1m"), "a[2Jbc1m"),
            (json!("\u{1b}"), ""),
            (json!({ "a": [1] }), "{\n  \"a\": [\n    1\n  ]\n}"),
            (json!([]), "[]"),
        ] {
            let product = Product { run: "r".to_owned(), at: "/a".to_owned(), value };
            assert_eq!(product.text(), shown);
        }
    }

    #[test]
    fn what_a_child_made_is_told_with_its_name() {
        let product = Product { run: "r.2".to_owned(), at: "/a".to_owned(), value: json!(1) };
        assert_eq!(product.title("r.2"), "/a");
        assert_eq!(product.title("r"), "r.2 /a");
    }
}
