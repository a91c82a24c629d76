//! Questions in Chinese, Korean, Russian and English, and the event that must be found: small stores of
//! everyday talk, with inflected words, compounds, names and mixed scripts.
//!
//! Not for figures: those are of the recall trial.

use std::collections::BTreeMap;

use countersign_contract::Timestamp;
use countersign_memory::MemoryScope;
use countersign_memory::rank::{
    IndexStats, PieceScorer, Posting, TermPostings, WeightedQuery, analyze_event, plan_reads,
    rank_hits, refine_score, sort_postings,
};
use countersign_memory::record::{
    EventLocation, MemoryEvent, MemoryEventKind, MemoryOrigin, SpeakerRole,
};

/// 9 November 2022, noon; each session is a day later.
const FIRST_DAY: i64 = 1_667_995_200_000;
const DAY: i64 = 86_400_000;

/// A turn: its session, who speaks, what is said. Positions are counted.
type Turn = (u32, &'static str, &'static str);

fn events(turns: &[Turn]) -> Vec<MemoryEvent> {
    let mut positions = BTreeMap::new();
    turns
        .iter()
        .enumerate()
        .map(|(at, (session, speaker, text))| {
            let position = positions.entry(*session).or_insert(0);
            *position += 1;
            let ts = Timestamp(FIRST_DAY + i64::from(*session - 1) * DAY + i64::from(*position));
            MemoryEvent {
                id: format!("e{at}"),
                scope: MemoryScope::new("t", "u", "a", format!("s{session}"), "r")
                    .expect("the ids are good"),
                location: EventLocation { session: *session, position: *position },
                ts,
                recorded_at: ts,
                role: SpeakerRole::User,
                kind: MemoryEventKind::Message,
                origin: MemoryOrigin::User,
                speaker: Some((*speaker).to_owned()),
                text: (*text).to_owned(),
                tags: Vec::new(),
                entities: Vec::new(),
                expires: None,
                seen_insights: Vec::new(),
            }
        })
        .collect()
}

/// The texts that answer, best first.
fn ask(events: &[MemoryEvent], question: &str) -> Vec<String> {
    let mut postings: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
    let mut stats = IndexStats { events: events.len() as u64, terms: 0 };
    for event in events {
        let indexed = analyze_event(event);
        stats.terms += u64::from(indexed.length);
        for (term, posting) in indexed.build_postings(event.location) {
            postings.entry(term.to_owned()).or_default().push(posting);
        }
    }
    postings.values_mut().for_each(sort_postings);
    let query = WeightedQuery::from_texts(&[question]);
    let df = |term: &str| postings.get(term).map_or(0, |list| list.len() as u32);
    let lists: Vec<TermPostings> = plan_reads(query.terms().map(|(term, _)| (term, df(term))))
        .into_iter()
        .map(|read| {
            let postings = postings[&read.term].clone();
            TermPostings { term: read.term, df: read.df, postings }
        })
        .collect();
    let pieces = PieceScorer::new(&query, &lists, stats);
    let mut scored: Vec<(i64, &MemoryEvent)> = rank_hits(&query, &lists, stats, 100)
        .iter()
        .filter_map(|hit| {
            let event = events.iter().find(|event| event.location == hit.location)?;
            Some((refine_score(&query, &pieces, hit, event).total, event))
        })
        .collect();
    scored.sort_by_key(|(score, event)| (-score, event.location));
    scored.into_iter().map(|(_, event)| event.text.clone()).collect()
}

/// Each question must have an event with these words among its first so many.
#[track_caller]
fn check(turns: &[Turn], cases: &[(&str, &str, usize)]) {
    let events = events(turns);
    for (question, words, within) in cases {
        assert!(turns.iter().any(|(.., text)| text.contains(words)), "no turn has `{words}`");
        let found = ask(&events, question);
        let at = found.iter().position(|text| text.contains(words));
        assert!(
            at.is_some_and(|at| at < *within),
            "`{question}`: `{words}` must be among the first {within}, found at {at:?} of {found:#?}"
        );
    }
}

const ENGLISH: &[Turn] = &[
    (1, "Nora", "Hi Ben! How have you been?"),
    (1, "Ben", "Busy. We moved our bakery to a bigger place on Mill Street last Friday."),
    (1, "Nora", "Congratulations! Was the landlord of the old one difficult?"),
    (1, "Ben", "He kept the deposit of $1,200, so we are talking to a lawyer."),
    (1, "Nora", "Good luck. I finally signed up for the pottery class."),
    (1, "Ben", "What made you choose that?"),
    (1, "Nora", "My sister Ines paints, and I wanted something with my hands."),
    (2, "Ben", "The oven broke down during the Saturday rush."),
    (2, "Nora", "Oh no. Who repaired it?"),
    (2, "Ben", "A technician from Halvorsen came within two hours."),
    (2, "Nora", "I adopted two kittens from the shelter, Miso and Tofu."),
    (2, "Ben", "Adorable! My daughter wants a rabbit now."),
    (2, "Nora", "Where would you keep it?"),
    (2, "Ben", "In the garden, she says. She is seven, so everything is easy."),
    (3, "Nora", "My flight to Lisbon got cancelled, I rebooked with TAP for the 21st."),
    (3, "Ben", "Are you running the half marathon there?"),
    (3, "Nora", "No, my knee still hurts from skiing. I will just watch."),
    (3, "Ben", "We started selling gluten-free rye bread, customers love it."),
    (3, "Nora", "My colleague is allergic to nuts, do you have anything for her?"),
    (3, "Ben", "The almond croissants are out, but the lemon tart is safe."),
];

