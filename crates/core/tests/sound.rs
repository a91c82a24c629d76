//! Sound protocols raise nothing: not the seed's own example, and none that uses every feature.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "broken/folder.rs"]
#[expect(dead_code, reason = "shared with the tests of broken protocols")]
mod folder;

use folder::{bundle, findings, shipped, shown, texts};

#[test]
fn sound_protocols_raise_nothing() {
    let shipped = shipped();
    let all = texts("sound");
    assert!(all.len() >= 6, "{} sound protocols", all.len());
    for (name, text) in all {
        let told: Vec<String> = findings(bundle(&text), &shipped).iter().map(shown).collect();
        assert!(told.is_empty(), "{name}:\n{}", told.join("\n"));
    }
}
