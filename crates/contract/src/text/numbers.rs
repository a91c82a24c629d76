//! Numbers in a text, normalized to one form regardless of how they are written.
//!
//! Only digits are read, not numerals in words (`twelve`, `三百`).

/// Returns the numbers in a text, in order, as plain decimals: no grouping, a decimal point, no
/// redundant zeros.
///
/// `1,250.50`, `1 250,50`, `1.250,50` and `1'250.50` all become `1250.5`. A percent sign stays with
/// its number (`5%`), so that five and five percent differ. A single comma or point is interpreted
/// by its surroundings: in `1,250` it groups thousands, in `1.250` and `0,250` it starts a
/// fraction. Text that is not one number, such as a date or a version, is read as several numbers.
///
/// ```
/// use countersign_contract::text::extract_numbers;
///
/// assert_eq!(extract_numbers("1 250,50 ₽, 20 % in 030 days"), ["1250.5", "20%", "30"]);
/// ```
#[must_use]
pub fn extract_numbers(text: &str) -> Vec<String> {
    let marks: Vec<NumberCharClass> = text.chars().map(NumberCharClass::from_char).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < marks.len() {
        if !matches!(marks[at], NumberCharClass::Digit(_)) {
            at += 1;
            continue;
        }
        let (run, end) = DigitGroups::parse(&marks, at);
        let first = found.len();
        run.append_numbers(&mut found);
        let signed = at > 0
            && marks[at - 1] == NumberCharClass::Minus
            && (at == 1
                || matches!(marks[at - 2], NumberCharClass::Space | NumberCharClass::Other));
        if signed && found[first] != "0" {
            found[first].insert(0, '-');
        }
        let spaced = marks.get(end) == Some(&NumberCharClass::Space);
        if marks.get(end + usize::from(spaced)) == Some(&NumberCharClass::Percent)
            && let Some(last) = found.last_mut()
        {
            last.push('%');
        }
        at = end;
    }
    found
}

/// Role that a character can have in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberCharClass {
    Digit(char),
    Comma,
    Point,
    /// Only groups digits, never starts a fraction.
    Quote,
    Space,
    Minus,
    Percent,
    Letter,
    Other,
}

impl NumberCharClass {
    fn from_char(character: char) -> Self {
        if let Some(digit) = to_ascii_digit(character) {
            return Self::Digit(digit);
        }
        match character {
            ',' | '，' | '\u{66b}' => Self::Comma,
            '.' | '．' => Self::Point,
            '\'' | '’' | '\u{66c}' => Self::Quote,
            '-' | '−' | '－' => Self::Minus,
            '%' | '％' | '٪' => Self::Percent,
            '\n' | '\r' | '\t' => Self::Other,
            _ if character.is_whitespace() => Self::Space,
            _ if character.is_alphabetic() => Self::Letter,
            _ => Self::Other,
        }
    }
}

/// Returns the ASCII form of a decimal digit from scripts with their own digits.
fn to_ascii_digit(character: char) -> Option<char> {
    // Arabic, Persian, Devanagari, Bengali, Thai, full width.
    const ZEROS: [u32; 6] = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10];
    if character.is_ascii_digit() {
        return Some(character);
    }
    let code = u32::from(character);
    let zero = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&code))?;
    char::from_digit(code - zero, 10)
}

/// Groups of digits with one separator between each two.
#[derive(Debug)]
struct DigitGroups {
    groups: Vec<String>,
    /// One element fewer than there are groups.
    separators: Vec<NumberCharClass>,
}

impl DigitGroups {
    fn parse(marks: &[NumberCharClass], start: usize) -> (Self, usize) {
        let mut run = Self { groups: Vec::new(), separators: Vec::new() };
        let mut at = start;
        loop {
            let group = collect_digits(&marks[at..]);
            at += group.len();
            run.groups.push(group);
            let next = collect_digits(marks.get(at + 1..).unwrap_or_default());
            let joins = match marks.get(at) {
                Some(NumberCharClass::Comma | NumberCharClass::Point) => !next.is_empty(),
                Some(sign @ (NumberCharClass::Space | NumberCharClass::Quote)) => {
                    let grouped = run.is_thousands_grouped(run.groups.len())
                        && is_leading_group(&run.groups[0]);
                    grouped && run.separators.iter().all(|before| before == sign) && next.len() == 3
                }
                _ => false,
            };
            if !joins {
                return (run, at);
            }
            run.separators.push(marks[at]);
            at += 1;
        }
    }

