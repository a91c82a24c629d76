//! The bounds of everything that comes in, in one place.
//!
//! They are applied where something enters (a reply, a patch, a file, a request) and again where an
//! event is sealed, so that whatever is recorded can be read again. Each bound says what it counts
//! and what happens beyond it. Work within the bounds grows linearly with the input; a law test
//! measures that (`crates/core/tests/growth.rs`).

/// Bytes of a model's reply. A longer one is refused as `too_large`.
pub const MAX_REPLY_BYTES: usize = 1 << 20;

/// Bytes of a request's body that is not an uploaded document. A longer one is refused with 413.
pub const MAX_BODY_BYTES: usize = 4 << 20;

/// Bytes of an uploaded document. A longer one is refused with 413.
pub const MAX_DOCUMENT_BYTES: usize = 32 << 20;

/// Nested arrays and objects in a text that is read. A deeper one is refused as `too_deep`.
pub const MAX_DEPTH: usize = 128;

/// Nested arrays and objects in anything that is recorded: documents, answers, results, patches,
/// event data. Less than [`MAX_DEPTH`], because in the log they stand inside events.
pub const MAX_RECORDED_DEPTH: usize = 100;

/// Objects of a reply that are compared with its contract. More are refused as
/// `too_many_candidates`.
pub const MAX_CANDIDATES: usize = 64;

/// Bytes of one key of an object in a text that is read. A longer one is refused as
/// `pointer_too_long`.
pub const MAX_KEY_BYTES: usize = 1_024;

/// Bytes of the pointer of anything in a text that is read: all keys around it together. A longer
/// one is refused as `pointer_too_long`, because every violation names its pointer.
pub const MAX_POINTER_BYTES: usize = 4_096;

/// How many times over a reply is looked at for brackets that open nothing, beyond
/// [`MIN_SCAN_BYTES`]. More looking is refused as `too_many_candidates`.
pub const MAX_SCAN_PASSES: usize = 8;

/// Bytes that may be looked at for brackets that open nothing, however short the reply is.
pub const MIN_SCAN_BYTES: usize = 1 << 16;

/// Violations of a reply that are kept. The rest are counted.
pub const MAX_VIOLATIONS: usize = 100;

/// Bytes of the violations of a reply that are kept, however few they are.
pub const MAX_VIOLATION_BYTES: usize = 64 << 10;

/// Things that a value could not hold (repeated keys, lossy numbers) that are kept of one reading.
/// The rest are counted.
pub const MAX_DATA_LOSSES: usize = MAX_VIOLATIONS;

/// Repairs of one reading that are kept one by one. Further ones are counted by their kind.
pub const MAX_REPAIRS: usize = 100;

/// Bytes that the schema engine may take to list everything wrong with a value, as estimated from
/// the value. Beyond it only the first violation is looked for.
pub const MAX_EXPLAIN_MEMORY_BYTES: usize = 16 << 20;

/// Paths that a protocol shows to its runs although they are hidden. More are a fault of its index,
/// `max_items`: each is compared with every path that a run names.
pub const MAX_SHOWN_PATHS: usize = 100;

/// Operations of one patch. More are refused as `invalid_patch`: each may shift a whole array.
pub const MAX_PATCH_OPS: usize = 1_000;

/// Bytes that the `copy` operations of one patch may add, counted as keys, texts and one for every
/// value. Without it, thirty operations could make a billion copies.
pub const MAX_PATCH_COPIED_BYTES: usize = 1 << 20;

/// Values (objects, arrays, texts, numbers) of one JSON Schema. A larger one is refused as
/// `invalid_schema`.
pub const MAX_SCHEMA_VALUES: usize = 100_000;

/// References and combinations (`allOf`, `anyOf`, `not`, …) that follow each other for one value
/// of a schema. A schema with a longer row is refused as `invalid_schema`: each takes stack.
pub const MAX_SCHEMA_CHAIN: usize = 48;

/// Subschemas of a schema that apply to one value. A schema with more is refused as
/// `invalid_schema`: definitions that refer to each other twice double with every level.
pub const MAX_SCHEMA_CHECKS_PER_VALUE: usize = 20_000;

/// Bytes that the defaults of a schema may add to one value, counted as keys, texts, pointers and
/// one for every value. A reply that would gain more is refused as `too_large`.
pub const MAX_DEFAULT_BYTES: usize = 1 << 20;

/// Subschemas that one export writes. What lies beyond is exported as any value, and the loss
/// report says so.
pub const MAX_EXPORT_SUBSCHEMAS: usize = 10_000;

/// Bytes of the values that one patch moves deeper, each counted as often as it moves: whether they
/// nest too deep is looked at each time.
pub const MAX_PATCH_MOVED_BYTES: usize = 64 << 20;

/// What the patterns of one schema may take together when they are compiled. Counted repetitions
/// multiply.
pub const MAX_PATTERN_BYTES: usize = 64 << 20;

