//! Labelled pairs of questions in four languages that document which pairs similarity matches.
//!
//! The known mistakes are listed too, so that any change for better or worse is visible.

use super::{SIMILARITY_THRESHOLD, measure_similarity};

/// Rewordings of the same question.
const SAME_QUESTION: &[(&str, &str)] = &[
    ("Кто отвечает за обслуживание?", "Кто несёт ответственность за обслуживание?"),
    ("What is the contract price?", "How much does the contract cost?"),
    ("What is the contract price?", "Could you tell me the price of the contract?"),
    ("What is the contract price?", "Please specify the contract price."),
    ("What's the price of the contract", "PRICE OF THE CONTRACT?"),
    ("When does the work start?", "Could you please tell us when the works will start?"),
    ("When does the contract start?", "What is the start date of the contract?"),
    ("Who signs the contract?", "Could you tell me who will be signing the contract?"),
    ("How many employees does the company have?", "How many employees are there in your company?"),
    ("Which documents are required?", "What documents would be required?"),
    ("Where is the warehouse located?", "Please tell me where your warehouse is located"),
    ("What is the penalty for late delivery?", "What penalty applies for late deliveries?"),
    ("How long is the warranty period?", "How long would the warranty period be?"),
    ("What is the exact delivery address?", "Could you provide the delivery address?"),
    ("Is VAT included in the price?", "Does the price include VAT?"),
    ("Какова цена договора?", "Подскажите, пожалуйста, цену договора"),
    ("Какова цена договора?", "Не могли бы вы сказать, какая цена у договора?"),
    ("Когда начинаются работы?", "Уточните, когда именно начинается работа?"),
    ("Кто подписывает договор?", "Кто будет подписывать договор?"),
    ("Где находится склад?", "Скажите, где находится ваш склад?"),
    ("Какой срок поставки?", "Укажите, пожалуйста, срок поставки."),
    ("Сколько сотрудников в компании?", "Сколько в вашей компании сотрудников?"),
    ("Какие документы нужны?", "Какие нужны будут документы?"),
    ("Предусмотрена ли неустойка за просрочку?", "За просрочку предусмотрена неустойка?"),
    ("Кто ваш поставщик?", "Кто у вас поставщик?"),
    ("合同价格是多少？", "请问合同的价格是多少？"),
    ("合同价格是多少？", "能不能告诉我合同价格？"),
    ("工程什么时候开始？", "请问工程何时开始？"),
    ("交货地点在哪里？", "请问交货地点是什么地方？"),
    ("谁签署合同？", "请问合同是谁签署的？"),
    ("公司有多少员工？", "你们公司有多少员工呢？"),
    ("付款期限是多少？", "请告诉我付款的期限"),
    ("需要哪些文件？", "请问需要什么文件？"),
    ("계약 금액은 얼마입니까?", "계약 금액이 얼마인가요?"),
    ("계약 금액은 얼마입니까?", "계약 금액을 알려주시겠습니까?"),
    ("공사는 언제 시작합니까?", "공사가 언제 시작되나요?"),
    ("창고는 어디에 있습니까?", "창고가 어디에 있나요?"),
    ("누가 계약서에 서명합니까?", "계약서는 누가 서명하나요?"),
    ("납품 기한은 무엇입니까?", "납품 기한을 말씀해 주세요."),
    ("직원은 몇 명입니까?", "직원이 몇 명인가요?"),
    (
        "What is the deadline for submitting the report?",
        "By which deadline must the report be submitted?",
    ),
    ("Do you need a parking space?", "Will you be needing parking space?"),
    ("What colour should the logo be?", "Which colour would you like for the logo?"),
    ("Where should the goods be shipped?", "To where should we ship the goods?"),
    ("Why was the payment delayed?", "What was the reason the payment was delayed?"),
    ("Куда отправить товар?", "Куда нужно отправить товары?"),
    ("Почему задержана оплата?", "По какой причине задержана оплата?"),
    ("Нужна ли вам парковка?", "Требуется ли вам парковка?"),
    ("Какой адрес доставки?", "Пожалуйста, уточните адрес доставки заказа"),
    ("谁负责维护？", "维护由谁负责？"),
    ("每月预算是多少？", "请问您的每月预算？"),
    ("货物发到哪里？", "请问货物要发到什么地方？"),
    ("为什么付款延迟？", "付款为什么会延迟？"),
    ("报告的截止日期是什么时候？", "请问报告截止日期是哪天？"),
    ("누가 유지보수를 담당합니까?", "유지보수 담당자는 누구인가요?"),
    ("월 예산은 얼마입니까?", "월 예산을 알려주세요."),
    ("배송 주소는 어디입니까?", "배송 주소가 어디인가요?"),
    ("보고서 마감일은 언제입니까?", "보고서 마감일이 언제인가요?"),
    ("왜 지급이 지연되었습니까?", "지급이 왜 지연되었나요?"),
];

