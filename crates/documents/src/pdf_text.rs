//! The text of one PDF page, with the line breaks and blanks that its positions mean.
//!
//! A PDF says where glyphs stand, not what belongs together: lines and words are found by the
//! distance between one piece of text and the next.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use lopdf::content::{Content, Operation};
use lopdf::{DecompressError, Dictionary, Document, Object, ObjectId};
use unicode_normalization::UnicodeNormalization as _;

use crate::pdf_fonts::PdfFont;

/// How deeply drawings may be nested.
const MAX_FORM_DEPTH: usize = 8;

/// Maximum number of operations in a document, with those of repeated drawings.
const MAX_OPERATIONS: usize = 10_000_000;

/// Maximum number of bytes that all pages and drawings may unpack to: 256 MiB. A drawing counts each
/// time that it is used.
pub(crate) const MAX_CONTENT_BYTES: usize = 256 * 1024 * 1024;

/// A matrix of PDF: a, b, c, d, e, f.
type Matrix = [f64; 6];

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// Reads the texts of the pages of a document.
pub(crate) struct PageReader<'d> {
    document: &'d Document,
    /// Maximum decompressed size of one stream.
    stream_limit: usize,
    /// The fonts that were read, by the address of their dictionaries.
    fonts: BTreeMap<usize, Option<Rc<PdfFont<'d>>>>,
    remaining_operations: usize,
    remaining_bytes: usize,
}

/// What is known where a text is shown.
#[derive(Clone)]
struct TextState<'d> {
    font: Option<Rc<PdfFont<'d>>>,
    size: f64,
    char_spacing: f64,
    word_spacing: f64,
    scale: f64,
    leading: f64,
    /// From the page's own space to that of the text.
    page: Matrix,
}

/// The text of a page so far, and where it ended.
struct PageText {
    text: String,
    limit: usize,
    /// Where the last piece ended, and its size there.
    end: Option<(f64, f64, f64)>,
    matrix: Matrix,
    line_matrix: Matrix,
}

impl<'d> PageReader<'d> {
    pub(crate) fn new(document: &'d Document, stream_limit: usize) -> Self {
        let fonts = BTreeMap::new();
        Self {
            document,
            stream_limit,
            fonts,
            remaining_operations: MAX_OPERATIONS,
            remaining_bytes: MAX_CONTENT_BYTES,
        }
    }

    /// Reads a page, up to about `limit` bytes of text.
    pub(crate) fn read(&mut self, page: ObjectId, limit: usize) -> Result<String, lopdf::Error> {
        let content = self.document.get_page_content_with_limit(page, self.stream_limit)?;
        let mut resources = Vec::new();
        let (own, inherited) = self.document.get_page_resources(page)?;
        resources.extend(own);
        resources
            .extend(inherited.into_iter().filter_map(|id| self.document.get_dictionary(id).ok()));
        let mut text = PageText {
            text: String::new(),
            limit,
            end: None,
            matrix: IDENTITY,
            line_matrix: IDENTITY,
        };
        let state = TextState {
            font: None,
            size: 1.0,
            char_spacing: 0.0,
            word_spacing: 0.0,
            scale: 1.0,
            leading: 0.0,
            page: IDENTITY,
        };
        let _ = self.read_content(&content, &resources, state, &mut text, 0)?;
        Ok(text.text.chars().flat_map(spell_out).collect())
    }

