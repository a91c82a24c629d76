//! A Word document that we write, opened by a library that we did not write.

use std::process::Command;

use countersign_runtime::effect::render_docx;
use serde_json::{Value, json};

/// Prints the paragraphs with their styles, and the cells of the tables.
const READER: &str = r#"
import json, sys, docx
document = docx.Document(sys.argv[1])
print(json.dumps({
    "paragraphs": [[one.style.name, one.text] for one in document.paragraphs if one.text],
    "tables": [[[cell.text for cell in row.cells] for row in table.rows] for table in document.tables],
}))
"#;

const TEXT: &str = "# Договор поставки\n\nКто, *что* и за **сколько**.\n\n## 1. Предмет\n\n- стулья\n- столы\n\n> как сказано\n\n| Пункт | Факты |\n| --- | --- |\n| 1.1 | `/domain/facts/цена`: \"a \\| b\" |\n";

#[test]
fn a_foreign_reader_opens_it() {
    let Some(python) = std::env::var_os("COUNTERSIGN_TEST_DOCX") else {
        return testkit::report_not_run(
            "a_foreign_reader_opens_it",
            "COUNTERSIGN_TEST_DOCX names no Python with python-docx",
        );
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.docx");
    std::fs::write(&path, render_docx(TEXT).unwrap()).unwrap();
    let output = Command::new(python).arg("-c").arg(READER).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        read,
        json!({
            "paragraphs": [
                ["Heading 1", "Договор поставки"],
                ["Normal", "Кто, что и за сколько."],
                ["Heading 2", "1. Предмет"],
                ["List Paragraph", "стулья"],
                ["List Paragraph", "столы"],
                ["Quote", "как сказано"],
            ],
            "tables": [[["Пункт", "Факты"], ["1.1", "/domain/facts/цена: \"a | b\""]]],
        })
    );
}