/// How often one export writes out a subschema again that it wrote before, where the provider's
/// language cannot name it. Without this limit, a small tree of references would fill the export.
pub const MAX_EXPORT_COPIES: usize = 1_000;

/// Nested subschemas of one export. What lies deeper is exported as any value, and the loss report
/// says so.
pub const MAX_EXPORT_DEPTH: usize = 32;

/// Steps of one comparison of contracts: subschemas visited, values made, copied and checked. A
/// comparison that needs more is answered with what is known by then, as undecided.
pub const MAX_COMPARISON_STEPS: u64 = 40_000_000;

/// Bytes of one value that a sampler makes, counted as keys, texts and one for every value. A
/// schema that demands a larger one has no samples.
pub const MAX_SAMPLE_BYTES: usize = 64 * 1024;

/// Bytes of one input of a run, as JSON. A larger result of an action becomes a failure of that
/// action (`too_large`); what a person sends is rejected.
pub const MAX_INPUT_BYTES: usize = 8 << 20;

/// Bytes of one event, as JSON. An input whose events are larger becomes a failure of its action
/// (`too_large`), or is rejected where a person sent it.
pub const MAX_EVENT_BYTES: usize = 16 << 20;

/// Bytes of all events of one version, as JSON. Beyond it, the same happens as with one event.
pub const MAX_VERSION_BYTES: usize = 64 << 20;

/// Nested arrays and objects in one event: what is recorded, and the event around it. Deeper ones
/// are treated like larger ones, as `too_deep`.
pub const MAX_EVENT_DEPTH: usize = MAX_RECORDED_DEPTH + 4;

/// Repairs and defaults of a reply that its event lists. The rest are counted.
pub const MAX_LISTED_REPAIRS: usize = 100;

/// Characters of a reason, a note or a message that an event quotes inside a sentence of its own. The
/// end of a longer one is left out.
pub const MAX_REASON_CHARS: usize = 1_000;

/// Bytes of all pointers that the operations of one merge patch name. More are refused as
/// `invalid_patch`: a long key around many members would be written once for every member.
pub const MAX_PATCH_POINTER_BYTES: usize = 4 << 20;

/// Bytes of a pointer beyond which a difference between two documents is not followed further: the
/// value at that pointer is replaced as a whole.
pub const MAX_DIFF_POINTER_BYTES: usize = 1_024;

/// Files of a protocol folder. A folder with more is refused as `too_large`.
pub const MAX_PROTOCOL_FILES: usize = 1_000;

/// Bytes of all files of a protocol folder. A folder with more is refused as `too_large`.
pub const MAX_PROTOCOL_BYTES: usize = 4 << 20;

/// Bytes that the workflows of a protocol include together: a file counts for every workflow that it
/// is merged into, and at least [`MIN_MERGED_BYTES`]. More are refused as `too_large`.
pub const MAX_MERGED_BYTES: usize = 4 << 20;

/// Bytes that an included file counts at least.
pub const MIN_MERGED_BYTES: usize = 1_024;

/// Values of an `enum` that analysis tells apart. Of more it knows only their kinds.
pub const MAX_ANALYZED_ENUM_VALUES: usize = 1_000;

/// Sections of a prompt that patches the prompt of a base. More are refused as `too_large`.
pub const MAX_PROMPT_SECTIONS: usize = 100;

/// Findings about an author's files that are kept. The rest are counted, code by code.
pub const MAX_DIAGNOSTICS: usize = 100;

/// Names that a message lists. More are counted.
pub const MAX_LISTED_NAMES: usize = 12;

/// Pairs of characters that one search for a similar name compares. Names beyond are not compared.
pub const MAX_SIMILAR_NAME_STEPS: usize = 100_000;

/// Steps that each analysis of `check` may take. Beyond them it stays undecided: it reports what it
/// has found, and `analysis_incomplete`.
pub const MAX_CHECK_STEPS: usize = 1_000_000;

/// Nested lists and tables in a YAML file. The reader of YAML takes much stack for each; deeper
/// schemas can be JSON files.
pub const MAX_YAML_DEPTH: usize = 32;

/// Bytes of the pointers to all members of an author's file. A file with more is refused as
/// `too_large`: a long key around many members would be kept once for every member.
pub const MAX_POINTER_INDEX_BYTES: usize = 32 << 20;

/// Bytes of one line that `memory import` reads: an event of a mebibyte may be six times as long in JSON.
/// A longer line is passed over and named.
pub const MAX_IMPORT_LINE_BYTES: usize = 8 << 20;

/// Bytes of lines that `memory import` takes in at once, and keeps in one transaction.
pub const MAX_IMPORT_BATCH_BYTES: usize = 2 << 20;

/// Lines that `memory import` names when it refuses them. The rest are counted.
pub const MAX_IMPORT_ERRORS: u64 = 100;
