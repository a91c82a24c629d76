//! The way down from the roots: one level of every tree at a time.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::ValueRef;

use super::page::Page;
use super::pages::{Disk, Now};

/// On no more ways than this one goes on at once. A tree that is torn may lead anywhere.
const MOST_STEPS: usize = 4_096;

/// No tree is so high.
const MOST_LEVELS: usize = 20;

/// A root that has more pages below it is not worth fetching them all.
const MOST_BELOW_ROOT: usize = 32;

/// What will be looked up.
#[derive(Debug, Clone)]
pub struct Sought<'a> {
    /// The index, or the table without row ids.
    pub tree: &'a str,
    /// What its entries begin with. Whole numbers and texts.
    pub prefix: Vec<ValueRef<'a>>,
    /// Of many entries the last, about so many.
    pub most: usize,
    /// The table whose rows the entries stand for, where these are wanted too.
    pub table: Option<&'a str>,
}

/// One who is on the way down a tree.
#[derive(Debug, Clone, Copy)]
struct Step<'s> {
    root: u32,
    depth: usize,
    page: u32,
    towards: Towards<'s>,
}

#[derive(Debug, Clone, Copy)]
enum Towards<'s> {
    Entries(&'s Sought<'s>),
    Row(i64),
}

impl Step<'_> {
    fn from(root: u32, towards: Towards<'_>) -> Step<'_> {
        Step { root, depth: 0, page: root, towards }
    }

    fn down(self, page: u32) -> Self {
        Self { depth: self.depth + 1, page, ..self }
    }

    /// Whether it goes no further than a leaf.
    fn ends_at_leaf(&self) -> bool {
        !matches!(self.towards, Towards::Entries(Sought { table: Some(_), .. }))
    }
}

/// The first page of every tree, by its name.
pub(super) type Roots = BTreeMap<String, u32>;

/// The pages below the roots, of trees that have few of them there.
pub(super) fn below_roots(roots: &Roots, disk: &impl Disk) -> BTreeSet<u32> {
    let below = roots.values().filter_map(|root| {
        let below = Page::of(&disk.read(*root)?)?.all_below()?;
        (below.len() <= MOST_BELOW_ROOT).then_some(below)
    });
    below.flatten().collect()
}

/// Whether the way to this leads over a page that is not in memory.
pub(super) fn is_cold(roots: &Roots, disk: &impl Disk, sought: &Sought<'_>) -> bool {
    let mut page = roots.get(sought.tree).copied();
    for _ in 0..MOST_LEVELS {
        let Some(at) = page else { break };
        match disk.now(at) {
            Now::Here(bytes) => {
                let below = Page::of(&bytes).and_then(|page| page.entries(&sought.prefix, 1));
                page = below.and_then(|(below, _)| below.first().copied());
            }
            Now::OnTheDisk => return true,
            Now::Unknown => break,
        }
    }
    false
}

/// Asks for the pages that these lie on, and says which. Waits only for those that the way leads on from.
pub(super) fn fetch(
    roots: &Roots,
    disk: &impl Disk,
    sought: &[Sought<'_>],
    meanwhile: impl FnOnce(),
) -> BTreeSet<u32> {
    let begun = sought
        .iter()
        .filter_map(|one| roots.get(one.tree).map(|root| Step::from(*root, Towards::Entries(one))));
    let mut steps: Vec<Step<'_>> = begun.collect();
    let mut asked: BTreeSet<u32> = BTreeSet::new();
    let mut pages: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    // All leaves of a tree are at one depth.
    let mut leaves: BTreeSet<(u32, usize)> = BTreeSet::new();
    let mut meanwhile = Some(meanwhile);
    for level in 0..MOST_LEVELS {
        let new: BTreeSet<u32> =
            steps.iter().map(|step| step.page).filter(|page| !asked.contains(page)).collect();
        disk.will_need(&new);
        asked.extend(new);
        // The roots are here as a rule.
        if level > 0
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile();
        }
        let mut next = Vec::new();
        for step in steps {
            let level = (step.root, step.depth);
            if step.ends_at_leaf() && leaves.contains(&level) {
                continue;
            }
            if let Entry::Vacant(new) = pages.entry(step.page)
                && let Some(bytes) = disk.read(step.page)
            {
                new.insert(bytes);
            }
            let page = pages.get(&step.page).and_then(|bytes| Page::of(bytes));
            let Some(page) = page else { continue };
            if page.is_leaf() {
                leaves.insert(level);
            }
            go_on(roots, step, page, &mut next);
        }
        next.truncate(MOST_STEPS);
        if next.is_empty() {
            break;
        }
        steps = next;
    }
    asked
}

