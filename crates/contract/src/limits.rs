//! Size limits for all input, in one module.
//!
//! Each limit applies where data enters (a reply, a patch, a file, a request) and again where an
//! event is sealed, so that every recorded event can be read back. Each constant documents what it
//! counts and what happens when the limit is exceeded. Within the limits, work grows linearly with
//! the input; `tests/growth.rs` measures that.

/// Maximum size of a model's reply, in bytes. A longer reply is refused as `too_large`.
pub const MAX_REPLY_BYTES: usize = 1 << 20;

/// Maximum size of a request body, in bytes, except uploaded documents. A longer body is refused
/// with status 413.
pub const MAX_BODY_BYTES: usize = 4 << 20;

/// Maximum size of an uploaded document, in bytes. A longer document is refused with status 413.
pub const MAX_DOCUMENT_BYTES: usize = 32 << 20;

/// Maximum nesting of arrays and objects in parsed text. Deeper text is refused as `too_deep`.
pub const MAX_DEPTH: usize = 128;

/// Maximum nesting of arrays and objects in recorded values: documents, answers, results, patches
/// and event data. Lower than [`MAX_DEPTH`], because the log nests these values inside events.
pub const MAX_RECORDED_DEPTH: usize = 100;

/// Maximum number of objects in a reply that are validated against its contract. A reply with more
/// is refused as `too_many_candidates`.
pub const MAX_CANDIDATES: usize = 64;

/// Maximum length of one object key in parsed text, in bytes. A longer key is refused as
/// `pointer_too_long`.
pub const MAX_KEY_BYTES: usize = 1_024;

/// Maximum length of a pointer into parsed text, in bytes: the sum of all enclosing keys. A longer
/// pointer is refused as `pointer_too_long`, because every violation contains its pointer.
pub const MAX_POINTER_BYTES: usize = 4_096;

/// Maximum number of times the scanner reads a reply in search of brackets that open nothing,
/// beyond [`MIN_SCAN_BYTES`]. A reply that needs more is refused as `too_many_candidates`.
pub const MAX_SCAN_PASSES: usize = 8;

/// Bytes that the scanner may always read in search of brackets that open nothing, however short
/// the reply is.
pub const MIN_SCAN_BYTES: usize = 1 << 16;

/// Maximum number of violations kept for one reply. Further violations are only counted.
pub const MAX_VIOLATIONS: usize = 100;

/// Maximum size of the violations kept for one reply, in bytes, regardless of their number.
pub const MAX_VIOLATION_BYTES: usize = 64 << 10;

/// Maximum number of data losses (duplicate keys, lossy numbers) kept for one parse. Further losses
/// are only counted.
pub const MAX_DATA_LOSSES: usize = MAX_VIOLATIONS;

/// Maximum number of repairs that one parse keeps individually. Further repairs are counted by
/// kind.
pub const MAX_REPAIRS: usize = 100;

/// Maximum memory, in bytes, that the schema engine may use to list every violation of a value, as
/// estimated from the value. Above this limit, only the first violation is reported.
pub const MAX_EXPLAIN_MEMORY_BYTES: usize = 16 << 20;

/// Maximum number of hidden paths that a protocol may expose to its runs. More are reported as
/// `max_items` in the protocol's index, because each one is compared with every path that a run
/// names.
pub const MAX_SHOWN_PATHS: usize = 100;

/// Maximum number of operations in one patch. A patch with more is refused as `invalid_patch`,
/// because each operation may shift a whole array.
pub const MAX_PATCH_OPS: usize = 1_000;

/// Maximum number of bytes that the `copy` operations of one patch may add, counted as keys,
/// strings and one byte per value. Without this limit, thirty operations could make a billion
/// copies.
pub const MAX_PATCH_COPIED_BYTES: usize = 1 << 20;

/// Maximum number of values (objects, arrays, strings, numbers) in one JSON Schema. A larger schema
/// is refused as `invalid_schema`.
pub const MAX_SCHEMA_VALUES: usize = 100_000;

