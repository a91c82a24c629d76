//! A sampler of JSON Schema: random values a schema describes, found by construction where that is
//! easy and by rejection where it is not.
//!
//! It knows the keywords our schemas use. `allOf`, `if` and `then` are left to the caller, who
//! throws away what the validator refuses. It is no judge: the validator is.

use serde_json::{Map, Number, Value, json};

/// Makes values of one schema from one seed.
pub(crate) struct Sampler<'s> {
    root: &'s Value,
    seed: u64,
}

impl<'s> Sampler<'s> {
    pub(crate) fn new(root: &'s Value, seed: u64) -> Self {
        Self { root, seed }
    }

    /// One value of the whole schema, not yet judged.
    pub(crate) fn value(&mut self) -> Value {
        self.sample(self.root)
    }

    fn sample(&mut self, schema: &Value) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.root.pointer(&reference[1..]).expect("a local reference");
            return self.sample(target);
        }
        if let Some(branches) = schema["oneOf"].as_array() {
            let branch = self.below(branches.len());
            return self.sample(&branches[branch]);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return values[self.below(values.len())].clone();
        }
        match self.kind(&schema["type"]).as_deref() {
            None => self.anything(2),
            Some("null") => Value::Null,
            Some("boolean") => json!(self.chance(2)),
            Some("string") => self.string(schema),
            Some("integer") => self.integer(schema),
            Some("number") => self.number(schema),
            Some("array") => self.array(schema),
            Some("object") => self.object(schema),
            Some(other) => panic!("the sampler does not know the type {other}"),
        }
    }

    fn kind(&mut self, kind: &Value) -> Option<String> {
        let name = match kind {
            Value::Array(kinds) => &kinds[self.below(kinds.len())],
            one => one,
        };
        name.as_str().map(str::to_owned)
    }

    fn string(&mut self, schema: &Value) -> Value {
        if schema["format"] == "date-time" {
            let times =
                ["2026-01-21T12:00:00Z", "2024-02-29T23:59:59.5Z", "2026-01-21T12:00:00+03:00"];
            return json!(times[self.below(times.len())]);
        }
        match schema["pattern"].as_str() {
            Some(pattern) if pattern.contains("sha256") => {
                json!(format!("sha256:{:064x}", self.next()))
            }
            Some(_) => json!(format!("{}.{}.0", self.below(9), self.below(9))),
            None => {
                let at_least = schema["minLength"].as_u64().unwrap_or(0) as usize;
                json!(self.text(at_least))
            }
        }
    }

    fn integer(&mut self, schema: &Value) -> Value {
        let lowest = schema["minimum"].as_i64().unwrap_or(-1_000_000);
        let highest = schema["maximum"].as_i64().unwrap_or(1_000_000);
        let integer = lowest + self.below((highest - lowest + 1) as usize) as i64;
        // To JSON Schema 3.0 is an integer too.
        if self.chance(4) { json!(integer as f64) } else { json!(integer) }
    }

    fn number(&mut self, schema: &Value) -> Value {
        let lowest = schema["minimum"].as_f64().unwrap_or(-1e9);
        let highest = schema["maximum"].as_f64().unwrap_or(1e9);
        match self.below(4) {
            0 => json!(lowest as i64),
            1 => json!(highest as i64),
            _ => json!(lowest + (highest - lowest) * (self.below(1_000_000) as f64 / 1e6)),
        }
    }

    fn array(&mut self, schema: &Value) -> Value {
        let at_least = schema["minItems"].as_u64().unwrap_or(0) as usize;
        let at_most = schema["maxItems"].as_u64().map_or(at_least + 2, |most| most as usize);
        let length = at_least + self.below(at_most - at_least + 1);
        (0..length).map(|_| self.sample(&schema["items"])).collect()
    }

    fn object(&mut self, schema: &Value) -> Value {
        let mut fields = Map::new();
        let nothing = Map::new();
        for (name, field) in schema["properties"].as_object().unwrap_or(&nothing) {
            let required =
                schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
            if required || self.chance(2) {
                fields.insert(name.clone(), self.sample(field));
            }
        }
        if schema["additionalProperties"] != json!(false) {
            for _ in 0..self.below(3) {
                let name = format!("x-{}", self.text(0));
                let more = match &schema["additionalProperties"] {
                    Value::Object(_) => self.sample(&schema["additionalProperties"]),
                    _ => self.anything(2),
                };
                fields.insert(name, more);
            }
        }
        Value::Object(fields)
    }

    fn anything(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.chance(2)),
            2 => json!(self.text(0)),
            3 => json!(self.next()),
            4 => json!((self.next() as i64)),
            5 => Number::from_f64(f64::from_bits(self.next())).map_or(Value::Null, Value::Number),
            6 => (0..self.below(3)).map(|_| self.anything(depth - 1)).collect(),
            _ => Value::Object(
                (0..self.below(3)).map(|_| (self.text(0), self.anything(depth - 1))).collect(),
            ),
        }
    }

    fn text(&mut self, at_least: usize) -> String {
        let pieces = ["a", "Z", "7", " ", "\n", "\"", "\\", "/", "ы", "漢", "한", "😀", "\u{0}"];
        let length = at_least + self.below(5);
        (0..length).map(|_| pieces[self.below(pieces.len())]).collect()
    }

    /// True once in so many times.
    fn chance(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// The next number of `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
