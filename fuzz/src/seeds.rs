//! What mutation begins with: the hard replies, the shipped contracts, and expressions of every kind.
//!
//! Each seed is an input of its door, as the door reads it.

use std::fs;
use std::path::Path;

use countersign_contract::json::RepairLevel;
use countersign_contract::reply::IntakeMode;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_contracts::shipped::SHIPPED_CONTRACTS;

/// A door: its name, which is that of its fuzz target, and the function behind it.
#[derive(Clone, Copy)]
pub struct Door {
    /// The name.
    pub name: &'static str,
    /// What takes the bytes.
    pub check: fn(&[u8]),
    /// What mutation begins with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every door, the most trodden first.
#[must_use]
pub fn doors() -> [Door; 7] {
    [
        Door { name: "admit", check: super::admit, seeds: replies },
        Door { name: "read", check: super::read, seeds: texts },
        Door { name: "expression", check: super::expression, seeds: expressions },
        Door { name: "contract_file", check: super::contract_file, seeds: contract_files },
        Door { name: "schema", check: super::schema, seeds: schemas },
        Door { name: "versions", check: super::versions, seeds: pairs },
        Door { name: "patch", check: super::patch, seeds: patches },
    ]
}

/// The corpus of hard replies, each under its own contract and terms.
fn replies() -> Vec<Vec<u8>> {
    let registry = load_shipped_contracts();
    let mut seeds = Vec::new();
    for (header, body) in cases() {
        let field = |name: &str| {
            header.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let id = field("contract").expect("a case names its contract");
        let index = registry.iter().position(|contract| contract.id == id).expect("it ships");
        let contract = registry.find(id).expect("it ships");
        let intake = field("intake").and_then(IntakeMode::parse).unwrap_or(contract.intake);
        let repairs = field("repairs").and_then(RepairLevel::parse).unwrap_or(contract.repairs);
        let finish = u8::from(field("finish") == Some("length"));
        let intake = IntakeMode::ALL.iter().position(|one| *one == intake).unwrap_or_default();
        let repairs = RepairLevel::ALL.iter().position(|one| *one == repairs).unwrap_or_default();
        let mut seed = vec![index as u8, intake as u8, repairs as u8, finish];
        seed.extend(body);
        seeds.push(seed);
    }
    seeds
}

/// The same replies without terms, and the schemas.
fn texts() -> Vec<Vec<u8>> {
    let bodies = cases().into_iter().map(|(_, body)| body);
    bodies.chain(SHIPPED_CONTRACTS.iter().map(|shipped| shipped.schema.into())).collect()
}

/// The header and the body of every file under `tests/replies`, in the order of their names.
fn cases() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    list(&testkit::workspace_root().join("crates/shipped-contracts/tests/replies"), &mut files);
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let bytes = fs::read(file).expect("the corpus is readable");
        let Some(rule) = bytes.windows(5).position(|window| window == b"\n---\n") else { continue };
        let header = String::from_utf8_lossy(&bytes[..rule]).into_owned();
        cases.push((header, bytes[rule + 5..].to_vec()));
    }
    cases
}

fn list(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).expect("the corpus is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            files.push(path);
        }
    }
}

/// The rules of the shipped contracts, and one line for every corner of the language.
fn expressions() -> Vec<Vec<u8>> {
    let registry = load_shipped_contracts();
    let rules = registry.iter().flat_map(|contract| &contract.rules);
    let sources = rules.flat_map(|rule| [Some(&rule.then), rule.when.as_ref()]).flatten();
    let sources = sources.map(|expr| expr.source().to_owned());
    let written = EXPRESSIONS.iter().map(|source| (*source).to_owned());
    let mut seeds: Vec<String> = sources.chain(written).collect();
    seeds.sort();
    seeds.dedup();
    let state =
        "\0{\"tasks\": [{\"id\": 1, \"status\": \"done\"}], \"total\": 90, \"name\": \"имя\"}";
    seeds.into_iter().map(|source| (source + state).into_bytes()).collect()
}

