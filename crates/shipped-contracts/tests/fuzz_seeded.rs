//! A short run of the fuzzer's doors, the same on every machine.
//!
//! The doors and their invariants are those of the fuzz targets. Here inputs come from seeded
//! chance instead of coverage, so the run is short and repeats. It finds what a change breaks; the
//! long search is the fuzzer's (`docs/measurements/fuzzing.md`).

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzz package shows these as its library")]
mod fuzz;

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use fuzz::{Door, doors};
use testkit::SeededRng;

/// The seed of every run.
const SEED: u64 = 0x0C0D_E516;
/// No input may grow beyond this many bytes.
const LONGEST: usize = 8 * 1024;
/// No input may take longer, on however busy a machine.
const SLOWEST: Duration = Duration::from_secs(5);

#[test]
fn replies() {
    run("admit", 20_000);
}

#[test]
fn texts() {
    run("read", 15_000);
}

#[test]
fn expressions() {
    run("expression", 15_000);
}

#[test]
fn contract_files() {
    run("contract_file", 4_000);
}

#[test]
fn schemas() {
    run("schema", 6_000);
}

#[test]
fn versions() {
    run("versions", 1_500);
}

#[test]
fn patches() {
    run("patch", 15_000);
}

/// Inputs that once broke a door, by the door's name.
const REGRESSIONS: [(&str, &[u8]); 5] = [
    // A default that asks for itself inside itself: the stack ran over.
    ("schema", b"{\"properties\":{\"a\":{\"default\":{},\"$ref\":\"#\"}}}\0{}"),
    (
        "contract_file",
        b"id: a\nversion: 1.0.0\nschema: {properties: {a: {default: {}, $ref: '#'}}}\n",
    ),
    // The same with two ways to go at every step.
    (
        "schema",
        b"{\"$defs\":{\"a\":{\"properties\":{\"l\":{\"default\":{},\"$ref\":\"#/$defs/b\"},\"r\":{\"default\":{},\
          \"$ref\":\"#/$defs/b\"}}},\"b\":{\"properties\":{\"l\":{\"default\":{},\"$ref\":\"#/$defs/a\"}}}},\
          \"$ref\":\"#/$defs/a\"}\0{}",
    ),
    // References to themselves side by side: laying out the defaults took time without end.
    (
        "schema",
        b"{\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"},\
          {\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"},\
          {\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"}]}},\
          \"properties\":{\"q\":{\"$ref\":\"#/$defs/a\"}}}\0{}",
    ),
    // Two schemas that meet in every value of a tree: filling in doubled with every level.
    (
        "schema",
        b"{\"$defs\":{\"a\":{\"properties\":{\"x\":{\"$ref\":\"#/$defs/r\"},\"k\":{\"default\":1}}},\
          \"b\":{\"properties\":{\"x\":{\"$ref\":\"#/$defs/r\"}}},\
          \"r\":{\"allOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/b\"}]}},\"$ref\":\"#/$defs/r\"}\0\
          {\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":\
          {\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{}\
          }}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}",
    ),
];

#[test]
fn what_once_broke_a_door_breaks_it_no_more() {
    for (name, input) in REGRESSIONS {
        push(door(name), name, input);
    }
}

/// A rule that asks of every item whether it stands in the list twice: the work grew with the square
/// of the list, and a reply has room for very long ones.
#[test]
fn a_long_list_under_a_rule_costs_no_square() {
    let actions = vec!["\"SAFE_REFUSAL\""; 30_000].join(",");
    let reply = format!(
        r#"{{"verdict":"FAIL","reasons":["a"],"risk_level":"low","required_actions":[{actions}]}}"#
    );
    let registry = countersign_shipped_contracts::load_shipped_contracts();
    let guardian = registry.iter().position(|contract| contract.id == "guardian_report");
    let terms = [guardian.expect("it ships") as u8, 0, 0, 0];
    push(door("admit"), "a long list", &[&terms, reply.as_bytes()].concat());
}

fn run(name: &str, inputs: usize) {
    let door = door(name);
    let (seeds, words) = ((door.seeds)(), words());
    for (index, seed) in seeds.iter().enumerate() {
        push(door, &format!("{name}, seed {index}"), seed);
    }
    let mut chance = SeededRng::new(SEED);
    for index in 0..inputs {
        push(door, &format!("{name}, input {index}"), &mutant(&mut chance, &seeds, &words));
    }
}

fn door(name: &str) -> Door {
    doors().into_iter().find(|door| door.name == name).expect("the door exists")
}

/// Pushes an input through; a panic is told with the bytes that caused it.
#[track_caller]
fn push(door: Door, whose: &str, input: &[u8]) {
    let started = Instant::now();
    let outcome = catch_unwind(|| (door.check)(input));
    let took = started.elapsed();
    assert!(outcome.is_ok(), "{whose} broke on b\"{}\"", input.escape_ascii());
    assert!(took < SLOWEST, "{whose} took {took:?} for b\"{}\"", input.escape_ascii());
}

/// A seed after one to five changes.
fn mutant(chance: &mut SeededRng, seeds: &[Vec<u8>], words: &[Vec<u8>]) -> Vec<u8> {
    let mut input = chance.pick(seeds).clone();
    for _ in 0..=chance.next_below(5) {
        let at = chance.next_below(input.len() + 1);
        let end = at + chance.next_below((input.len() - at).min(32) + 1);
        match chance.next_below(7) {
            0 if at < input.len() => input[at] ^= 1 << chance.next_below(8),
            1 => drop(input.drain(at..end)),
            2 | 3 => drop(input.splice(at..at, chance.pick(words).iter().copied())),
            4 => {
                let other = chance.pick(seeds);
                input.truncate(at);
                input.extend(&other[chance.next_below(other.len())..]);
            }
            5 => {
                let again = input[at..end].repeat(chance.next_below(40));
                drop(input.splice(end..end, again));
            }
            _ if chance.roll_percent(30) => input.truncate(at),
            _ => {}
        }
        input.truncate(LONGEST);
    }
    input
}

/// The words of the fuzzer's dictionary.
fn words() -> Vec<Vec<u8>> {
    let dictionary = include_str!("../../../fuzz/dictionary.txt");
    let quoted = dictionary.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    quoted.map(unescape).collect()
}

/// `\xNN` is a byte; any other character after a backslash stands for itself.
fn unescape(word: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        match (byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16).expect("two digits") as u8;
                bytes.push(digit(*high) << 4 | digit(*low));
                rest = after;
            }
            (b'\\', [escaped, after @ ..]) => {
                bytes.push(*escaped);
                rest = after;
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    bytes
}
