//! Files of a protocol: YAML and JSON with places.

use countersign_contract::source::{ParsedSourceFile, SourceFile};

use super::door;

fn each(size: usize, make: impl Fn(usize) -> String) -> Vec<String> {
    (0..size).map(make).collect()
}

#[test]
fn yaml_is_read() {
    let mut door = door("yaml");
    let parse = |text: &String| {
        drop(ParsedSourceFile::parse(SourceFile::new("hostile.yaml", text.as_str())));
    };
    door.measure_family(
        "many keys",
        32 << 10,
        |size| (0..size / 12).map(|n| format!("key{n:06}: 1\n")).collect::<Vec<_>>().concat(),
        parse,
    )
    .measure_family("one key again and again", 32 << 10, |size| "key: 1\n".repeat(size / 7), parse)
    .measure_family(
        "a long key around many items",
        32 << 10,
        |size| format!("{}:\n{}", "k".repeat(1_000), "- 1\n".repeat(size / 4)),
        parse,
    )
    .measure_family(
        "anchors and their aliases",
        32 << 10,
        |size| {
            let mut text = "a: &a [x, x, x, x]\nlist:\n".to_owned();
            text += &"- *a\n".repeat(size / 5);
            text
        },
        parse,
    )
    .measure_family("open brackets", 32 << 10, |size| "[".repeat(size), parse)
    .measure_family(
        "one long text",
        32 << 10,
        |size| format!("a: \"{}\"\n", "x\\n".repeat(size / 3)),
        parse,
    )
    .measure_family(
        "aliases of aliases",
        400,
        |size| {
            let mut text = format!("a0: &a0 [{}]\n", each(size, |n| n.to_string()).join(", "));
            for level in 1..30 {
                text += &format!("a{level}: &a{level} [*a{0}, *a{0}, *a{0}]\n", level - 1);
            }
            text
        },
        parse,
    )
    .measure_family("depth", 500, |size| "[".repeat(size) + &"]".repeat(size), parse)
    .measure_family(
        "keys that come twice",
        1_000,
        |size| each(size, |n| format!("key_{}: {n}\n", n / 2)).concat(),
        parse,
    )
    .measure_family(
        "one long text of escapes",
        50_000,
        |size| format!("a: \"{}\"\n", "\\u0041 ".repeat(size)),
        parse,
    )
    .measure_family(
        "one key as long as its items",
        1_000,
        |size| {
            format!("{}:\n{}", "k".repeat(size * 4), each(size, |n| format!("  - {n}\n")).concat())
        },
        parse,
    );
    let parse = |text: &String| {
        drop(ParsedSourceFile::parse(SourceFile::new("hostile.json", text.as_str())));
    };
    door.measure_family(
        "JSON with a long key around many items",
        32 << 10,
        |size| format!("{{\"{}\":[{}0]}}", "k".repeat(1_000), "0,".repeat(size / 2)),
        parse,
    );
    door.assert_linear();
}