const EXPRESSIONS: [&str; 47] = [
    "{...state.obj, id: 1, [state.text]: [...state.nums, ...'x😀'], state}",
    "state.tasks.map(({id, title}) => ({id, title})).toSorted((a, b) => a.id < b.id ? -1 : 1)",
    "state.nums.toReversed().concat(state.long, 1).lastIndexOf('word', -3)",
    "Text.words(state.text).concat(Text.numbers(reply.text), Text.slug(state.tasks[0].title))",
    "Text.similarity(state.text, state.tasks[1].title) < Text.fingerprint('x').length",
    "Text.matches(state.text, '^größe: .*(zwölf|\\\\d+)')",
    "Pointer.has(state, '/tasks/0/tags/-') || Pointer.get({a: state}, '/a/obj/10')",
    "state.tasks.some(t => t.status !== 'done')",
    "state.tasks.every((t, i) => t.id === i || t.tags?.length > 0)",
    "reply.nums.reduce((sum, n) => sum + n, 0) <= 100",
    "state.nums.filter(n => n > 1).map(n => n * 2 - 1).join(', ')",
    "state.tasks.find(t => t.id === 't2')?.title ?? 'none'",
    "state.tasks.findIndex(t => t.priority < 0) === 1",
    "state.tasks.flatMap(t => t.tags ?? []).includes('b')",
    "state.long.map(w => w + w).join('').length",
    "state.nums.flatMap(a => state.nums.map(b => a - b)).every(n => n !== null)",
    "state['obj']['10'] + state.obj[9] == 7",
    "Object.keys(state.obj).indexOf('10') === 0",
    "Object.entries(state.obj).map(([k, v]) => k)",
    "Object.entries(state.obj).map(e => e[0] + '=' + e[1]).join('&')",
    "Object.values(state.obj).length in [1, 2, 3]",
    "'имя' in state.obj && !('x' in state.obj)",
    "Array.isArray(state.tasks) ? 'list' : \"none\"",
    "Number('0x1F') + Number(' 12 ') - Number('') * Number('1e3')",
    "String(null) + String(undefined) + String([1, [2, 3]]) + String({})",
    "Boolean('') || Boolean('0') && !Boolean(NaN)",
    "Math.min(1, 2, -0) + Math.max() - Math.abs(-3.5)",
    "Math.round(-0.5) === Math.ceil(-0.4) && Math.floor(2.7) === 2",
    "`${state.text} and ${1 + 1} \\u{1F600} \\x41`",
    "state.text.slice(-5, -1).toUpperCase().trim().split('')",
    "state.text.split(' ').at(-1).startsWith('l', 0)",
    "'straße'.toUpperCase().endsWith('SSE')",
    "'İ'.toLowerCase().length",
    "'a,b,c'.split(',', 2).includes('b')",
    "state.text.indexOf('zw') >= 0 && state.text.length > 3",
    "[1, 2, 3].slice(1).concat",
    "[[1, 2], [3]].flatMap(x => x)",
    "null ?? undefined ?? false",
    "1 < 2 && 2 <= 3 || 3 > 4 !== true",
    "'10' < '9' && 10 > 9 && '10' == 10 && null == undefined",
    "-1 + +'2' - -3 % 2 * 4 / 0",
    "2 ** 3 ** 2",
    "0.1 + 0.2 === 0.3 ? 1e21 : 1e-7",
    "((((((((1))))))))",
    "typeof state === 'object'",
    "{ a: 1, 'b': [2], ...state }",
    "state.tasks.map(t => ({ id: t.id, n: t.tags?.length }))",
];

