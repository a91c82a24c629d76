//! Values of `schema_registry_record`.

use countersign_shipped_contracts::registry_record::*;
use proptest::prelude::*;

use super::{maybe, object, one_of, text, time};

strategy!(record: SchemaRegistryRecord {
    schema_id in text(1), schema_version in version(), digest in digest(),
    compatibility in one_of(&[
        RegistryCompatibility::Backward, RegistryCompatibility::Forward, RegistryCompatibility::Full, RegistryCompatibility::Breaking, RegistryCompatibility::Initial,
    ]),
    supersedes in maybe(superseded()), migration_notes in maybe(text(0)), registered_at in maybe(time()), schema in schema(),
});
strategy!(superseded: SupersededVersion { schema_version in version(), digest in digest() });

fn version() -> impl Strategy<Value = String> {
    let tail = one_of(&["", "-rc.1", "+7", "-a-b.0+x.y"]);
    (any::<[u32; 3]>(), tail)
        .prop_map(|([major, minor, patch], tail)| format!("{major}.{minor}.{patch}{tail}"))
}

fn digest() -> impl Strategy<Value = String> {
    any::<[u64; 4]>().prop_map(|[a, b, c, d]| format!("sha256:{a:016x}{b:016x}{c:016x}{d:016x}"))
}

fn schema() -> impl Strategy<Value = RegisteredSchema> {
    prop_oneof![
        object().prop_map(RegisteredSchema::Object),
        any::<bool>().prop_map(RegisteredSchema::Bool)
    ]
}