#[test]
fn english() {
    check(
        ENGLISH,
        &[
            ("Where is Ben's bakery now?", "Mill Street", 1),
            ("How much did the landlord keep?", "$1,200", 2),
            ("Which class did Nora sign up for?", "pottery", 1),
            ("Who fixed the oven?", "technician from Halvorsen", 3),
            ("who repairs ovens", "technician from Halvorsen", 3),
            ("What pets does Nora have?", "two kittens", 1),
            ("What does Ben's daughter want?", "wants a rabbit", 1),
            ("Which airline did Nora rebook?", "TAP", 1),
            ("Why is Nora not running?", "knee still hurts", 2),
            ("What is Nora's sister called?", "Ines", 1),
            ("What happened on 10 November 2022?", "oven broke", 12),
            ("which dessert is without nuts?", "lemon tart", 2),
            ("How many children does Ben have?", "daughter", 1),
        ],
    );
}

const RUSSIAN: &[Turn] = &[
    (1, "Аня", "Привет, Петя! Как прошли выходные?"),
    (1, "Петя", "Отлично, мы с женой ездили на дачу под Тверью и посадили яблони."),
    (1, "Аня", "Здорово. А я наконец подписала договор аренды с новой хозяйкой."),
    (1, "Петя", "И сколько теперь платишь?"),
    (1, "Аня", "Сорок пять тысяч в месяц, счётчики отдельно."),
    (1, "Петя", "Нормально для центра."),
    (2, "Петя", "Вчера кот разбил любимую вазу бабушки, пришлось склеивать."),
    (2, "Аня", "Бедная бабушка! Она сильно расстроилась?"),
    (2, "Петя", "Нет, посмеялась и сказала, что ваза была трофейная."),
    (2, "Аня", "Меня повысили, я теперь ведущий инженер в Яндексе."),
    (2, "Петя", "Поздравляю! Когда отмечаем?"),
    (2, "Аня", "В пятницу в грузинском ресторане на Чистых прудах."),
    (3, "Петя", "Сломал лодыжку на хоккее, хожу на костылях."),
    (3, "Аня", "Ужас. Врач что говорит?"),
    (3, "Петя", "Шесть недель в гипсе, потом физиотерапия."),
    (3, "Аня", "Я купила тебе книгу Стругацких, занесу завтра."),
    (3, "Петя", "Спасибо! Перечитаю «Пикник на обочине»."),
    (3, "Аня", "У сына аллергия на орехи, так что торт будет без них."),
];

#[test]
fn russian() {
    check(
        RUSSIAN,
        &[
            ("Сколько Аня платит за аренду?", "Сорок пять тысяч", 3),
            ("Где дача у Пети?", "под Тверью", 1),
            ("Какие деревья посадили на даче?", "яблони", 1),
            ("Кем работает Аня?", "ведущий инженер", 2),
            ("Что случилось с вазой?", "разбил любимую вазу", 2),
            ("в каком ресторане отмечали повышение", "грузинском ресторане", 2),
            ("Какую травму получил Петя?", "лодыжку", 3),
            ("Какие питомцы есть у Пети?", "кот разбил", 1),
            ("Чьи книги купила Аня?", "Стругацких", 1),
            ("На что аллергия у ребёнка Ани?", "орехи", 1),
            ("сколько недель гипс", "Шесть недель", 1),
        ],
    );
}

const CHINESE: &[Turn] = &[
    (1, "王芳", "小明，好久不见，最近忙什么呢？"),
    (1, "李小明", "刚从上海搬到杭州，在一家做芯片的公司上班。"),
    (1, "王芳", "杭州房租贵吗？"),
    (1, "李小明", "两室一厅每个月五千八，离地铁站步行十分钟。"),
    (1, "王芳", "我上周养了一只小狗，名字叫豆豆。"),
    (1, "李小明", "真可爱！我女儿一直想要一只猫咪。"),
    (2, "王芳", "下个月我要去东京出差，签证已经办好了。"),
    (2, "李小明", "帮我带一盒抹茶巧克力吧。"),
    (2, "王芳", "没问题。你妈妈的手术顺利吗？"),
    (2, "李小明", "很顺利，医生说两周以后就可以出院。"),
    (2, "王芳", "合同的付款期限改成三十天了，你看到邮件了吗？"),
    (2, "李小明", "看到了，甲方还要求把违约金提高到百分之五。"),
    (3, "王芳", "我报名参加了春天的半程马拉松。"),
    (3, "李小明", "厉害！我每个星期三晚上打羽毛球。"),
    (3, "王芳", "我的iPhone 15屏幕碎了，修一次要一千二。"),
    (3, "李小明", "我对花生过敏，聚餐别点宫保鸡丁。"),
    (3, "王芳", "好的，那我们改吃火锅。"),
];