/// Maximum length of a chain of references and combinators (`allOf`, `anyOf`, `not`, …) that apply
/// to one value. A schema with a longer chain is refused as `invalid_schema`, because each link
/// uses stack space.
pub const MAX_SCHEMA_CHAIN: usize = 48;

/// Maximum number of subschemas that apply to one value. A schema with more is refused as
/// `invalid_schema`: definitions that refer to each other twice double with every level.
pub const MAX_SCHEMA_CHECKS_PER_VALUE: usize = 20_000;

/// Maximum number of bytes that schema defaults may add to one value, counted as keys, strings,
/// pointers and one byte per value. A reply that would grow by more is refused as `too_large`.
pub const MAX_DEFAULT_BYTES: usize = 1 << 20;

/// Maximum number of subschemas that one export writes. Further subschemas are exported as any
/// value, and the loss report says so.
pub const MAX_EXPORT_SUBSCHEMAS: usize = 10_000;

/// Maximum number of bytes that one patch may move deeper into the document. A value counts each
/// time it moves, because its nesting depth is checked each time.
pub const MAX_PATCH_MOVED_BYTES: usize = 64 << 20;

/// Maximum memory, in bytes, that the compiled patterns of one schema may use together. Counted
/// repetitions multiply.
pub const MAX_PATTERN_BYTES: usize = 64 << 20;

/// Maximum number of times that one export repeats a subschema it has already written, where the
/// provider's schema language cannot reference it by name. Without this limit, a small tree of
/// references would fill the export.
pub const MAX_EXPORT_COPIES: usize = 1_000;

/// Maximum nesting of subschemas in one export. Deeper subschemas are exported as any value, and
/// the loss report says so.
pub const MAX_EXPORT_DEPTH: usize = 32;

/// Maximum number of steps for one comparison of contracts: subschemas visited and values made,
/// copied and checked. A comparison that needs more returns what it has found so far, as undecided.
pub const MAX_COMPARISON_STEPS: u64 = 40_000_000;

/// Maximum size of one generated sample, in bytes, counted as keys, strings and one byte per value.
/// A schema that requires a larger value has no samples.
pub const MAX_SAMPLE_BYTES: usize = 64 * 1024;

/// Maximum size of one run input, in bytes of JSON. A larger action result becomes a failure of
/// that action (`too_large`); a larger input from a person is rejected.
pub const MAX_INPUT_BYTES: usize = 8 << 20;

/// Maximum size of one event, in bytes of JSON. An input that produces a larger event becomes a
/// failure of its action (`too_large`), or is rejected if a person sent it.
pub const MAX_EVENT_BYTES: usize = 16 << 20;

/// Maximum size of all events of one version, in bytes of JSON. Larger versions are handled in the
/// same way as larger events.
pub const MAX_VERSION_BYTES: usize = 64 << 20;

/// Maximum nesting of arrays and objects in one event: the recorded value plus the event around it.
/// Deeper events are handled in the same way as larger events, as `too_deep`.
pub const MAX_EVENT_DEPTH: usize = MAX_RECORDED_DEPTH + 4;

/// Maximum number of repairs and defaults that the event of a reply lists. The rest are only
/// counted.
pub const MAX_LISTED_REPAIRS: usize = 100;

/// Maximum length, in characters, of a reason, a note or a message that an event quotes inside its
/// own sentence. Longer text is truncated at the end.
pub const MAX_REASON_CHARS: usize = 1_000;

/// Maximum total length, in bytes, of the pointers in the operations of one merge patch. A longer
/// one is refused as `invalid_patch`: a long key around many members would be repeated for every
/// member.
pub const MAX_PATCH_POINTER_BYTES: usize = 4 << 20;

/// Maximum length of a pointer, in bytes, that a document diff descends into. The diff replaces the
/// value at a longer pointer as a whole.
pub const MAX_DIFF_POINTER_BYTES: usize = 1_024;

/// Maximum number of files in a protocol folder. A folder with more is refused as `too_large`.
pub const MAX_PROTOCOL_FILES: usize = 1_000;

