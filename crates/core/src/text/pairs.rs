//! Labelled pairs of questions in four languages: what similarity joins and what it keeps apart.
//!
//! The pairs that it gets wrong are listed too, so that a change for better or worse is seen.

use super::{SAME, similarity};

/// Rewordings of one question.
const SAME_QUESTION: &[(&str, &str)] = &[
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
];

/// Different questions that look alike.
const OTHER_QUESTION: &[(&str, &str)] = &[
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
];

/// Rewordings it does not see: the words are others.
const MISSED: &[(&str, &str)] = &[
    ("What is the contract price?", "How much does the contract cost?"),
    ("Какова цена договора?", "Сколько стоит контракт?"),
    ("Когда начинаются работы?", "Когда начнутся работы?"),
    ("合同价格是多少？", "协议多少钱？"),
    ("계약 금액은 얼마입니까?", "계약 가격이 어떻게 되나요?"),
];

#[test]
fn rewordings_are_joined_and_other_questions_are_not() {
    let mut wrong = Vec::new();
    for (pairs, same) in [(SAME_QUESTION, true), (OTHER_QUESTION, false), (MISSED, false)] {
        for (left, right) in pairs {
            let near = similarity(left, right);
            if (near >= SAME) != same {
                wrong.push(format!("{near:.3}  {left}  |  {right}"));
            }
            assert_eq!(near, similarity(right, left), "{left} | {right}");
            assert!((0.0..=1.0).contains(&near), "{left} | {right}");
        }
    }
    assert!(SAME_QUESTION.len() + OTHER_QUESTION.len() >= 40);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_text_is_itself() {
    for (text, _) in SAME_QUESTION.iter().chain(OTHER_QUESTION) {
        assert_eq!(similarity(text, text), 1.0, "{text}");
    }
    for (left, right, near) in [
        ("Why?", "why", 1.0),
        ("", "", 0.0),
        ("Why?", "When does the work start?", 0.0),
        ("", "work", 0.0),
        ("contract price", "price contract 5", 0.8),
    ] {
        assert_eq!(similarity(left, right), near, "{left} | {right}");
    }
}
