//! Every name that the language defines: methods, builtin functions, reserved words, and the names
//! on JavaScript's prototypes, which cannot be the value of an expression.

/// Methods that call a function for each element of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallbackMethod {
    Some,
    Every,
    Filter,
    Map,
    Find,
    FindIndex,
    FlatMap,
    Reduce,
    ToSorted,
}

/// Methods of arrays and strings that take only values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltinMethod {
    At,
    Concat,
    EndsWith,
    Includes,
    IndexOf,
    Join,
    LastIndexOf,
    Replace,
    ReplaceAll,
    Slice,
    Split,
    StartsWith,
    ToLowerCase,
    ToReversed,
    ToString,
    ToUpperCase,
    Trim,
}

/// Conversion functions, which can also be passed as a callback by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConversionFunction {
    Boolean,
    Number,
    String,
}

/// Functions that are not methods of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltinFunction {
    Convert(ConversionFunction),
    Keys,
    Values,
    Entries,
    IsArray,
    Min,
    Max,
    Abs,
    Floor,
    Ceil,
    Round,
    Sqrt,
    Pow,
    Trunc,
    Sign,
    Stringify,
    Parse,
    Text(TextFunction),
    Pointer(PointerFunction),
}

/// Functions of `Text`, an extension to JavaScript. `matches` is separate, because its pattern is
/// compiled together with the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFunction {
    Words,
    Fingerprint,
    Similarity,
    Numbers,
    Slug,
    Fields,
    IsJson,
    Language,
}

/// Functions of `Pointer`, an extension to JavaScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointerFunction {
    Has,
    Get,
}

const CALLBACK_METHODS: &[(&str, CallbackMethod)] = &[
    ("some", CallbackMethod::Some),
    ("every", CallbackMethod::Every),
    ("filter", CallbackMethod::Filter),
    ("map", CallbackMethod::Map),
    ("find", CallbackMethod::Find),
    ("findIndex", CallbackMethod::FindIndex),
    ("flatMap", CallbackMethod::FlatMap),
    ("reduce", CallbackMethod::Reduce),
    ("toSorted", CallbackMethod::ToSorted),
];

/// Name, id, and maximum number of arguments.
const BUILTIN_METHODS: &[(&str, BuiltinMethod, usize)] = &[
    ("includes", BuiltinMethod::Includes, 2),
    ("indexOf", BuiltinMethod::IndexOf, 2),
    ("lastIndexOf", BuiltinMethod::LastIndexOf, 2),
    ("concat", BuiltinMethod::Concat, UNLIMITED),
    ("join", BuiltinMethod::Join, 1),
    ("slice", BuiltinMethod::Slice, 2),
    ("at", BuiltinMethod::At, 1),
    ("startsWith", BuiltinMethod::StartsWith, 2),
    ("endsWith", BuiltinMethod::EndsWith, 2),
    ("toReversed", BuiltinMethod::ToReversed, 0),
    ("toLowerCase", BuiltinMethod::ToLowerCase, 0),
    ("toUpperCase", BuiltinMethod::ToUpperCase, 0),
    ("trim", BuiltinMethod::Trim, 0),
    ("split", BuiltinMethod::Split, 2),
    ("replace", BuiltinMethod::Replace, 2),
    ("replaceAll", BuiltinMethod::ReplaceAll, 2),
    ("toString", BuiltinMethod::ToString, 1),
];

const ONE: usize = 1;
const TWO: usize = 2;
const THREE: usize = 3;
const UNLIMITED: usize = usize::MAX;

/// Namespace (empty for a plain function), name, id, and maximum number of arguments.
const BUILTINS: &[(&str, &str, BuiltinFunction, usize)] = &[
    ("", "Boolean", BuiltinFunction::Convert(ConversionFunction::Boolean), ONE),
    ("", "Number", BuiltinFunction::Convert(ConversionFunction::Number), ONE),
    ("", "String", BuiltinFunction::Convert(ConversionFunction::String), ONE),
    ("Object", "keys", BuiltinFunction::Keys, ONE),
    ("Object", "values", BuiltinFunction::Values, ONE),
    ("Object", "entries", BuiltinFunction::Entries, ONE),
    ("Array", "isArray", BuiltinFunction::IsArray, ONE),
    ("Math", "min", BuiltinFunction::Min, UNLIMITED),
    ("Math", "max", BuiltinFunction::Max, UNLIMITED),
    ("Math", "abs", BuiltinFunction::Abs, ONE),
    ("Math", "floor", BuiltinFunction::Floor, ONE),
    ("Math", "ceil", BuiltinFunction::Ceil, ONE),
    ("Math", "round", BuiltinFunction::Round, ONE),
    ("Math", "sqrt", BuiltinFunction::Sqrt, ONE),
    ("Math", "pow", BuiltinFunction::Pow, TWO),
    ("Math", "trunc", BuiltinFunction::Trunc, ONE),
    ("Math", "sign", BuiltinFunction::Sign, ONE),
    ("JSON", "stringify", BuiltinFunction::Stringify, THREE),
    ("JSON", "parse", BuiltinFunction::Parse, ONE),
    ("Text", "words", BuiltinFunction::Text(TextFunction::Words), ONE),
    ("Text", "fingerprint", BuiltinFunction::Text(TextFunction::Fingerprint), ONE),
    ("Text", "similarity", BuiltinFunction::Text(TextFunction::Similarity), TWO),
    ("Text", "numbers", BuiltinFunction::Text(TextFunction::Numbers), ONE),
    ("Text", "slug", BuiltinFunction::Text(TextFunction::Slug), ONE),
    ("Text", "fields", BuiltinFunction::Text(TextFunction::Fields), ONE),
    ("Text", "isJson", BuiltinFunction::Text(TextFunction::IsJson), ONE),
    ("Text", "language", BuiltinFunction::Text(TextFunction::Language), ONE),
    ("Pointer", "has", BuiltinFunction::Pointer(PointerFunction::Has), TWO),
    ("Pointer", "get", BuiltinFunction::Pointer(PointerFunction::Get), TWO),
];