    /// Appends one number if the groups form one, otherwise each group as a number.
    fn append_numbers(&self, found: &mut Vec<String>) {
        match self.count_whole_groups() {
            Some(whole) => {
                let fraction = if whole == self.groups.len() { "" } else { &self.groups[whole] };
                found.push(format_decimal(&self.groups[..whole].concat(), fraction));
            }
            None => found.extend(self.groups.iter().map(|group| format_decimal(group, ""))),
        }
    }

    /// Returns how many groups form the integer part, or `None` if the groups are not one number.
    fn count_whole_groups(&self) -> Option<usize> {
        let Some((last, before)) = self.separators.split_last() else { return Some(1) };
        let all = self.groups.len();
        // A single point is a decimal point, as in English.
        let is_fraction = before.is_empty() && *last == NumberCharClass::Point;
        if self.is_thousands_grouped(all) && !is_fraction {
            return Some(all);
        }
        let decides = matches!(last, NumberCharClass::Comma | NumberCharClass::Point)
            && !before.contains(last);
        (decides && self.is_thousands_grouped(all - 1)).then_some(all - 1)
    }

    /// Returns whether the first `count` groups are the thousands groups of one number.
    fn is_thousands_grouped(&self, count: usize) -> bool {
        let signs = &self.separators[..count - 1];
        count == 1
            || signs.iter().all(|sign| *sign == signs[0])
                && is_leading_group(&self.groups[0])
                && self.groups[1..count].iter().all(|group| group.len() == 3)
    }
}

/// Returns whether digits can precede a grouping separator: one to three, without a leading zero.
fn is_leading_group(group: &str) -> bool {
    group.len() <= 3 && !group.starts_with('0')
}

fn collect_digits(marks: &[NumberCharClass]) -> String {
    let digit = |mark: &NumberCharClass| {
        if let NumberCharClass::Digit(digit) = mark { Some(*digit) } else { None }
    };
    marks.iter().map_while(digit).collect()
}

fn format_decimal(whole: &str, fraction: &str) -> String {
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(extract_numbers(text), expected, "{text}");
    }

    #[test]
    fn one_number_however_it_is_set() {
        for text in [
            "1250.5",
            "1250,50",
            "1,250.50",
            "1 250,50",
            "1\u{a0}250,50",
            "1\u{202f}250.50",
            "1.250,50",
            "1'250.50",
            "1’250,5",
            "１，２５０．５０",
            "٠١٢٥٠٫٥",
        ] {
            check(text, &["1250.5"]);
        }
        check("1,250,000 1.250.000 1 250 000", &["1250000", "1250000", "1250000"]);
        check("12,345,678.90", &["12345678.9"]);
        check("१२३", &["123"]);
    }

    #[test]
    fn one_sign_decides_by_what_stands_round_it() {
        check("1,250", &["1250"]);
        check("1.250", &["1.25"]);
        check("0,250 0.250", &["0.25", "0.25"]);
        check("1250,125", &["1250.125"]);
        check("3,14 3.14", &["3.14", "3.14"]);
    }

    #[test]
    fn what_is_no_one_number_is_several() {
        check("12.05.2024", &["12", "5", "2024"]);
        check("v1.2.3", &["1", "2", "3"]);
        check("1,2,3", &["1", "2", "3"]);
        check("1, 2, 3", &["1", "2", "3"]);
        check("2020-2021", &["2020", "2021"]);
        check("in 2024 100 people", &["2024", "100"]);
        check("1,25.3,4", &["1", "25", "3", "4"]);
    }

    #[test]
    fn signs_and_percents() {
        check("-5 and −7, A-4, 2-3", &["-5", "-7", "4", "2", "3"]);
        check("5% 12,5 % 7 percent", &["5%", "12.5%", "7"]);
        check("-0 000 0.00", &["0", "0", "0"]);
        check("$1,000.00 €2.000,00 100元", &["1000", "2000", "100"]);
        check("10%-20%", &["10%", "20%"]);
    }

    #[test]
    fn words_and_ends_are_no_numbers() {
        check("twelve 三百", &[]);
        check("", &[]);
        check("End. 5.", &["5"]);
        check("5,", &["5"]);
        check(".5", &["5"]);
    }
}