/// Different questions that look alike.
const OTHER_QUESTION: &[(&str, &str)] = &[
    ("When does Mr O'Brien sign the contract?", "When does Mr O'Neill sign the contract?"),
    ("Сколько столов в корпусе А?", "Сколько столов в корпусе Б?"),
    ("Нужен ли залог?", "Не нужен ли залог?"),
    ("When does the work start?", "When does the work end?"),
    ("When does the work start?", "Where does the work start?"),
    ("When does the work start?", "Why does the work start?"),
    ("What is the contract price?", "What is the contract number?"),
    ("What is the contract price?", "Who signs the contract?"),
    ("Is the contract valid?", "Is the contract invalid?"),
    ("What is included in the price?", "What is not included in the price?"),
    ("Is the contract signed?", "When was the contract signed?"),
    (
        "What is the penalty for late delivery under article 5 of the contract?",
        "What is the penalty for late delivery under article 6 of the contract?",
    ),
    ("Who is the buyer?", "Who is the seller?"),
    ("What is the price?", "What is the price of delivery?"),
    (
        "When does the supplier start work at the warehouse in Moscow?",
        "When does the supplier end work at the warehouse in Moscow?",
    ),
    ("Do you have a licence?", "Do you have a bank account?"),
    ("Когда начинаются работы?", "Когда заканчиваются работы?"),
    ("Когда начинаются работы?", "Где начинаются работы?"),
    ("Какова цена договора?", "Каков номер договора?"),
    ("Кто подписывает договор?", "Кто оплачивает договор?"),
    ("Что входит в цену?", "Что не входит в цену?"),
    ("Какой срок поставки?", "Какой срок оплаты?"),
    ("Кто покупатель?", "Кто продавец?"),
    ("Сколько стоит первый этап?", "Сколько стоит второй этап?"),
    ("工程什么时候开始？", "工程什么时候结束？"),
    ("工程什么时候开始？", "工程在哪里开始？"),
    ("合同价格是多少？", "合同编号是多少？"),
    ("谁签署合同？", "谁支付合同？"),
    ("价格包括运费吗？", "价格不包括运费吗？"),
    ("买方是谁？", "卖方是谁？"),
    ("付款期限是多少？", "交货期限是多少？"),
    ("공사는 언제 시작합니까?", "공사는 언제 끝납니까?"),
    ("공사는 언제 시작합니까?", "공사는 어디에서 시작합니까?"),
    ("계약 금액은 얼마입니까?", "계약 번호는 무엇입니까?"),
    ("매수인은 누구입니까?", "매도인은 누구입니까?"),
    ("납품 기한은 무엇입니까?", "지급 기한은 무엇입니까?"),
    (
        "What is the deadline for submitting the report?",
        "What is the deadline for approving the report?",
    ),
    ("What colour should the logo be?", "What size should the logo be?"),
    ("Who is responsible for maintenance?", "Who is responsible for payment?"),
    ("Where should the goods be shipped?", "Where should the goods be stored?"),
    ("Do you accept credit cards?", "Do you accept bank transfers?"),
    ("What is the name of the director?", "What is the phone number of the director?"),
    ("What is the minimum order quantity?", "What is the maximum order quantity?"),
    ("Does the warranty cover batteries?", "Does the warranty cover screens?"),
    ("What is the supplier's address?", "What is the customer's address?"),
    ("How many users will there be in 2024?", "How many users will there be in 2025?"),
    ("Какой адрес доставки?", "Какой адрес регистрации?"),
    ("Кто отвечает за обслуживание?", "Кто отвечает за оплату?"),
    ("Какой минимальный заказ?", "Какой максимальный заказ?"),
    ("Как зовут директора?", "Какой телефон директора?"),
    ("Куда отправить товар?", "Когда отправить товар?"),
    ("谁负责维护？", "谁负责付款？"),
    ("最低订购量是多少？", "最高订购量是多少？"),
    ("供应商的地址是什么？", "客户的地址是什么？"),
    ("报告什么时候提交？", "报告什么时候批准？"),
    ("최소 주문 수량은 얼마입니까?", "최대 주문 수량은 얼마입니까?"),
    ("공급자의 주소는 무엇입니까?", "고객의 주소는 무엇입니까?"),
    ("보고서는 언제 제출합니까?", "보고서는 언제 승인합니까?"),
];

/// Rewordings that similarity misses, because they use different words.
const MISSED: &[(&str, &str)] = &[
    ("Какова цена договора?", "Сколько стоит контракт?"),
    ("Когда начинаются работы?", "Когда начнутся работы?"),
    ("合同价格是多少？", "协议多少钱？"),
    ("계약 금액은 얼마입니까?", "계약 가격이 어떻게 되나요?"),
    (
        "Who is responsible for maintenance?",
        "Could you name the person responsible for maintenance?",
    ),
    ("What is your monthly budget?", "How big is your monthly budget?"),
    (
        "How will the parties communicate?",
        "In what way will the parties communicate with each other?",
    ),
    ("Какой у вас бюджет на месяц?", "Назовите ваш месячный бюджет"),
];

#[test]
fn rewordings_are_joined_and_other_questions_are_not() {
    let mut wrong = Vec::new();
    for (pairs, same) in [(SAME_QUESTION, true), (OTHER_QUESTION, false), (MISSED, false)] {
        for (left, right) in pairs {
            let near = measure_similarity(left, right);
            if (near >= SIMILARITY_THRESHOLD) != same {
                wrong.push(format!("{near:.3}  {left}  |  {right}"));
            }
            assert_eq!(near, measure_similarity(right, left), "{left} | {right}");
            assert!((0.0..=1.0).contains(&near), "{left} | {right}");
        }
    }
    assert!(SAME_QUESTION.len() + OTHER_QUESTION.len() >= 100);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_text_is_itself() {
    for (text, _) in SAME_QUESTION.iter().chain(OTHER_QUESTION) {
        assert_eq!(measure_similarity(text, text), 1.0, "{text}");
    }
    for (left, right, near) in [
        ("Why?", "why", 1.0),
        ("", "", 0.0),
        ("Why?", "When does the work start?", 0.0),
        ("", "work", 0.0),
        ("contract price", "price contract 5", 0.4),
    ] {
        assert_eq!(measure_similarity(left, right), near, "{left} | {right}");
    }
}