/// The shipped contract files, and inline ones that load without a second file.
fn contract_files() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> =
        SHIPPED_CONTRACTS.iter().map(|shipped| shipped.contract.into()).collect();
    for shipped in SHIPPED_CONTRACTS {
        let path = format!("../schemas/{}.schema.json", shipped.id);
        let inline = shipped.contract.replace(&path, &shipped.schema.replace('\n', " "));
        seeds.push(inline.into_bytes());
    }
    seeds.extend(CONTRACT_FILES.map(|file| file.as_bytes().to_vec()));
    seeds
}

const CONTRACT_FILES: [&str; 4] = [
    "id: verdict\nversion: 1.0.0\nintake: tolerant\nrepairs: guess\nschema: { type: object, required: [score], \
     properties: { score: { type: integer, maximum: 100, default: 1 } } }\nrules:\n  - id: even\n    \
     when: reply.score > 1\n    then: reply.score % 2 === 0\n    at: /score\n    says: even scores only\n",
    "{\"id\": \"a\", \"version\": \"1.0.0\", \"schema\": {\"properties\": {\"b\": {\"items\": {\"$ref\": \"#\"}}}}, \
     \"rules\": [{\"id\": \"r\", \"each\": \"/b/*\", \"then\": \"item.c === 'x'\", \"at\": \"/c\", \"says\": \"x\"}]}",
    "id: a\nversion: 1.0.0\nschema: &s\n  oneOf:\n    - { const: 1 }\n    - { pattern: '^(a|b)*$' }\n  \
     not: *x\non_violation: { render_reask: 1, then: wait }\ncompatibility: full\n",
    "id: имя\nversion: 1.0\nschema: ./x.json\nrules:\n  - id: 'r'\n    then: |\n      reply.a ===\n        \
     reply.б\n    at: ''\n    says: \"\\u0431\"\n",
];

/// The shipped schemas and small ones for the other keywords, each with an instance.
fn schemas() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for shipped in SHIPPED_CONTRACTS {
        seeds.push([shipped.schema.as_bytes(), b"\0{}"].concat());
    }
    seeds.extend(
        SCHEMAS.map(|(schema, value)| [schema.as_bytes(), b"\0", value.as_bytes()].concat()),
    );
    seeds
}