#[test]
fn chinese() {
    check(
        CHINESE,
        &[
            ("小明在哪里工作？", "芯片的公司", 3),
            ("房租每个月多少钱？", "五千八", 2),
            ("王芳的狗叫什么名字？", "豆豆", 1),
            ("王芳有什么宠物？", "一只小狗", 1),
            ("王芳要去哪个城市出差？", "东京出差", 1),
            ("合同的付款期限是多少天？", "三十天", 1),
            ("违约金是多少？", "百分之五", 1),
            ("妈妈什么时候出院？", "两周以后", 1),
            ("小明做什么运动？", "羽毛球", 2),
            ("iPhone修屏幕多少钱", "一千二", 1),
            ("小明对什么过敏？", "花生过敏", 1),
            ("马拉松是什么时候？", "半程马拉松", 1),
            ("2022年11月10日王芳说了什么？", "下个月我要去东京", 3),
        ],
    );
}

const KOREAN: &[Turn] = &[
    (1, "민수", "지영아, 오랜만이야! 요즘 어떻게 지내?"),
    (1, "지영", "지난달에 부산으로 이사했어. 바다가 가까워서 좋아."),
    (1, "민수", "새 집 월세는 얼마야?"),
    (1, "지영", "보증금 천만 원에 월세 육십만 원이야."),
    (1, "민수", "나는 고양이를 두 마리 입양했어, 이름은 나비하고 구름이야."),
    (1, "지영", "귀엽겠다! 우리 아들은 강아지를 키우고 싶어 해."),
    (2, "민수", "회사에서 팀장으로 승진했어."),
    (2, "지영", "축하해! 언제 한턱낼 거야?"),
    (2, "민수", "금요일 저녁에 강남에서 불고기 먹자."),
    (2, "지영", "나는 새우 알레르기가 있어서 해물탕은 못 먹어."),
    (2, "민수", "계약서의 납품 기한은 삼월 말까지로 바뀌었어."),
    (2, "지영", "위약금 조항도 확인해 줘."),
    (3, "민수", "주말마다 한강에서 자전거를 타고 있어."),
    (3, "지영", "나는 피아노 학원에 등록했어."),
    (3, "민수", "무릎 수술은 잘 끝났어?"),
    (3, "지영", "응, 의사 선생님이 두 달 뒤면 뛸 수 있다고 했어."),
    (3, "민수", "Kubernetes 업그레이드 때문에 어제 밤을 새웠어."),
];

#[test]
fn korean() {
    check(
        KOREAN,
        &[
            ("지영이는 어디로 이사했어?", "부산으로", 1),
            ("월세가 얼마예요?", "육십만 원", 2),
            ("민수의 고양이 이름은?", "나비하고", 1),
            ("민수의 반려동물은 뭐야?", "고양이를 두 마리", 1),
            ("누가 팀장이 됐어?", "팀장으로 승진", 1),
            ("지영이는 무슨 알레르기가 있나요?", "새우 알레르기", 1),
            ("납품 기한이 언제까지입니까?", "삼월 말까지", 1),
            ("민수는 주말에 뭐 해?", "자전거를", 1),
            ("지영이가 배우는 악기는?", "피아노", 2),
            ("무릎 수술 뒤에 언제 뛸 수 있어?", "두 달 뒤면", 2),
            ("kubernetes를 업그레이드한 사람은?", "Kubernetes", 1),
            ("불고기는 어디서 먹기로 했어?", "강남에서", 1),
        ],
    );
}

#[test]
fn scripts_may_be_mixed() {
    check(
        &[
            (1, "Оля", "Завтра созвон с командой Kubernetes в Zoom."),
            (1, "Wei", "我们用PostgreSQL存日志，备份放在S3。"),
            (1, "Оля", "Бэкап базы занимает 40 минут."),
            (1, "지수", "Redis 캐시는 내일 껐다 켤게요."),
        ],
        &[
            ("где храним бэкапы PostgreSQL?", "PostgreSQL", 2),
            ("redis", "Redis 캐시", 1),
            ("ZOOM созвоны", "Zoom", 1),
            ("备份放在哪里", "S3", 1),
        ],
    );
}

#[test]
fn nothing_asked_finds_nothing() {
    let events = events(ENGLISH);
    for question in ["", "?", "What is it that you have?", "xyzzy", "что это?"] {
        assert_eq!(ask(&events, question), Vec::<String>::new(), "{question}");
    }
}
