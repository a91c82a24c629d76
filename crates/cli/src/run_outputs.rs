//! Prints the outputs of a run: the values to standard output, their titles to standard error.

use countersign_contract::text::escape_json_for_display;
use countersign_view::show::RunOutputView;
use serde_json::Value;

use crate::output;
use crate::render::HEADING;

/// Prints the outputs of a run.
pub(crate) fn print_outputs(run: &str, products: &[RunOutputView]) {
    for product in products {
        output::print_message(&format!("\n{HEADING}{}{HEADING:#}", format_title(product, run)));
        output::print_data(&format!("{}\n", format_value(product)));
    }
    if !products.is_empty() {
        output::print_message("");
    }
}

/// Returns the title of an output; outputs of child runs include the run id.
pub(crate) fn format_title(product: &RunOutputView, run: &str) -> String {
    let RunOutputView { run: maker, pointer: at, .. } = product;
    if maker == run { at.clone() } else { format!("{maker} {at}") }
}

/// Formats a string as is and any other value as JSON, which stays valid JSON when `output` escapes
/// it.
pub(crate) fn format_value(product: &RunOutputView) -> String {
    match &product.value {
        Value::String(text) => text.trim_end().to_owned(),
        other => escape_json_for_display(&format!("{other:#}")).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_shown_as_it_is_and_anything_else_as_json() {
        for (value, shown) in [
            (json!("one\n\ttwo \n"), "one\n\ttwo"),
            (json!(["a\u{202e}b"]), "[\n  \"a\\u202eb\"\n]"),
            (json!({ "a": [1] }), "{\n  \"a\": [\n    1\n  ]\n}"),
            (json!([]), "[]"),
        ] {
            let product = RunOutputView { run: "r".to_owned(), pointer: "/a".to_owned(), value };
            assert_eq!(format_value(&product), shown);
        }
    }

    #[test]
    fn what_a_child_made_is_told_with_its_name() {
        let product =
            RunOutputView { run: "r.2".to_owned(), pointer: "/a".to_owned(), value: json!(1) };
        assert_eq!(format_title(&product, "r.2"), "/a");
        assert_eq!(format_title(&product, "r"), "r.2 /a");
    }
}
