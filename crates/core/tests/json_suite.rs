//! JSONTestSuite: what must be read is read, what must be refused is refused, nothing crashes.

#![expect(clippy::disallowed_methods, reason = "tests read their data from files")]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;

use countersign_core::contract::{Contract, load_inline};
use countersign_core::json::{self, FlawKind, RepairLevel};
use countersign_core::reply::{Code, Context, Finish, Terms};

/// The files of one kind: name and bytes.
fn files(kind: &str, test: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let Some(folder) = testkit::data("json-parsing/test_parsing") else {
        testkit::not_run(test, "no folder json-parsing in the test data");
        return None;
    };
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| name.starts_with(kind))
        .collect();
    files.sort();
    Some(files)
}

fn anything() -> Contract {
    load_inline("id: anything\nversion: 1.0.0\nschema: true").unwrap()
}

#[test]
fn what_must_be_read_is_read() {
    let Some(files) = files("y_", "json_suite::what_must_be_read_is_read") else { return };
    assert_eq!(files.len(), 95);
    for (name, bytes) in files {
        let text = std::str::from_utf8(&bytes).unwrap();
        let reading =
            json::read(text, RepairLevel::None).unwrap_or_else(|stop| panic!("{name}: {stop:?}"));
        assert!(reading.repairs.is_empty(), "{name}");
        // The same value as everybody else reads, but for what we refuse to lose.
        assert_eq!(
            reading.value,
            serde_json::from_str::<serde_json::Value>(text).unwrap(),
            "{name}"
        );
        let twice = name.contains("duplicated_key");
        let flaws: Vec<FlawKind> = reading.flaws.iter().map(|flaw| flaw.kind).collect();
        assert_eq!(flaws, if twice { vec![FlawKind::DuplicateKey] } else { vec![] }, "{name}");
        if twice {
            let verdict = anything().admit(text, Finish::Stop, &Context::default());
            assert_eq!(verdict.violations()[0].code, Code::DuplicateKey, "{name}");
        }
    }
}

#[test]
fn what_must_be_refused_is_refused() {
    let Some(files) = files("n_", "json_suite::what_must_be_refused_is_refused") else { return };
    assert_eq!(files.len(), 188);
    for (name, bytes) in files {
        if let Ok(text) = std::str::from_utf8(&bytes) {
            assert!(json::read(text, RepairLevel::None).is_err(), "{name}");
        }
        let verdict = anything().admit_bytes(&bytes, Terms::default(), &Context::default());
        assert!(verdict.accepted().is_none(), "{name}");
    }
}

#[test]
fn nothing_crashes_at_any_level() {
    for kind in ["i_", "n_", "y_"] {
        let Some(files) = files(kind, "json_suite::nothing_crashes_at_any_level") else { return };
        for (name, bytes) in files {
            for intake in countersign_core::reply::Intake::ALL {
                for repairs in RepairLevel::ALL {
                    let terms = Terms { intake, repairs, finish: Finish::Stop };
                    let verdict = anything().admit_bytes(&bytes, terms, &Context::default());
                    let told = verdict.accepted().is_some() || !verdict.violations().is_empty();
                    assert!(told, "{name}");
                }
            }
        }
    }
}