/// Where one goes on from a page.
fn go_on<'s>(roots: &Roots, step: Step<'s>, page: Page<'_>, next: &mut Vec<Step<'s>>) {
    match step.towards {
        Towards::Row(row) => next.extend(page.row(row).map(|below| step.down(below))),
        Towards::Entries(one) => {
            let Some((below, rows)) = page.entries(&one.prefix, one.most) else { return };
            next.extend(below.into_iter().map(|below| step.down(below)));
            if let Some(root) = one.table.and_then(|table| roots.get(table)) {
                next.extend(rows.into_iter().map(|row| Step::from(*root, Towards::Row(row))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use rusqlite::{Connection, params};

    use super::*;

    /// Whole numbers of every length that a record has.
    const OWNERS: [i64; 10] = [-70_000, -7, 0, 1, 2, 300, 40_000, 9_000_000, 1 << 33, 1 << 50];
    const EACH: usize = 600;
    const SIZE: usize = 4_096;

    /// The bytes of a file, what was asked of it, and what of it is not in memory.
    #[derive(Debug, Default)]
    struct Bytes {
        file: Vec<u8>,
        asked: RefCell<BTreeSet<u32>>,
        cold: BTreeSet<u32>,
    }

    impl Disk for Bytes {
        fn read(&self, page: u32) -> Option<Vec<u8>> {
            let begin = (page as usize).checked_sub(1)? * SIZE;
            assert!(self.asked.borrow().contains(&page), "page {page} was read and not asked for");
            self.file.get(begin..begin + SIZE).map(<[u8]>::to_vec)
        }

        fn now(&self, page: u32) -> Now {
            self.will_need(&BTreeSet::from([page]));
            match self.read(page) {
                _ if self.cold.contains(&page) => Now::OnTheDisk,
                Some(bytes) => Now::Here(bytes),
                None => Now::Unknown,
            }
        }

        fn will_need(&self, pages: &BTreeSet<u32>) {
            self.asked.borrow_mut().extend(pages);
        }
    }

    impl Bytes {
        fn lie_on(&self, text: &str) -> BTreeSet<u32> {
            let pages = (1..).zip(self.file.chunks(SIZE));
            let has = |page: &[u8]| page.windows(text.len()).any(|part| part == text.as_bytes());
            pages.filter(|(_, page)| has(page)).map(|(number, _)| number).collect()
        }
    }

    fn name(number: usize) -> String {
        format!("name {:05}", number * 7_919 % EACH)
    }

    /// Notes with an index, and words without row ids; several levels of both.
    fn book() -> (Roots, Bytes) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.db");
        let mut db = Connection::open(&path).unwrap();
        db.execute_batch(
            "PRAGMA page_size = 4096;
            CREATE TABLE notes (row INTEGER PRIMARY KEY, owner INTEGER, name TEXT, body TEXT);
            CREATE INDEX names ON notes (owner, name);
            CREATE TABLE words (owner INTEGER, word TEXT, block INTEGER, body TEXT,
                PRIMARY KEY (owner, word, block)) WITHOUT ROWID;",
        )
        .unwrap();
        let all = db.transaction().unwrap();
        for number in 0..EACH {
            for owner in OWNERS {
                let body = format!("note {owner}/{}. {}", name(number), "x".repeat(200));
                let put = "INSERT INTO notes (owner, name, body) VALUES (?1, ?2, ?3)";
                all.prepare_cached(put)
                    .unwrap()
                    .execute(params![owner, name(number), body])
                    .unwrap();
                let body = format!("word {owner}/{}. {}", name(number), "x".repeat(120));
                let put = "INSERT INTO words VALUES (?1, ?2, ?3, ?4)";
                let row = params![owner, name(number), number as i64, body];
                all.prepare_cached(put).unwrap().execute(row).unwrap();
            }
        }
        all.commit().unwrap();
        // Else the bytes of what was moved to another page are still on the old one.
        db.execute_batch("VACUUM").unwrap();
        let mut trees = db.prepare("SELECT name, rootpage FROM sqlite_schema").unwrap();
        let trees = trees.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let roots = trees.collect::<Result<_, _>>().unwrap();
        (roots, Bytes { file: std::fs::read(&path).unwrap(), ..Bytes::default() })
    }

    fn prefix(owner: i64, name: &str) -> Vec<ValueRef<'_>> {
        vec![ValueRef::Integer(owner), ValueRef::from(name)]
    }

    #[test]
    fn the_pages_of_what_is_sought_are_asked_for_and_few_others() {
        let (roots, bytes) = book();
        let keys: Vec<(i64, String)> =
            (0..40).map(|n| (OWNERS[n % OWNERS.len()], name(n * 13 % EACH))).collect();
        let mut sought = Vec::new();
        for (owner, name) in &keys {
            let prefix = prefix(*owner, name);
            sought.push(Sought { tree: "words", prefix: prefix.clone(), most: 9, table: None });
            sought.push(Sought { tree: "names", prefix, most: 9, table: Some("notes") });
        }
        let mut meanwhile = 0;
        let asked = fetch(&roots, &bytes, &sought, || meanwhile += 1);
        assert_eq!(asked, *bytes.asked.borrow());
        assert_eq!(meanwhile, 1);
        for (owner, name) in &keys {
            for kind in ["note", "word"] {
                let text = format!("{kind} {owner}/{name}.");
                let lies = bytes.lie_on(&text);
                assert!(!lies.is_empty() && lies.is_subset(&asked), "{text} on {lies:?}");
            }
        }
        // A leaf of each of the two tables and of the index, and what leads there.
        assert!(asked.len() < keys.len() * 4, "{} pages", asked.len());
        assert!(bytes.file.len() / SIZE > 500);
    }

    #[test]
    fn of_many_the_last_are_asked_for() {
        let (roots, bytes) = book();
        let all = vec![ValueRef::Integer(300)];
        let sought = Sought { tree: "names", prefix: all, most: 5, table: Some("notes") };
        let asked = fetch(&roots, &bytes, &[sought], || ());
        for number in EACH - 5..EACH {
            let text = format!("note 300/name {number:05}.");
            assert!(bytes.lie_on(&text).is_subset(&asked), "{text}");
        }
        assert!(asked.len() < 40, "{} pages", asked.len());
    }

    #[test]
    fn what_is_not_there_leads_nowhere() {
        let (roots, bytes) = book();
        let sought = [
            Sought { tree: "none", prefix: prefix(1, "name"), most: 1, table: None },
            Sought { tree: "names", prefix: prefix(1, "other"), most: 1, table: Some("notes") },
            Sought { tree: "names", prefix: prefix(3, "name"), most: 1, table: Some("none") },
            // Something that the index does not compare.
            Sought { tree: "names", prefix: vec![ValueRef::Real(1.0)], most: 1, table: None },
        ];
        let asked = fetch(&roots, &bytes, &sought, || ());
        assert!(asked.len() < 10, "{asked:?}");
    }

    #[test]
    fn a_file_is_cold_where_the_way_leads_over_a_page_that_is_not_in_memory() {
        let (roots, mut bytes) = book();
        let wanted = name(17);
        let sought = Sought { tree: "words", prefix: prefix(2, &wanted), most: 1, table: None };
        assert!(!is_cold(&roots, &bytes, &sought));
        let way = fetch(&roots, &bytes, std::slice::from_ref(&sought), || ());
        let lies = bytes.lie_on(&format!("word 2/{wanted}."));
        assert!(lies.is_subset(&way));
        bytes.cold = (1..3_000).filter(|page| !way.contains(page)).collect();
        assert!(!is_cold(&roots, &bytes, &sought), "no matter what else is not there");
        bytes.cold = lies;
        assert!(is_cold(&roots, &bytes, &sought));
    }

    #[test]
    fn the_pages_below_a_root_are_told_where_they_are_few() {
        let (roots, bytes) = book();
        bytes.will_need(&roots.values().copied().collect());
        let told = below_roots(&roots, &bytes);
        let way = |tree, table| {
            let prefix = prefix(300, "name 00300");
            fetch(&roots, &bytes, &[Sought { tree, prefix, most: 1, table }], || ())
        };
        // The index has few pages below its root, the notes have a leaf for every dozen.
        let next = |way: &BTreeSet<u32>| way.intersection(&told).count();
        assert_eq!(next(&way("names", None)), 1, "of the way down the index");
        let root =
            Page::of(&bytes.read(roots["notes"]).unwrap()).unwrap().all_below().unwrap().len();
        assert!(root > MOST_BELOW_ROOT, "{root}");
        assert_eq!(next(&way("names", Some("notes"))), 1, "none of the way down the notes");
    }

    /// The pages are read without a lock.
    #[test]
    fn torn_pages_are_borne() {
        let (roots, mut bytes) = book();
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as usize % below
        };
        let whole = bytes.file.clone();
        for round in 0..60 {
            bytes.file.clone_from(&whole);
            // Some bytes of the heads of pages, then anywhere.
            for _ in 0..500 {
                let page = random(whole.len() / SIZE);
                let at = if round % 2 == 0 { random(24) } else { random(SIZE) };
                bytes.file[page * SIZE + at] = random(256) as u8;
            }
            let number = random(EACH);
            let one = name(number);
            let owner = ValueRef::Integer(OWNERS[number % OWNERS.len()]);
            let few = Sought { tree: "words", prefix: vec![owner], most: 500, table: None };
            let prefix = vec![owner, ValueRef::from(one.as_str())];
            let row = Sought { tree: "names", prefix, most: 500, table: Some("notes") };
            let all =
                Sought { tree: "names", prefix: vec![owner], most: 500, table: Some("notes") };
            assert!(!fetch(&roots, &bytes, &[few, row, all], || ()).is_empty());
        }
    }
}
