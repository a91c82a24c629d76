//! The numbers that Word shows before paragraphs and does not store in them: "2.1.", "(a)", bullets.

use std::collections::BTreeMap;

use crate::DocumentError;
use crate::office_xml::{XmlToken, attribute, walk_xml};

/// Levels of a list, as Word has them.
const MAX_LEVELS: usize = 9;

/// How a level of a list is numbered.
#[derive(Debug, Clone, Default)]
struct NumberedLevel {
    start: u32,
    format: String,
    /// The number as it shows, such as `%1.%2.`.
    text: String,
}

/// The lists of a document, and how far each is counted.
#[derive(Debug, Default)]
pub(crate) struct ListNumbering {
    /// Levels of each definition, by its id.
    definitions: BTreeMap<String, Vec<NumberedLevel>>,
    /// The definition of each list, by the id of the list.
    lists: BTreeMap<String, String>,
    /// Levels at which a list begins again with a number.
    overrides: BTreeMap<(String, usize), u32>,
    /// Current number of each level, by the id of the definition; 0 where none was shown.
    counters: BTreeMap<String, [u32; MAX_LEVELS]>,
}

impl ListNumbering {
    /// Reads the definitions of a document.
    pub(crate) fn parse(xml: &str, part: &str) -> Result<Self, DocumentError> {
        let mut numbering = Self::default();
        let (mut definition, mut list, mut level) = (None, None, 0);
        walk_xml(xml, part, |token| {
            let XmlToken::Open(name, tag) = token else { return true };
            let value = || attribute(tag, "val").unwrap_or_default();
            match name {
                "abstractNum" => {
                    (definition, list) = (attribute(tag, "abstractNumId"), None);
                }
                "num" => (definition, list) = (None, attribute(tag, "numId")),
                "lvl" | "lvlOverride" => {
                    level =
                        attribute(tag, "ilvl").and_then(|level| level.parse().ok()).unwrap_or(0);
                    if let (Some(id), "lvl") = (&definition, name) {
                        let levels = numbering.definitions.entry(id.clone()).or_default();
                        while levels.len() <= level && levels.len() < MAX_LEVELS {
                            levels.push(NumberedLevel { start: 1, ..NumberedLevel::default() });
                        }
                    }
                }
                "abstractNumId" => {
                    if let Some(list) = &list {
                        numbering.lists.insert(list.clone(), value());
                    }
                }
                "startOverride" => {
                    if let (Some(list), Ok(start)) = (&list, value().parse()) {
                        numbering.overrides.insert((list.clone(), level), start);
                    }
                }
                "start" | "numFmt" | "lvlText" => {
                    let levels =
                        definition.as_ref().and_then(|id| numbering.definitions.get_mut(id));
                    if let Some(level) = levels.and_then(|levels| levels.get_mut(level)) {
                        match name {
                            "start" => level.start = value().parse().unwrap_or(1),
                            "numFmt" => level.format = value(),
                            _ => level.text = value(),
                        }
                    }
                }
                _ => {}
            }
            true
        })?;
        Ok(numbering)
    }

    /// Counts a paragraph of a list, and returns the number that it shows, with a blank after it.
    pub(crate) fn count(&mut self, list: &str, level: usize) -> String {
        let Some(id) = self.lists.get(list) else { return String::new() };
        let Some(levels) = self.definitions.get(id) else { return String::new() };
        let Some(shown) = levels.get(level) else { return String::new() };
        let counters = self.counters.entry(id.clone()).or_default();
        // A list that begins again does so at its first paragraph.
        let restart = self.overrides.remove(&(list.to_owned(), level));
        counters[level] = match (restart, counters[level]) {
            (Some(start), _) => start,
            (None, 0) => shown.start,
            (None, before) => before.saturating_add(1),
        };
        counters[level + 1..].fill(0);
        if shown.format == "bullet" {
            return format!("{}- ", "  ".repeat(level));
        }
        let mut text = shown.text.clone();
        for (index, above) in levels.iter().enumerate().take(level + 1) {
            let number = if counters[index] == 0 { above.start } else { counters[index] };
            text = text.replace(&format!("%{}", index + 1), &format_number(number, &above.format));
        }
        if text.is_empty() { text } else { format!("{text} ") }
    }
}

/// Formats a number as a level of a list does.
fn format_number(number: u32, format: &str) -> String {
    match format {
        "lowerLetter" => format_letter(number, 'a', 26),
        "upperLetter" => format_letter(number, 'A', 26),
        "lowerRoman" => format_roman(number).to_lowercase(),
        "upperRoman" => format_roman(number),
        "russianLower" => format_russian(number),
        "russianUpper" => format_russian(number).to_uppercase(),
        "decimalZero" => format!("{number:02}"),
        "none" => String::new(),
        _ => number.to_string(),
    }
}

/// `a` to `z`, then `aa` to `zz`, as Word counts.
fn format_letter(number: u32, first: char, letters: u32) -> String {
    let Some(index) = number.checked_sub(1) else { return String::new() };
    let letter = char::from_u32(first as u32 + index % letters).unwrap_or(first);
    letter.to_string().repeat((index / letters).min(20) as usize + 1)
}

/// The Russian alphabet without the letters that lists skip: ё, й, ъ, ы, ь.
fn format_russian(number: u32) -> String {
    const LETTERS: &str = "абвгдежзиклмнопрстуфхцчшщэюя";
    let Some(index) = number.checked_sub(1) else { return String::new() };
    let count = LETTERS.chars().count() as u32;
    let letter = LETTERS.chars().nth((index % count) as usize).unwrap_or('а');
    letter.to_string().repeat((index / count).min(20) as usize + 1)
}

fn format_roman(number: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number > 10_000 {
        return number.to_string();
    }
    let (mut rest, mut text) = (number, String::new());
    for (value, sign) in SIGNS {
        while rest >= value {
            text.push_str(sign);
            rest -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_numbered_as_word_shows_them() {
        let xml = r#"<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="7">
            <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
            <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2."/></w:lvl>
            <w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%3)"/></w:lvl>
            </w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
            <w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num></w:numbering>"#;
        let mut numbering = ListNumbering::parse(xml, "n").expect("valid");
        let counts = [
            ("1", 0),
            ("1", 1),
            ("1", 1),
            ("1", 2),
            ("1", 2),
            ("1", 0),
            ("1", 1),
            ("2", 0),
            ("2", 0),
            ("3", 0),
        ];
        let shown: Vec<String> =
            counts.into_iter().map(|(list, level)| numbering.count(list, level)).collect();
        let expected = ["1. ", "1.1. ", "1.2. ", "(a) ", "(b) ", "2. ", "2.1. ", "5. ", "6. ", ""];
        assert_eq!(shown, expected);
    }

    #[test]
    fn numbers_are_written_in_every_format() {
        assert_eq!(format_number(28, "lowerLetter"), "bb");
        assert_eq!(format_number(1994, "upperRoman"), "MCMXCIV");
        assert_eq!(format_number(10, "russianLower"), "к");
        assert_eq!(format_number(0, "lowerLetter"), "");
        assert_eq!(format_number(u32::MAX, "lowerRoman"), "4294967295");
    }
}