/// Namespace and name of the function whose second argument is a pattern.
pub(super) const TEXT_MATCHES: (&str, &str) = ("Text", "matches");

impl CallbackMethod {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        CALLBACK_METHODS.iter().find(|(known, _)| *known == name).map(|(_, each)| *each)
    }

    pub(super) fn name(self) -> &'static str {
        CALLBACK_METHODS.iter().find(|(_, each)| *each == self).map_or("", |(name, _)| name)
    }
}

impl BuiltinMethod {
    pub(super) fn from_name(name: &str) -> Option<(Self, usize)> {
        BUILTIN_METHODS
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, method, most)| (*method, *most))
    }

    pub(super) fn name(self) -> &'static str {
        BUILTIN_METHODS.iter().find(|(_, method, _)| *method == self).map_or("", |(name, ..)| name)
    }
}

impl BuiltinFunction {
    /// Finds `Math.max` as `("Math", "max")` and `Number` as `("", "Number")`. Also returns the
    /// maximum number of arguments.
    pub(super) fn from_name(namespace: &str, name: &str) -> Option<(Self, usize)> {
        BUILTINS
            .iter()
            .find(|(space, known, ..)| *space == namespace && *known == name)
            .map(|(_, _, builtin, most)| (*builtin, *most))
    }

    /// Returns whether the function is an extension to JavaScript. JavaScript fills in missing
    /// arguments; extensions require all of them.
    pub(super) fn is_extension(self) -> bool {
        matches!(self, Self::Text(_) | Self::Pointer(_))
    }
}

impl ConversionFunction {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match BuiltinFunction::from_name("", name) {
            Some((BuiltinFunction::Convert(convert), _)) => Some(convert),
            _ => None,
        }
    }
}

pub(super) fn is_namespace(name: &str) -> bool {
    BUILTINS.iter().any(|(space, ..)| *space == name)
}

/// Returns the members of a namespace, for a hint.
pub(super) fn list_members(namespace: &str) -> Vec<&'static str> {
    let of = |space: &str| space == namespace;
    let named = BUILTINS.iter().filter(|(space, ..)| of(space)).map(|(_, name, ..)| *name);
    named.chain(of(TEXT_MATCHES.0).then_some(TEXT_MATCHES.1)).collect()
}

/// Returns the global names: `Math`, `Number` and so on.
pub(super) fn list_globals() -> Vec<&'static str> {
    let mut names: Vec<&str> = BUILTINS
        .iter()
        .map(|(space, name, ..)| if space.is_empty() { *name } else { *space })
        .collect();
    names.dedup();
    names.extend(["undefined", "null", "true", "false", "NaN", "Infinity"]);
    names
}

/// Returns the names of all methods, for a hint.
pub(super) fn list_methods() -> Vec<&'static str> {
    list_callback_methods()
        .into_iter()
        .chain(BUILTIN_METHODS.iter().map(|(name, ..)| *name))
        .collect()
}

/// Returns the names of the methods that take a function, for a hint.
pub(super) fn list_callback_methods() -> Vec<&'static str> {
    CALLBACK_METHODS.iter().map(|(name, _)| *name).collect()
}

/// Returns whether the word cannot name a parameter or a variable.
pub(super) fn is_reserved(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "arguments",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
        "undefined",
        "NaN",
        "Infinity",
    ];
    WORDS.contains(&word)
}

/// Prototype on which JavaScript looks up a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsPrototype {
    Object,
    Array,
    String,
    Number,
    Boolean,
}

impl JsPrototype {
    /// Returns whether JavaScript finds a built-in function or accessor of this name.
    pub(super) fn has_member(self, name: &str) -> bool {
        let own = match self {
            Self::Object | Self::Boolean => &[],
            Self::Array => ARRAY_PROTOTYPE,
            Self::String => STRING_PROTOTYPE,
            Self::Number => NUMBER_PROTOTYPE,
        };
        own.contains(&name) || OBJECT_PROTOTYPE.contains(&name)
    }
}

const OBJECT_PROTOTYPE: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

#[rustfmt::skip]
const ARRAY_PROTOTYPE: &[&str] = &[
    "at", "concat", "copyWithin", "entries", "every", "fill", "filter", "find", "findIndex",
    "findLast", "findLastIndex", "flat", "flatMap", "forEach", "includes", "indexOf", "join",
    "keys", "lastIndexOf", "map", "pop", "push", "reduce", "reduceRight", "reverse", "shift",
    "slice", "some", "sort", "splice", "toReversed", "toSorted", "toSpliced", "unshift", "values",
    "with",
];

#[rustfmt::skip]
const STRING_PROTOTYPE: &[&str] = &[
    "anchor", "at", "big", "blink", "bold", "charAt", "charCodeAt", "codePointAt", "concat",
    "endsWith", "fixed", "fontcolor", "fontsize", "includes", "indexOf", "isWellFormed", "italics",
    "lastIndexOf", "link", "localeCompare", "match", "matchAll", "normalize", "padEnd", "padStart",
    "repeat", "replace", "replaceAll", "search", "slice", "small", "split", "startsWith", "strike",
    "sub", "substr", "substring", "sup", "toLocaleLowerCase", "toLocaleUpperCase", "toLowerCase",
    "toUpperCase", "toWellFormed", "trim", "trimEnd", "trimLeft", "trimRight", "trimStart",
];

const NUMBER_PROTOTYPE: &[&str] = &["toExponential", "toFixed", "toPrecision"];
