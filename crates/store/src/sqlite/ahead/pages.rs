//! The pages of a file, counted from one, as the system has them.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;

/// What is known of a page without waiting for it.
#[derive(Debug)]
pub(super) enum Now {
    Here(Vec<u8>),
    OnTheDisk,
    Unknown,
}

/// Where pages come from.
pub(super) trait Disk {
    /// A page; waits for it. `None` where there is none.
    fn read(&self, page: u32) -> Option<Vec<u8>>;

    /// A page, where it is in memory.
    fn now(&self, page: u32) -> Now;

    /// Is told that these pages will be read, and does not wait for them.
    fn will_need(&self, pages: &BTreeSet<u32>);
}

/// Pages that lie so near to each other are fetched together: a page or two between them are cheaper to
/// read than to leave out.
#[cfg(target_os = "linux")]
const GAP: u32 = 3;

/// A file.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) file: Arc<File>,
    pub(super) size: u32,
}

#[cfg(target_os = "linux")]
impl Pages {
    fn begin(&self, page: u32) -> u64 {
        u64::from(page.saturating_sub(1)) * u64::from(self.size)
    }
}

#[cfg(target_os = "linux")]
impl Disk for Pages {
    fn read(&self, page: u32) -> Option<Vec<u8>> {
        use std::os::unix::fs::FileExt as _;
        let mut bytes = vec![0; self.size as usize];
        self.file.read_exact_at(&mut bytes, self.begin(page)).ok()?;
        Some(bytes)
    }

    fn now(&self, page: u32) -> Now {
        use rustix::io::{Errno, ReadWriteFlags, preadv2};
        let mut bytes = vec![0; self.size as usize];
        let into = &mut [std::io::IoSliceMut::new(&mut bytes)];
        match preadv2(&self.file, into, self.begin(page), ReadWriteFlags::NOWAIT) {
            Ok(read) if read == bytes.len() => Now::Here(bytes),
            Err(Errno::AGAIN) => Now::OnTheDisk,
            _ => Now::Unknown,
        }
    }

    fn will_need(&self, pages: &BTreeSet<u32>) {
        use rustix::fs::{Advice, fadvise};
        let mut pages = pages.iter().copied().peekable();
        while let Some(first) = pages.next() {
            let mut last = first;
            while let Some(next) = pages.next_if(|next| next - last <= GAP) {
                last = next;
            }
            let length = u64::from(last - first + 1) * u64::from(self.size);
            // What cannot be had beforehand is read later.
            let _ =
                fadvise(&self.file, self.begin(first), length.try_into().ok(), Advice::WillNeed);
        }
    }
}

/// Other systems cannot be told.
#[cfg(not(target_os = "linux"))]
impl Disk for Pages {
    fn read(&self, _: u32) -> Option<Vec<u8>> {
        None
    }

    fn now(&self, _: u32) -> Now {
        Now::Unknown
    }

    fn will_need(&self, _: &BTreeSet<u32>) {}
}
