//! The words of the language, as the lexer hands them to the parser.

use super::ast::Span;

/// One token, where it stands, and whether a line ended before it.
#[derive(Debug, Clone)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind<'s>,
    pub(super) span: Span,
    pub(super) after_newline: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind<'s> {
    /// An identifier or a reserved word; only the parser can tell which is meant.
    Name(&'s str),
    Num(f64),
    Str(String),
    /// A backtick; the parser asks the lexer for the chunks that follow.
    Template,
    Punct(Punct),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Punct {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Spread,
    Dot,
    OptionalDot,
    Question,
    Colon,
    Arrow,
    Not,
    NotEqual,
    StrictNotEqual,
    Equal,
    StrictEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    And,
    Or,
    Coalesce,
}

/// What stands at the start of a text, longest first: a token of ours, or a part of JavaScript we refuse.
pub(super) enum Spelling {
    Token(Punct),
    Refused { what: &'static str, hint: Option<&'static str> },
}

const ASSIGNMENT: Spelling =
    Spelling::Refused { what: "assignment", hint: Some("compare with `===`") };
const STEP: Spelling =
    Spelling::Refused { what: "increment and decrement", hint: Some("write `+ 1` or `- 1`") };
const BITS: Spelling = Spelling::Refused {
    what: "bit operators",
    hint: Some("combine truths with `&&`, `||` and `!`"),
};
const COMMENT: Spelling = Spelling::Refused { what: "comments", hint: None };

/// Every spelling, each before its own prefixes.
pub(super) const SPELLINGS: &[(&str, Spelling)] = &[
    (">>>=", ASSIGNMENT),
    ("<!--", COMMENT),
    ("===", Spelling::Token(Punct::StrictEqual)),
    ("!==", Spelling::Token(Punct::StrictNotEqual)),
    ("...", Spelling::Token(Punct::Spread)),
    ("**=", ASSIGNMENT),
    ("&&=", ASSIGNMENT),
    ("||=", ASSIGNMENT),
    ("??=", ASSIGNMENT),
    ("<<=", ASSIGNMENT),
    (">>=", ASSIGNMENT),
    (">>>", BITS),
    ("==", Spelling::Token(Punct::Equal)),
    ("!=", Spelling::Token(Punct::NotEqual)),
    ("<=", Spelling::Token(Punct::LessOrEqual)),
    (">=", Spelling::Token(Punct::GreaterOrEqual)),
    ("=>", Spelling::Token(Punct::Arrow)),
    ("&&", Spelling::Token(Punct::And)),
    ("||", Spelling::Token(Punct::Or)),
    ("??", Spelling::Token(Punct::Coalesce)),
    ("?.", Spelling::Token(Punct::OptionalDot)),
    ("//", COMMENT),
    ("/*", COMMENT),
    ("++", STEP),
    ("--", STEP),
    ("**", Spelling::Refused { what: "the power operator", hint: Some("multiply instead") }),
    ("+=", ASSIGNMENT),
    ("-=", ASSIGNMENT),
    ("*=", ASSIGNMENT),
    ("/=", ASSIGNMENT),
    ("%=", ASSIGNMENT),
    ("&=", ASSIGNMENT),
    ("|=", ASSIGNMENT),
    ("^=", ASSIGNMENT),
    ("<<", BITS),
    (">>", BITS),
    ("(", Spelling::Token(Punct::OpenParen)),
    (")", Spelling::Token(Punct::CloseParen)),
    ("[", Spelling::Token(Punct::OpenBracket)),
    ("]", Spelling::Token(Punct::CloseBracket)),
    ("{", Spelling::Token(Punct::OpenBrace)),
    ("}", Spelling::Token(Punct::CloseBrace)),
    (",", Spelling::Token(Punct::Comma)),
    (".", Spelling::Token(Punct::Dot)),
    ("?", Spelling::Token(Punct::Question)),
    (":", Spelling::Token(Punct::Colon)),
    ("!", Spelling::Token(Punct::Not)),
    ("<", Spelling::Token(Punct::Less)),
    (">", Spelling::Token(Punct::Greater)),
    ("+", Spelling::Token(Punct::Plus)),
    ("-", Spelling::Token(Punct::Minus)),
    ("*", Spelling::Token(Punct::Star)),
    ("/", Spelling::Token(Punct::Slash)),
    ("%", Spelling::Token(Punct::Percent)),
    ("=", ASSIGNMENT),
    ("&", BITS),
    ("|", BITS),
    ("^", BITS),
    ("~", BITS),
    (";", Spelling::Refused { what: "more than one statement", hint: None }),
    ("#", Spelling::Refused { what: "private names", hint: None }),
    ("@", Spelling::Refused { what: "decorators", hint: None }),
];
