//! Which cells of a workbook are dates, and how a number of a cell is written.

use crate::DocumentError;
use crate::office_xml::{XmlToken, attribute, walk_xml};
use std::collections::BTreeMap;

/// What a number means in the style of its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberMeaning {
    Plain,
    Percent,
    Date,
    Time,
    DateTime,
}

/// The meaning of numbers, by the number of a style.
#[derive(Debug, Default)]
pub(crate) struct CellStyles(Vec<NumberMeaning>);

impl CellStyles {
    /// Reads the styles of a workbook.
    pub(crate) fn parse(xml: &str, path: &str) -> Result<Self, DocumentError> {
        let mut codes: BTreeMap<String, NumberMeaning> = BTreeMap::new();
        let (mut styles, mut in_cell_styles) = (Vec::new(), false);
        walk_xml(xml, path, |token| {
            match token {
                XmlToken::Open("numFmt", tag) => {
                    if let (Some(id), Some(code)) =
                        (attribute(tag, "numFmtId"), attribute(tag, "formatCode"))
                    {
                        codes.insert(id, read_format_code(&code));
                    }
                }
                XmlToken::Open("cellXfs", _) => in_cell_styles = true,
                XmlToken::Close("cellXfs") => in_cell_styles = false,
                XmlToken::Open("xf", tag) if in_cell_styles => {
                    let id = attribute(tag, "numFmtId").unwrap_or_default();
                    let known = codes.get(&id).copied();
                    styles.push(known.unwrap_or_else(|| read_builtin_format(&id)));
                }
                _ => {}
            }
            true
        })?;
        Ok(Self(styles))
    }

    /// Returns what numbers in a style mean.
    pub(crate) fn meaning(&self, style: usize) -> NumberMeaning {
        self.0.get(style).copied().unwrap_or(NumberMeaning::Plain)
    }
}

fn read_builtin_format(id: &str) -> NumberMeaning {
    match id.parse().unwrap_or(0_u32) {
        9 | 10 => NumberMeaning::Percent,
        14..=17 | 27..=31 | 36 | 50..=58 => NumberMeaning::Date,
        18..=21 | 32..=35 | 45..=47 => NumberMeaning::Time,
        22 => NumberMeaning::DateTime,
        _ => NumberMeaning::Plain,
    }
}

/// Reads what a format such as `dd.mm.yyyy` or `0.0%` makes of a number.
fn read_format_code(code: &str) -> NumberMeaning {
    let (mut days, mut hours, mut percent) = (false, false, false);
    let mut signs = code.chars();
    while let Some(sign) = signs.next() {
        match sign.to_ascii_lowercase() {
            // Quoted, escaped and bracketed parts are text, colours and conditions.
            '"' => drop(signs.by_ref().find(|end| *end == '"')),
            '\\' | '_' | '*' => drop(signs.next()),
            '[' => {
                let inner: String = signs.by_ref().take_while(|end| *end != ']').collect();
                hours |= inner.chars().all(|one| "hHmMsS".contains(one)) && !inner.is_empty();
            }
            'y' | 'd' => days = true,
            'h' | 's' => hours = true,
            '%' => percent = true,
            // The other sections are for negative numbers, zero and text.
            ';' => break,
            _ => {}
        }
    }
    match (days, hours, percent) {
        (true, true, _) => NumberMeaning::DateTime,
        (true, false, _) => NumberMeaning::Date,
        (false, true, _) => NumberMeaning::Time,
        (false, false, true) => NumberMeaning::Percent,
        (false, false, false) if code.to_ascii_lowercase().contains("mmm") => NumberMeaning::Date,
        _ => NumberMeaning::Plain,
    }
}

/// Writes the number of a cell: dates as `2026-01-31`, percentages with their sign, everything else
/// in the fewest digits that mean the same.
pub(crate) fn format_number(text: &str, meaning: NumberMeaning, from_1904: bool) -> String {
    let Ok(number) = text.trim().parse::<f64>() else { return text.trim().to_owned() };
    let plain = || {
        // The file has up to 17 digits; 15 are what the program shows.
        let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
        if rounded.abs() < 1e15 { format!("{rounded}") } else { text.trim().to_owned() }
    };
    match meaning {
        NumberMeaning::Plain => plain(),
        NumberMeaning::Percent => {
            let hundred: f64 = format!("{:.10e}", number * 100.0).parse().unwrap_or(number * 100.0);
            format!("{hundred}%")
        }
        NumberMeaning::Date | NumberMeaning::Time | NumberMeaning::DateTime => {
            format_serial(number, meaning, from_1904).unwrap_or_else(plain)
        }
    }
}

/// Writes a date that is stored as days since 1899-12-30, or since 1904-01-01.
fn format_serial(serial: f64, meaning: NumberMeaning, from_1904: bool) -> Option<String> {
    // The year 9999 is the last that the programs know.
    if !(0.0..2_958_466.0).contains(&serial) {
        return None;
    }
    let mut days = serial.floor() as i64;
    let mut seconds = ((serial - serial.floor()) * 86_400.0).round() as i64;
    if seconds == 86_400 {
        (days, seconds) = (days + 1, 0);
    }
    let time = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if meaning == NumberMeaning::Time && days == 0 {
        return Some(time);
    }
    // The programs believe that 1900 was a leap year, so days before March 1900 are one less.
    let epoch = if from_1904 { -24_107 } else { -25_569 };
    let shift = i64::from(!from_1904 && days < 60);
    let (year, month, day) = date_of_day(days + epoch + shift);
    let date = format!("{year:04}-{month:02}-{day:02}");
    let has_time = seconds != 0 && meaning != NumberMeaning::Date;
    Some(if has_time { format!("{date} {time}") } else { date })
}

/// Returns the date of a day, counted from 1970-01-01, in the Gregorian calendar.
fn date_of_day(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_program_shows_them() {
        let check = |text: &str, meaning, expected: &str| {
            assert_eq!(format_number(text, meaning, false), expected);
        };
        check("1234.5", NumberMeaning::Plain, "1234.5");
        check("0.30000000000000004", NumberMeaning::Plain, "0.3");
        check("1E-3", NumberMeaning::Plain, "0.001");
        check("12345678901234567890", NumberMeaning::Plain, "12345678901234567890");
        check("0.07", NumberMeaning::Percent, "7%");
        check("46053", NumberMeaning::Date, "2026-01-31");
        check("46053.5", NumberMeaning::DateTime, "2026-01-31 12:00:00");
        check("0.75", NumberMeaning::Time, "18:00:00");
        check("1", NumberMeaning::Date, "1900-01-01");
        check("61", NumberMeaning::Date, "1900-03-01");
        check("-5", NumberMeaning::Date, "-5");
        check("n/a", NumberMeaning::Plain, "n/a");
        assert_eq!(format_number("0", NumberMeaning::Date, true), "1904-01-01");
    }

    #[test]
    fn format_codes_tell_dates() {
        for (code, meaning) in [
            ("dd.mm.yyyy", NumberMeaning::Date),
            ("yyyy-mm-dd hh:mm", NumberMeaning::DateTime),
            ("[h]:mm:ss", NumberMeaning::Time),
            ("0.00%", NumberMeaning::Percent),
            ("#,##0.00 \"days\"", NumberMeaning::Plain),
            ("[Red]0.0;[Blue]0.0", NumberMeaning::Plain),
            ("General", NumberMeaning::Plain),
            ("[$-419]d mmmm yyyy;@", NumberMeaning::Date),
        ] {
            assert_eq!(read_format_code(code), meaning, "{code}");
        }
    }
}
