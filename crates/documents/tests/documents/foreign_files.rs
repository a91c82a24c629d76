//! Files of python-docx, openpyxl, python-pptx, reportlab, fpdf2 and the mail library of Python:
//! see `make_fixtures.py`.

use countersign_documents::{
    DocumentErrorKind, DocumentFormat, DocumentPartKind, DocumentText, extract_document,
};

use crate::written_files::fixture;

fn read(name: &str) -> DocumentText {
    extract_document(name, &fixture(name)).unwrap_or_else(|error| panic!("{name} {error}"))
}

#[test]
fn word_shows_headings_numbers_tables_and_comments() {
    let document = read("lease.docx");
    assert_eq!((document.format, document.parts.len()), (DocumentFormat::Docx, 1));
    assert_eq!(
        document.parts[0].text,
        "# Договор аренды\n\nАрендатор вносит плату до 5-го числа каждого месяца.\n1. Срок\n2. Плата\n- пеня\nМесяц | Сумма\nЯнварь | 45 000 ₽ / без НДС\n\nDeposit: two months.[0]\n\n## Comments\n\n[0] Anna: Check the deposit.\n"
    );
}

#[test]
fn excel_shows_sheets_dates_and_formulas() {
    let document = read("budget.xlsx");
    let names: Vec<&str> = document.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["Смета", "Notes", "Secret"]);
    assert_eq!(
        document.parts[0].text,
        "row\tA\tB\tC\tD\tE\tF\tG\tH\tI\tJ\tK\tL\tM\tN\tO\tP\tQ\tR\tS\tT\tU\tV\tW\tX\tY\tZ\tAA\tAB\tAC\tAD\tAE\tAF\n1\tСтатья\tДата\tСумма\tДоля\n2\tАренда\t2026-01-31\t45000.5\t25%\n3\tИтого\t\t=SUM(C2:C2)\n1048576\t(XFD) far away\n"
    );
    assert_eq!(document.parts[1].text, "row\tA\tB\tC\n2\t\tfirst second\t2026-03-01 12:30:00\n");
    assert_eq!(document.parts[2].text, "row\tA\n1\tTRUE\n");
    assert_eq!(document.notes, ["sheet `Secret` is hidden in the program"]);
}

#[test]
fn powerpoint_shows_slides_with_tables_and_notes() {
    let document = read("report.pptx");
    let texts: Vec<&str> = document.parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "季度报告\nRevenue grew\nCosts did not\n\nNotes:\nThank the team.\n",
            "Numbers\nYear | Total\n2026 | 12\n",
        ]
    );
    assert!(document.parts.iter().all(|part| part.kind == DocumentPartKind::Slide));
}

#[test]
fn pdf_shows_pages_in_standard_and_embedded_fonts() {
    let document = read("contract.pdf");
    assert_eq!(document.parts.len(), 2, "{document:?}");
    assert_eq!(
        document.parts[0].text,
        "Service Agreement\nThe provider delivers the report by 31 January 2026, and the client pays within ten days of its\nreceipt.\nItem\tPrice\nReport 1,200\n"
    );
    assert_eq!(
        document.parts[1].text,
        "Исполнитель передаёт отчёт до 31 января 2026 года, а заказчик оплачивает его\nв течение десяти дней.\n"
    );

    let document = read("claim.pdf");
    assert_eq!(
        document.parts[0].text,
        "Заявление о возврате депозита.\nWaverley Avenue 7, квартира 12.\n"
    );
    assert_eq!(document.parts[1].text, "Second page: AVATAR Type.\n");
}

/// A browser writes ligatures and radicals, which are found by their letters.
#[test]
fn pdf_of_a_browser_shows_lines_and_tables() {
    let document = read("page.pdf");
    assert_eq!(
        document.parts[0].text,
        "Договор № 12\nАрендодатель передаёт, а арендатор принимает во временное пользование\nквартиру по адресу: Москва, ул. Тверская, д. 7. The first office file.\n\nItem Price\nReport 1,200\n\n第一条 租赁期限为十一个月。\n"
    );
}

#[test]
fn a_mail_shows_its_text_and_what_is_attached() {
    let document = read("mail.eml");
    assert_eq!(document.format, DocumentFormat::Mail);
    assert_eq!(
        document.parts[0].text,
        "From: Анна Иванова <anna@example.com>\nTo: office@example.com\nDate: 2026-01-31T10:00:00+03:00\nSubject: Смета на январь\n\nВысылаю смету.\n\nАнна\n\nAttached: смета.xlsx (an Excel workbook, 6051 bytes)\nAttached: photo.png (8 bytes); it is a PNG image; images are not read\n"
    );
    let names: Vec<&str> = document.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["", "смета.xlsx: Смета", "смета.xlsx: Notes", "смета.xlsx: Secret"]);
    assert!(document.parts[1].text.contains("2026-01-31"));
}

#[test]
fn a_scan_and_a_locked_file_say_so() {
    let check = |name: &str, kind, message: &str| {
        let error = extract_document(name, &fixture(name)).expect_err(name);
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{name}");
    };
    check(
        "scan.pdf",
        DocumentErrorKind::Image,
        "is a PDF without text: its 1 page is images, such as a scan; images are not read",
    );
    check("locked.pdf", DocumentErrorKind::PasswordProtected, "is a PDF with a password");
}
