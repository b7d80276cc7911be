//! Jobs over several files, and random jobs with several requests at a position: a layer between requests and the
//! distributions of files. It chooses the distribution with a branch for each request, so plain jobs do not use it.

use super::chances::Chances;
use super::place::{Extent, Place};
use super::sizes::{JOB_CLASSES, Sizes};
use crate::random::Random;
use crate::specification::job::Sequencer;

/// See the file's description.
#[derive(Clone, Debug)]
pub struct Composed<P> {
    files: Vec<File<P>>,
    /// Files whose pass is not over yet.
    files_left: usize,
    service: Service,
    file: usize,
    ios_left: u32,
    run: Run,
}

/// One file of the job, with its own last positions, as in fio.
#[derive(Clone, Debug)]
pub struct File<P> {
    places: P,
    start_bytes: u64,
    end_bytes: u64,
    last: [Option<Extent>; JOB_CLASSES],
    is_over: bool,
}

impl<P> File<P> {
    /// A file in this range of the drive.
    pub fn new(places: P, start_bytes: u64, end_bytes: u64) -> Self {
        Self { places, start_bytes, end_bytes, last: [None; JOB_CLASSES], is_over: false }
    }
}

/// Which file is next; see `FileService`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum Service {
    /// In turn.
    RoundRobin { ios: u32 },
    /// One after the other.
    Sequential,
    /// At random.
    Random { ios: u32 },
    /// At random with weights.
    Weighted(Chances<usize>),
}

/// When a request takes a new position, and whether that is random.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Requests that share a position.
    pub ios: u32,
    /// The positions of the requests after the first.
    pub then: Sequencer,
    /// A new position is random if 64 random bits are below this; None: always.
    pub random_below: [Option<u64>; JOB_CLASSES],
    /// Requests left of the current run.
    pub left: u32,
}

impl<P: Place> Composed<P> {
    /// Panics without files or if a count is zero.
    pub fn new(files: Vec<File<P>>, service: Service, run: Run) -> Self {
        let ios = match service {
            Service::RoundRobin { ios } | Service::Random { ios } => ios,
            Service::Sequential | Service::Weighted(_) => 1,
        };
        assert!(!files.is_empty() && run.ios > 0 && ios > 0);
        let mut composed = Self { files_left: files.len(), files, service, file: 0, ios_left: 0, run };
        composed.rewind();
        composed
    }

    fn rewind(&mut self) {
        self.run.left = 0;
        for file in &mut self.files {
            (file.last, file.is_over) = ([None; JOB_CLASSES], false);
        }
        self.begin_pass();
    }

    fn begin_pass(&mut self) {
        self.files_left = self.files.len();
        self.ios_left = 0;
        self.file = match self.service {
            Service::Sequential => 0,
            // One before the first, so that the rotation starts with the first.
            _ => self.files.len() - 1,
        };
    }

    /// Chooses the file of the next request. A file that is over is skipped until all are.
    fn choose_file(&mut self, random: &mut Random) {
        let stays = !self.files[self.file].is_over;
        match &self.service {
            _ if self.ios_left > 0 && stays => self.ios_left -= 1,
            Service::Sequential if stays => {}
            Service::Sequential => self.file_in_turn(),
            &Service::RoundRobin { ios } => {
                self.ios_left = ios - 1;
                self.file_in_turn();
            }
            &Service::Random { ios } => {
                self.ios_left = ios - 1;
                self.file = random.below(self.files.len() as u64) as usize;
                while self.files[self.file].is_over {
                    self.file = random.below(self.files.len() as u64) as usize;
                }
            }
            Service::Weighted(chances) => self.file = chances.draw(random),
        }
    }

    fn file_in_turn(&mut self) {
        loop {
            self.file = if self.file + 1 == self.files.len() { 0 } else { self.file + 1 };
            if !self.files[self.file].is_over {
                break;
            }
        }
    }

    /// Records the end of a pass; when every file has ended, all start again.
    fn note_end(&mut self, job_class: usize) {
        let file = &mut self.files[self.file];
        if matches!(self.service, Service::Weighted(_)) || !file.places.pass_is_over(job_class) {
            return;
        }
        file.is_over = true;
        self.files_left -= 1;
        if self.files_left == 0 {
            self.files.iter_mut().for_each(|file| file.is_over = false);
            self.begin_pass();
        }
    }
}

impl<P: Place> Place for Composed<P> {
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        if self.files.len() > 1 {
            self.choose_file(random);
        }
        let takes_new_place = self.run.left == 0;
        self.run.left = if takes_new_place { self.run.ios } else { self.run.left } - 1;
        let file = &mut self.files[self.file];
        let at = if takes_new_place {
            let is_random = self.run.random_below[job_class].is_none_or(|below| random.bits() < below);
            if is_random { None } else { file.behind_last(job_class, sizes) }
        } else {
            match self.run.then {
                Sequencer::Sequential => file.behind_last(job_class, sizes),
                Sequencer::Identical => Some(file.last[job_class].map_or(file.start_bytes, |last| last.offset_bytes)),
            }
        };
        let extent = match at {
            Some(offset_bytes) => file.extent_at(offset_bytes, job_class, sizes, random),
            None => file.places.next(job_class, sizes, random),
        };
        file.last[job_class] = Some(extent);
        if at.is_none() && self.files.len() > 1 {
            self.note_end(job_class);
        }
        extent
    }

    fn start_over(&mut self, random: &mut Random) {
        self.files.iter_mut().for_each(|file| file.places.start_over(random));
        self.rewind();
    }
}

impl<P> File<P> {
    /// Where the job class's last request ended, or the start; None if no size fits there.
    fn behind_last<S: Sizes>(&self, job_class: usize, sizes: &S) -> Option<u64> {
        let at = self.last[job_class].map_or(self.start_bytes, |last| last.offset_bytes + u64::from(last.length_bytes));
        (at + u64::from(sizes.least(job_class + JOB_CLASSES)) <= self.end_bytes).then_some(at)
    }

    /// A request after the last one.
    fn extent_at<S: Sizes>(&self, offset_bytes: u64, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        let room_bytes = self.end_bytes - offset_bytes;
        let length_bytes = match sizes.draw(job_class + JOB_CLASSES, random) {
            length_bytes if u64::from(length_bytes) <= room_bytes => length_bytes,
            // A request cut at the end of the file leaves less space than any size when it is repeated.
            _ if u64::from(sizes.least(job_class + JOB_CLASSES)) > room_bytes => room_bytes as u32,
            _ => sizes.draw_within(job_class + JOB_CLASSES, room_bytes, random),
        };
        Extent { offset_bytes, length_bytes }
    }
}