/// Maximum size of all files in a protocol folder, in bytes. A larger folder is refused as
/// `too_large`.
pub const MAX_PROTOCOL_BYTES: usize = 4 << 20;

/// Maximum number of bytes that the workflows of a protocol include together. A file counts once
/// for each workflow that it is merged into, with at least [`MIN_MERGED_BYTES`]. More are refused
/// as `too_large`.
pub const MAX_MERGED_BYTES: usize = 4 << 20;

/// Minimum number of bytes that each included file counts for, however short it is.
pub const MIN_MERGED_BYTES: usize = 1_024;

/// Maximum number of `enum` values that the analysis distinguishes. For a larger `enum` it keeps
/// only the types of the values.
pub const MAX_ANALYZED_ENUM_VALUES: usize = 1_000;

/// Maximum number of sections in a prompt that patches the prompt of a base. More are refused as
/// `too_large`.
pub const MAX_PROMPT_SECTIONS: usize = 100;

/// Maximum size of a `SKILL.md`, in bytes. A larger one is refused as `too_large`.
pub const MAX_SKILL_BYTES: usize = 64 * 1024;

/// Maximum length of the description of a skill, in characters. A longer one is refused as
/// `invalid_skill`.
pub const MAX_SKILL_DESCRIPTION: usize = 1_024;

/// Maximum number of diagnostics kept for an author's files. The rest are counted by code.
pub const MAX_DIAGNOSTICS: usize = 100;

/// Maximum number of names that a message lists. The rest are only counted.
pub const MAX_LISTED_NAMES: usize = 12;

/// Maximum number of character pairs that one search for a similar name compares. Candidates beyond
/// this limit are skipped.
pub const MAX_SIMILAR_NAME_STEPS: usize = 100_000;

/// Maximum number of steps for each analysis of `check`. An analysis that needs more stays
/// undecided: it reports what it has found, and `analysis_incomplete`.
pub const MAX_CHECK_STEPS: usize = 1_000_000;

/// Maximum nesting of lists and mappings in a YAML file. The YAML parser uses much stack space per
/// level; schemas that nest deeper can be JSON files.
pub const MAX_YAML_DEPTH: usize = 32;

/// Maximum total length, in bytes, of the pointers to all members of an author's file. A file with
/// more is refused as `too_large`: a long key around many members would be stored once for every
/// member.
pub const MAX_POINTER_INDEX_BYTES: usize = 32 << 20;

/// Maximum length of one line that `memory import` reads, in bytes: an event of 1 MiB may be six
/// times as long in JSON. A longer line is skipped and reported.
pub const MAX_IMPORT_LINE_BYTES: usize = 8 << 20;

/// Maximum number of bytes of lines that `memory import` reads at once and stores in one
/// transaction.
pub const MAX_IMPORT_BATCH_BYTES: usize = 2 << 20;

/// Maximum number of refused lines that `memory import` lists. The rest are only counted.
pub const MAX_IMPORT_ERRORS: u64 = 100;

/// Maximum size in bytes of the approved parts of a document, or of their difference, that a wait
/// stores; larger ones are read from the document.
pub const MAX_SUBJECT_BYTES: usize = 256 << 10;

/// Maximum number of tools that a run pins of one MCP server. A list with more is refused; the
/// policy can name fewer.
pub const MAX_MCP_TOOLS: usize = 128;

/// Maximum size in bytes of the tools that a run pins of one MCP server, with their descriptions
/// and input schemas. A larger list is refused.
pub const MAX_MCP_TOOL_LIST_BYTES: usize = 256 << 10;

/// Maximum length of the name of an MCP tool, in characters. A tool with a longer name is not
/// offered to agents.
pub const MAX_MCP_TOOL_NAME_CHARS: usize = 128;

/// Maximum size in bytes of one message from an MCP server. A longer one ends the connection.
pub const MAX_MCP_MESSAGE_BYTES: usize = 4 << 20;

/// Maximum number of bytes that an MCP server may send for one request, with everything that it
/// sends unasked meanwhile. More end the connection.
pub const MAX_MCP_RESPONSE_BYTES: usize = 16 << 20;