const SCHEMAS: [(&str, &str); 14] = [
    (r#"{"type":["object","null"],"required":["a"],"additionalProperties":false}"#, r#"{"b":1}"#),
    (
        r##"{"$defs":{"n":{"items":{"$ref":"#/$defs/n"},"maxItems":2}},"$ref":"#/$defs/n"}"##,
        "[[[]],[],1]",
    ),
    (r#"{"oneOf":[{"type":"string","minLength":2},{"type":"integer","multipleOf":3}]}"#, "4"),
    (r#"{"anyOf":[{"properties":{"k":{"const":1}}},{"required":["z"]}]}"#, r#"{"k":2}"#),
    (r#"{"if":{"required":["a"]},"then":{"required":["b"]},"else":false}"#, r#"{"a":null}"#),
    (
        r#"{"patternProperties":{"^x(y|z)+$":{"type":"number"}},"propertyNames":{"maxLength":3}}"#,
        r#"{"xyzzy":""}"#,
    ),
    (
        r#"{"prefixItems":[{"enum":["a","b"]}],"unevaluatedItems":false,"contains":{"type":"null"}}"#,
        r#"["c",1]"#,
    ),
    (r#"{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}"#, r#"{"a":1,"b":2}"#),
    (
        r#"{"format":"date-time","pattern":"^\\p{L}*$","type":"string"}"#,
        r#""2026-02-30T25:00:00Z""#,
    ),
    (
        r#"{"dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{"minProperties":2}}}"#,
        r#"{"a":1}"#,
    ),
    (
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"d":{"exclusiveMinimum":1}},"items":[{"$ref":"#/definitions/d"}],"additionalItems":{"not":{}}}"##,
        "[1,2]",
    ),
    (
        r##"{"$id":"http://x/y","$anchor":"t","properties":{"c":{"$ref":"#t"}},"default":1}"##,
        r#"{"c":{"c":1}}"#,
    ),
    (
        r#"{"properties":{"a":{"default":{},"properties":{"b":{"default":[1]}}}},"minimum":1.5,"uniqueItems":true}"#,
        "{}",
    ),
    (
        r##"{"$dynamicAnchor":"m","properties":{"l":{"$dynamicRef":"#m"}},"contentEncoding":"base64"}"##,
        r#"{"l":{}}"#,
    ),
];

/// Each schema beside the next one, and beside itself with one keyword more.
fn pairs() -> Vec<Vec<u8>> {
    let sources: Vec<&str> = SHIPPED_CONTRACTS
        .iter()
        .map(|shipped| shipped.schema)
        .chain(SCHEMAS.iter().map(|(schema, _)| *schema))
        .chain(VERSIONS)
        .collect();
    let pair = |one: &str, two: &str| [one.as_bytes(), b"\0", two.as_bytes()].concat();
    let beside = sources.windows(2).map(|two| pair(two[0], two[1]));
    let narrowed = sources.iter().map(|source| {
        pair(source, &source.replacen('{', "{\"minProperties\":2,\"maxLength\":3,", 1))
    });
    beside.chain(narrowed).collect()
}

const VERSIONS: [&str; 4] = [
    r#"{"type":"object","required":["a","b"],"properties":{"a":{"enum":[1,"x",null]},"b":{"type":"string","maxLength":4}}}"#,
    r#"{"type":"object","required":["a"],"properties":{"a":{"type":["integer","null"],"minimum":1},"b":{"minLength":5}}}"#,
    r##"{"type":"object","$defs":{"t":{"type":"object","properties":{"l":{"$ref":"#/$defs/t","minProperties":1},"r":{"$ref":"#/$defs/t"}}}},"properties":{"t":{"$ref":"#/$defs/t"}}}"##,
    r#"{"type":"object","oneOf":[{"required":["k"],"properties":{"k":{"const":"a"}}},{"required":["k"],"properties":{"k":{"const":"b"},"n":{"type":"array","items":{"type":"number"},"minItems":2,"uniqueItems":true}}}]}"#,
];

/// Every verb, both formats, and documents for them.
fn patches() -> Vec<Vec<u8>> {
    let document =
        r#"{"open":{"a":[1,2,{"b":null}],"":{"~":0,"/":1},"c":"x"},"engine":{"version":3},"d":[]}"#;
    PATCHES.map(|patch| [patch.as_bytes(), b"\0", document.as_bytes()].concat()).to_vec()
}

const PATCHES: [&str; 12] = [
    r#"[{"op":"add","path":"/open/a/-","value":{"n":[1]}}]"#,
    r#"[{"op":"remove","path":"/open/a/0"},{"op":"replace","path":"/open/c","value":2}]"#,
    r#"[{"op":"move","from":"/open/a","path":"/open/c"},{"op":"test","path":"/open/c/0","value":1}]"#,
    r#"[{"op":"copy","from":"/open","path":"/open/e"},{"op":"copy","from":"/open","path":"/open/f"}]"#,
    r#"[{"op":"replace","path":"","value":{"open":1}}]"#,
    r#"[{"op":"add","path":"/open//~0","value":5},{"op":"remove","path":"/open//~1"}]"#,
    r#"[{"op":"move","from":"/open/a/2","path":"/engine"}]"#,
    r#"{"format":"json_patch","ops":[{"op":"add","path":"/open/x","value":null}]}"#,
    r#"{"format":"merge_patch","ops":{"open":{"a":null,"c":{"d":1},"z":null},"engine":{"version":4}}}"#,
    r#"{"format":"merge_patch","ops":{"open":null}}"#,
    r#"{"format":"merge_patch","ops":[1,2]}"#,
    r#"[{"op":"test","path":"/d","value":[]},{"op":"add","path":"/d/0","value":"а"}]"#,
];
