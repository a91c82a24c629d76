//! What the codes of a PDF's fonts mean, and how wide they are.

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document, Encoding, Object};

/// Width of a character in a font that does not say it, in thousandths of the size.
const DEFAULT_WIDTH: f64 = 500.0;

/// Width of a character in a font of composed codes that does not say it.
const DEFAULT_CID_WIDTH: f64 = 1000.0;

/// Maximum number of widths that are read from a font.
const MAX_WIDTHS: usize = 100_000;

/// A font of a page.
pub(crate) struct PdfFont<'d> {
    encoding: Option<Encoding<'d>>,
    /// Whether a code has two bytes.
    is_composite: bool,
    widths: BTreeMap<u32, f64>,
    default_width: f64,
}

impl<'d> PdfFont<'d> {
    /// Reads a font. What it does not say is guessed.
    pub(crate) fn read(
        document: &'d Document,
        font: &'d Dictionary,
        limit: usize,
    ) -> Result<Self, lopdf::Error> {
        let is_composite =
            font.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == b"Type0");
        let encoding = match read_unicode_map(document, font, limit)? {
            Some(map) => Some(map),
            None => font.get_font_encoding_with_limit(document, limit).ok(),
        };
        let mut read =
            Self { encoding, is_composite, widths: BTreeMap::new(), default_width: DEFAULT_WIDTH };
        if is_composite {
            read.read_composite_widths(document, font);
        } else {
            read.read_simple_widths(document, font);
        }
        Ok(read)
    }

    fn read_simple_widths(&mut self, document: &Document, font: &Dictionary) {
        let name = font.get(b"BaseFont").and_then(Object::as_name).unwrap_or_default();
        if name.windows(7).any(|part| part == b"Courier") {
            self.default_width = 600.0;
        }
        let first = font.get_deref(b"FirstChar", document).and_then(Object::as_i64).unwrap_or(0);
        let Ok(widths) = font.get_deref(b"Widths", document).and_then(Object::as_array) else {
            return;
        };
        for (width, code) in widths.iter().take(256).zip(first.clamp(0, 255) as u32..) {
            if let Some(width) = read_number(document, width) {
                self.widths.insert(code, width);
            }
        }
    }

    /// Reads `[ first [ w w … ] first last w … ]`.
    fn read_composite_widths(&mut self, document: &Document, font: &Dictionary) {
        self.default_width = DEFAULT_CID_WIDTH;
        let below = font.get_deref(b"DescendantFonts", document).and_then(Object::as_array);
        let below = below.ok().and_then(|fonts| fonts.first());
        let below = below.and_then(|one| document.dereference(one).ok());
        let Some(Ok(below)) = below.map(|(_, one)| one.as_dict()) else { return };
        if let Ok(width) = below.get(b"DW")
            && let Some(width) = read_number(document, width)
        {
            self.default_width = width;
        }
        let Ok(ranges) = below.get_deref(b"W", document).and_then(Object::as_array) else { return };
        let mut items = ranges.iter();
        while let (Some(first), Some(next)) = (items.next(), items.next()) {
            let Some(first) = read_number(document, first).map(|first| first.max(0.0) as u32)
            else {
                return;
            };
            let Ok((_, next)) = document.dereference(next) else { return };
            if let Ok(list) = next.as_array() {
                for (width, code) in list.iter().take(MAX_WIDTHS).zip(first..) {
                    if let Some(width) = read_number(document, width) {
                        self.widths.insert(code, width);
                    }
                }
            } else {
                let (Some(last), Some(width)) = (read_number(document, next), items.next()) else {
                    return;
                };
                let Some(width) = read_number(document, width) else { return };
                for code in (first..=last.max(0.0) as u32).take(MAX_WIDTHS) {
                    self.widths.insert(code, width);
                }
            }
            if self.widths.len() > MAX_WIDTHS {
                return;
            }
        }
    }

    /// Returns the text of some codes; `None` if the font does not say what they mean.
    pub(crate) fn decode(&self, codes: &[u8]) -> Option<String> {
        self.encoding.as_ref()?.bytes_to_string(codes).ok()
    }

    /// Returns how wide some codes are in all, in thousandths of the size, how many there are, and
    /// how many of them are the blank of one byte.
    pub(crate) fn measure(&self, codes: &[u8]) -> (f64, usize, usize) {
        let width = |code: u32| self.widths.get(&code).copied().unwrap_or(self.default_width);
        if self.is_composite {
            let codes = codes
                .chunks(2)
                .map(|pair| pair.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)));
            let (mut total, mut count) = (0.0, 0);
            for code in codes {
                total += width(code);
                count += 1;
            }
            return (total, count, 0);
        }
        let total = codes.iter().map(|code| width(u32::from(*code))).sum();
        let blanks = codes.iter().map(|code| usize::from(*code == b' ')).sum();
        (total, codes.len(), blanks)
    }
}

/// Reads the map to Unicode that a font brings along. It says more than the names of its glyphs.
fn read_unicode_map(
    document: &Document,
    font: &Dictionary,
    limit: usize,
) -> Result<Option<Encoding<'static>>, lopdf::Error> {
    if font.get(b"ToUnicode").is_err() {
        return Ok(None);
    }
    // The library prefers `Encoding`.
    let mut alone = font.clone();
    alone.remove(b"Encoding");
    Ok(match alone.get_font_encoding_with_limit(document, limit)? {
        Encoding::UnicodeMapEncoding(map) => Some(Encoding::UnicodeMapEncoding(map)),
        _ => None,
    })
}

fn read_number(document: &Document, object: &Object) -> Option<f64> {
    let (_, object) = document.dereference(object).ok()?;
    object.as_float().ok().map(f64::from).filter(|number| number.is_finite())
}
