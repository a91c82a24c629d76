//! Sound protocols raise nothing: not the seed's own example, and none that uses every feature.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "broken/folder.rs"]
mod folder;

use folder::{bundle, findings, root, shipped, shown, texts};

#[test]
fn sound_protocols_raise_nothing() {
    let shipped = shipped();
    let all = texts("sound");
    assert!(all.len() >= 6, "{} sound protocols", all.len());
    for (name, text) in all {
        let mut found = findings(bundle(&text), &shipped);
        // The seed's translator asks for `gpt-4`, which an index would have to map to a provider.
        let bare = found.iter().position(|finding| finding.code == "model_without_provider");
        assert_eq!(bare.is_some(), name == "seed", "{name}");
        if let Some(bare) = bare {
            let finding = found.remove(bare);
            assert!(
                finding.message.starts_with("`gpt-4` names no provider"),
                "{}",
                finding.message
            );
        }
        let messages: Vec<String> = found.iter().map(shown).collect();
        assert!(messages.is_empty(), "{name}:\n{}", messages.join("\n"));
    }
}

/// The shipped contracts as an author's own: none of their rules names a field that is not there.
#[test]
fn shipped_contracts_raise_nothing() {
    let mut files = bundle(&texts("sound").swap_remove(plain_at()).1);
    for folder in ["contracts", "schemas"] {
        let path = root().join("crates/shipped-contracts").join(folder);
        for entry in std::fs::read_dir(path).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("a text");
            files.files.insert(format!("{folder}/{name}"), text);
        }
    }
    assert!(files.files_in_folder("contracts").count() >= 15);
    let messages: Vec<String> = findings(files, &shipped()).iter().map(shown).collect();
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}

fn plain_at() -> usize {
    texts("sound").iter().position(|(name, _)| name == "plain").expect("the least protocol")
}