    fn read_content(
        &mut self,
        content: &[u8],
        resources: &[&'d Dictionary],
        mut state: TextState<'d>,
        text: &mut PageText,
        depth: usize,
    ) -> Result<ControlFlow<()>, lopdf::Error> {
        let mut saved: Vec<TextState<'d>> = Vec::new();
        let spent = || DecompressError::MemoryLimitExceeded { limit: MAX_CONTENT_BYTES };
        self.remaining_bytes = self.remaining_bytes.checked_sub(content.len()).ok_or_else(spent)?;
        for operation in Content::decode(content)?.operations {
            self.remaining_operations =
                self.remaining_operations.checked_sub(1).ok_or_else(spent)?;
            if text.text.len() > text.limit {
                return Ok(ControlFlow::Break(()));
            }
            let Operation { operator, operands } = operation;
            let number = |index: usize| operands.get(index).and_then(read_float).unwrap_or(0.0);
            match operator.as_str() {
                "q" if saved.len() < 1_000 => saved.push(state.clone()),
                "Q" => state = saved.pop().unwrap_or(state),
                "cm" => state.page = multiply(read_matrix(&operands), state.page),
                "BT" => (text.matrix, text.line_matrix) = (IDENTITY, IDENTITY),
                "Tf" => {
                    let name = operands.first().and_then(|name| name.as_name().ok());
                    state.font = match name {
                        Some(name) => self.find_font(resources, name)?,
                        None => None,
                    };
                    state.size = number(1);
                }
                "Tc" => state.char_spacing = number(0),
                "Tw" => state.word_spacing = number(0),
                "Tz" => state.scale = number(0) / 100.0,
                "TL" => state.leading = number(0),
                "Td" => text.move_line(number(0), number(1)),
                "TD" => {
                    state.leading = -number(1);
                    text.move_line(number(0), number(1));
                }
                "Tm" => {
                    text.line_matrix = read_matrix(&operands);
                    text.matrix = text.line_matrix;
                }
                "T*" => text.move_line(0.0, -state.leading),
                "Tj" => text.show(&state, operands.first()),
                "'" => {
                    text.move_line(0.0, -state.leading);
                    text.show(&state, operands.first());
                }
                "\"" => {
                    (state.word_spacing, state.char_spacing) = (number(0), number(1));
                    text.move_line(0.0, -state.leading);
                    text.show(&state, operands.get(2));
                }
                "TJ" => {
                    let pieces = operands.first().and_then(|pieces| pieces.as_array().ok());
                    for piece in pieces.into_iter().flatten() {
                        match read_float(piece) {
                            Some(back) => text.advance(-back / 1000.0 * state.size * state.scale),
                            None => text.show(&state, Some(piece)),
                        }
                    }
                }
                "Do" if depth < MAX_FORM_DEPTH => {
                    let name = operands.first().and_then(|name| name.as_name().ok());
                    let drawn =
                        name.map(|name| self.read_form(resources, name, &state, text, depth));
                    if let Some(drawn) = drawn
                        && drawn?.is_break()
                    {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                _ => {}
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads the text of a drawing that the page uses.
    fn read_form(
        &mut self,
        resources: &[&'d Dictionary],
        name: &[u8],
        state: &TextState<'d>,
        text: &mut PageText,
        depth: usize,
    ) -> Result<ControlFlow<()>, lopdf::Error> {
        let Some(Ok(form)) = self.find_resource(resources, b"XObject", name).map(Object::as_stream)
        else {
            return Ok(ControlFlow::Continue(()));
        };
        if form.dict.get(b"Subtype").and_then(Object::as_name).ok() != Some(b"Form") {
            return Ok(ControlFlow::Continue(()));
        }
        let content = form.decompressed_content_with_limit(self.stream_limit)?;
        let matrix = form.dict.get_deref(b"Matrix", self.document).and_then(Object::as_array);
        let matrix = matrix.map_or(IDENTITY, |numbers| read_matrix(numbers));
        let own = form.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict);
        let resources: Vec<_> = own.into_iter().chain(resources.iter().copied()).collect();
        let inner = TextState { page: multiply(matrix, state.page), ..state.clone() };
        self.read_content(&content, &resources, inner, text, depth + 1)
    }

    fn find_resource(
        &self,
        resources: &[&'d Dictionary],
        kind: &[u8],
        name: &[u8],
    ) -> Option<&'d Object> {
        resources.iter().find_map(|one| {
            let group = one.get_deref(kind, self.document).and_then(Object::as_dict).ok()?;
            group.get_deref(name, self.document).ok()
        })
    }

    fn find_font(
        &mut self,
        resources: &[&'d Dictionary],
        name: &[u8],
    ) -> Result<Option<Rc<PdfFont<'d>>>, lopdf::Error> {
        let Some(Ok(font)) = self.find_resource(resources, b"Font", name).map(Object::as_dict)
        else {
            return Ok(None);
        };
        let address = std::ptr::from_ref(font).addr();
        if let Some(known) = self.fonts.get(&address) {
            return Ok(known.clone());
        }
        let read = PdfFont::read(self.document, font, self.stream_limit)?;
        let read = Some(Rc::new(read));
        self.fonts.insert(address, read.clone());
        Ok(read)
    }
}

impl PageText {
    fn move_line(&mut self, x: f64, y: f64) {
        self.line_matrix = multiply([1.0, 0.0, 0.0, 1.0, x, y], self.line_matrix);
        self.matrix = self.line_matrix;
    }

    fn advance(&mut self, x: f64) {
        self.matrix = multiply([1.0, 0.0, 0.0, 1.0, x, 0.0], self.matrix);
    }

    /// Adds a piece of text where the matrix stands.
    fn show(&mut self, state: &TextState<'_>, codes: Option<&Object>) {
        let Some(Ok(codes)) = codes.map(Object::as_str) else { return };
        let Some(font) = &state.font else { return };
        let whole = multiply(self.matrix, state.page);
        let (x, y) = (whole[4], whole[5]);
        let along = f64::hypot(whole[0], whole[1]);
        let size = (state.size * f64::hypot(whole[2], whole[3])).abs().max(1e-6);
        let shown = font.decode(codes).unwrap_or_default();
        if !shown.is_empty() {
            if let Some((from_x, from_y, last)) = self.end {
                // Distances along the line and across it, whatever direction it has.
                let (right, up) = (whole[0] / along, whole[1] / along);
                let gap = (x - from_x) * right + (y - from_y) * up;
                let across = ((y - from_y) * right - (x - from_x) * up).abs();
                self.separate(gap, across, size.max(last));
            }
            self.text.push_str(&shown);
        }
        let (width, count, blanks) = font.measure(codes);
        let spacing = count as f64 * state.char_spacing + blanks as f64 * state.word_spacing;
        self.advance((width / 1000.0 * state.size + spacing) * state.scale);
        if !shown.is_empty() {
            let end = multiply(self.matrix, state.page);
            self.end = Some((end[4], end[5], size));
        }
    }

    /// Adds what stands between two pieces of text: nothing, a blank, or the end of a line.
    fn separate(&mut self, gap: f64, across: f64, size: f64) {
        let ends_with_blank = self.text.is_empty() || self.text.ends_with([' ', '\n', '\t']);
        if across > 0.5 * size {
            self.text.push('\n');
            if across > 2.0 * size {
                self.text.push('\n');
            }
        } else if gap > 2.0 * size {
            // Another column of a table.
            self.text.push('\t');
        } else if (gap > 0.15 * size || gap < -size) && !ends_with_blank {
            self.text.push(' ');
        }
    }
}

/// Returns the letters that a glyph stands for: a ligature, or a Chinese character that the font
/// has only as a radical. Words are found by their letters.
fn spell_out(sign: char) -> impl Iterator<Item = char> {
    let is_glyph =
        matches!(sign, '\u{fb00}'..='\u{fb06}' | '\u{2e80}'..='\u{2fdf}' | '\u{f900}'..='\u{faff}');
    let spelled = is_glyph.then(|| std::iter::once(sign).nfkc());
    spelled.into_iter().flatten().chain((!is_glyph).then_some(sign))
}

/// The product of two matrices: first `one`, then `other`.
fn multiply(one: Matrix, other: Matrix) -> Matrix {
    [
        one[0] * other[0] + one[1] * other[2],
        one[0] * other[1] + one[1] * other[3],
        one[2] * other[0] + one[3] * other[2],
        one[2] * other[1] + one[3] * other[3],
        one[4] * other[0] + one[5] * other[2] + other[4],
        one[4] * other[1] + one[5] * other[3] + other[5],
    ]
}

fn read_matrix(numbers: &[Object]) -> Matrix {
    let mut matrix = IDENTITY;
    if numbers.len() >= 6 {
        for (place, number) in matrix.iter_mut().zip(numbers) {
            *place = read_float(number).unwrap_or(0.0);
        }
    }
    matrix
}

fn read_float(object: &Object) -> Option<f64> {
    object.as_float().ok().map(f64::from).filter(|number| number.is_finite())
}
