"""Makes the fixtures with foreign programs. They are committed; run this only to change them.

    python3 -m venv venv
    venv/bin/pip install python-docx openpyxl python-pptx reportlab fpdf2
    venv/bin/python make_fixtures.py fixtures

The PDF files need the font DejaVu Sans, and Chromium.
"""
import datetime
import email.message
import sys
from pathlib import Path

out = Path(sys.argv[1])
DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

# python-docx: headings, a numbered list, a table with a cell of two paragraphs, a comment.
import docx
from docx.oxml import OxmlElement

document = docx.Document()
document.add_heading("Договор аренды", level=1)
document.add_paragraph("Арендатор вносит плату до 5-го числа каждого месяца.")
document.add_paragraph("Срок", style="List Number")
document.add_paragraph("Плата", style="List Number")
document.add_paragraph("пеня", style="List Bullet")
table = document.add_table(rows=2, cols=2)
table.cell(0, 0).text, table.cell(0, 1).text = "Месяц", "Сумма"
table.cell(1, 0).text = "Январь"
table.cell(1, 1).text = "45 000 ₽"
table.cell(1, 1).add_paragraph("без НДС")
paragraph = document.add_paragraph("Deposit: two ")
paragraph.add_run("months").bold = True
paragraph.add_run(".")
deleted = OxmlElement("w:del")
run = OxmlElement("w:r")
text = OxmlElement("w:delText")
text.text = "DELETED"
run.append(text)
deleted.append(run)
paragraph._p.append(deleted)
document.add_comment(paragraph.runs, text="Check the deposit.", author="Anna", initials="A")
document.save(out / "lease.docx")

# openpyxl: two sheets, dates, percentages, a formula without a value, a hidden sheet, a far cell.
import openpyxl

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Смета"
sheet.append(["Статья", "Дата", "Сумма", "Доля"])
sheet.append(["Аренда", datetime.date(2026, 1, 31), 45000.5, 0.25])
sheet["D2"].number_format = "0%"
sheet.append(["Итого", None, "=SUM(C2:C2)", None])
sheet["XFD1048576"] = "far away"
other = book.create_sheet("Notes")
other["B2"] = "first\nsecond"
other["C2"] = datetime.datetime(2026, 3, 1, 12, 30)
hidden = book.create_sheet("Secret")
hidden["A1"] = True
hidden.sheet_state = "hidden"
book.save(out / "budget.xlsx")

# python-pptx: a title, bullets, a table, notes.
import pptx
from pptx.util import Inches

deck = pptx.Presentation()
slide = deck.slides.add_slide(deck.slide_layouts[1])
slide.shapes.title.text = "季度报告"
slide.placeholders[1].text = "Revenue grew\nCosts did not"
slide.notes_slide.notes_text_frame.text = "Thank the team."
slide = deck.slides.add_slide(deck.slide_layouts[5])
slide.shapes.title.text = "Numbers"
cells = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
for row, values in enumerate([("Year", "Total"), ("2026", "12")]):
    for column, value in enumerate(values):
        cells.cell(row, column).text = value
deck.save(out / "report.pptx")

# reportlab: text in a standard font and in an embedded TrueType font, a table, a page that is an
# image, and a password.
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, PageBreak
from reportlab.lib.styles import getSampleStyleSheet

pdfmetrics.registerFont(TTFont("DejaVu", DEJAVU))
styles = getSampleStyleSheet()
russian = styles["Normal"].clone("ru", fontName="DejaVu")
SimpleDocTemplate(str(out / "contract.pdf"), pagesize=A4).build([
    Paragraph("Service Agreement", styles["Title"]),
    Paragraph("The provider delivers the report by 31 January 2026, and the client pays within ten days of its receipt.", styles["Normal"]),
    Table([["Item", "Price"], ["Report", "1,200"]]),
    PageBreak(),
    Paragraph("Исполнитель передаёт отчёт до 31 января 2026 года, а заказчик оплачивает его в течение десяти дней.", russian),
])
page = canvas.Canvas(str(out / "scan.pdf"), pagesize=A4)
page.rect(100, 100, 200, 200, fill=1)
page.showPage()
page.save()
from reportlab.lib.pdfencrypt import StandardEncryption

page = canvas.Canvas(str(out / "locked.pdf"), encrypt=StandardEncryption("user", ownerPassword="owner"))
page.drawString(100, 700, "secret")
page.save()

# fpdf2: another writer of PDF files, with an embedded font and kerning.
from fpdf import FPDF

pdf = FPDF()
pdf.add_font("DejaVu", fname=DEJAVU)
pdf.set_font("DejaVu", size=12)
pdf.add_page()
pdf.multi_cell(0, 8, "Заявление о возврате депозита.\nWaverley Avenue 7, квартира 12.")
pdf.add_page()
pdf.set_font("helvetica", size=12)
pdf.cell(0, 10, "Second page: AVATAR Type.")
pdf.output(str(out / "claim.pdf"))

# Chromium: a page that was printed.
import subprocess
import tempfile

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "page.html"
    page.write_text(
        "<html lang=ru><meta charset=utf-8><h1>Договор № 12</h1><p>Арендодатель передаёт, а арендатор принимает "
        "во временное пользование квартиру по адресу: Москва, ул. Тверская, д. 7. The first office file.</p>"
        "<table border=1><tr><th>Item<th>Price<tr><td>Report<td>1,200</table><p>第一条 租赁期限为十一个月。</p>",
        encoding="utf-8",
    )
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--no-pdf-header-footer",
         f"--print-to-pdf={out / 'page.pdf'}", str(page)], check=True, capture_output=True)

# The standard library: a mail with an HTML body, a Russian name, and an attached workbook.
mail = email.message.EmailMessage()
mail["From"] = "Анна Иванова <anna@example.com>"
mail["To"] = "office@example.com"
mail["Subject"] = "Смета на январь"
mail["Date"] = "Sat, 31 Jan 2026 10:00:00 +0300"
mail.set_content("<p>Высылаю <b>смету</b>.</p><p>Анна</p>", subtype="html", charset="koi8-r", cte="base64")
mail.add_attachment((out / "budget.xlsx").read_bytes(), maintype="application", subtype="vnd.openxmlformats-officedocument.spreadsheetml.sheet", filename="смета.xlsx")
mail.add_attachment(b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", filename="photo.png")
(out / "mail.eml").write_bytes(mail.as_bytes())
