//! Storage for the flash's contents: one mapping of memory or of a sparse file, divided into tables.
//!
//! Each slot has its payload, in a frame that copies share, and its spare bytes (what a real page holds in addition to
//! the data), each erase unit a few numbers that a drive stores in its system blocks. The mapping contains what is in
//! flash, or in memory that survives a loss of power; so a file contains the whole drive even if the process is killed.
//! This file holds the only `unsafe` code of the crate.

#![allow(unsafe_code)]

use super::frames::Frames;
use super::packing::directory::ENTRY_BYTES;
use memmap2::{Advice, MmapMut, MmapOptions};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{Ordering, compiler_fence};

/// The dimensions of the array. "Unit" alone means a mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The mapping unit.
    pub unit_bytes: u32,
    /// The host's and, after them, those of map pages.
    pub logical_units: u32,
    /// All erase units, including those of the SLC cache.
    pub erase_units: u32,
    /// Mapping units of an erase unit.
    pub units_per_erase_unit: u32,
    /// Units of an erase unit in SLC mode; 0: no SLC mode.
    pub units_in_slc_mode: u32,
    /// Units programmed at once: the page of every plane of a die, or several such pages; one page in SLC mode.
    pub group_units: u32,
    /// Units programmed at once in SLC mode.
    pub group_units_in_slc_mode: u32,
    /// The last of this many units holds their parity; 0: none.
    pub units_per_stripe: u32,
    /// Programs that may be in progress at the same time.
    pub dies: u32,
    /// Parts of a unit in which reduced data is packed; 0: one unit a slot.
    pub slots_per_unit: u32,
}

impl Shape {
    /// Mapping units of the whole array.
    pub fn physical_units(&self) -> u32 {
        self.erase_units * self.units_per_erase_unit
    }

    /// The erase unit of a slot.
    pub fn erase_unit_of(&self, ppn: u32) -> u32 {
        ppn / self.units_per_erase_unit
    }
}

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PageState {
    /// Erased, and not programmed since.
    Erased = 0,
    /// In the drive's memory, not yet in flash.
    Buffered = 1,
    /// In flash.
    Programmed = 2,
    /// Power was lost during its program.
    Torn = 3,
    /// Moved or completed from unreadable data: it must not be returned.
    Lost = 4,
}

/// What a unit holds in addition to its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Its address; `NO_LPN` for padding and parity.
    pub lpn: u32,
    /// The state of the unit.
    pub state: PageState,
    /// The number of the host's write, so that the newer of two copies is known. A copy made by garbage collection has
    /// the same number.
    pub version: u64,
}

/// The address of slots without host data.
pub const NO_LPN: u32 = u32::MAX;

impl Spare {
    /// Spare bytes after an erase.
    pub const ERASED: Self = Self { lpn: NO_LPN, state: PageState::Erased, version: 0 };
}

/// The record of an erase unit in the drive's system blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EraseUnitRecord {
    /// The number of erases so far; spare bytes with another number are from before the last erase.
    pub epoch: u32,
    /// The stream for which it was last opened.
    pub stream: u32,
    /// The drive's count of programs when its last unit was programmed.
    pub programmed_at: u64,
    /// The number of the host's writes when it was opened.
    pub opened_at: u64,
    /// Whether it is no longer used.
    pub is_retired: bool,
    /// Whether its contents were programmed in SLC mode.
    pub is_slc: bool,
}

const MAGIC: &[u8; 8] = b"ssdlab\0\x02";
/// In its place until a new drive's tables have their space.
const BEGUN: &[u8; 8] = b"ssdlab\0\0";
/// Space for the description of the drive, which must match. The devices follow one after the other, each from a page
/// boundary.
const HEADER_BYTES: usize = 1 << 16;
const PAGE_BYTES: u64 = 4096;
const RECORD_BYTES: usize = 32;
const SPARE_BYTES: usize = 16;
pub(super) const FRAME_BYTES: usize = 4;
const STATE_BITS: u32 = 3;

/// A file, or the part of it from an offset.
pub(super) struct InFile {
    file: File,
    begins_at: u64,
}

/// The storage of one device.
pub struct Medium {
    pub(super) memory: MmapMut,
    pub(super) file: Option<InFile>,
    pub(super) shape: Shape,
    pub(super) frames: Frames,
    /// Frames for which the file system has reserved space.
    pub(super) frames_reserved: u32,
    /// The errno of the last reservation that failed.
    pub(super) refused: Option<i32>,
    records_at: usize,
    spare_at: usize,
    /// By slot: the frame with its payload.
    pub(super) frame_of_at: usize,
    /// For packed data: which stored units begin where.
    pub(super) directory_at: usize,
    system: Range<usize>,
    pub(super) payload_at: usize,
}

impl Medium {
    /// Memory that is lost with the process; provided by the system only where it is written.
    pub fn in_memory(shape: Shape, system_bytes: usize) -> io::Result<Self> {
        let mut medium = Self::cut(shape, system_bytes);
        medium.memory = MmapOptions::new().len(medium.bytes()).no_reserve_swap().map_anon()?;
        #[cfg(target_os = "linux")]
        let _ = medium.memory.advise(Advice::HugePage);
        Ok(medium)
    }

    /// Opens the devices of a drive in one file, with space for their tables and sparse payloads; creates it if there
    /// is none. Returns whether it contained a drive. `description` identifies the drive; a file with another drive, or
    /// with other contents, is refused.
    pub fn in_file(path: &Path, devices: &[(Shape, usize)], description: &str) -> io::Result<(Vec<Self>, bool)> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.try_lock().map_err(|_| io::Error::other("another process has this drive open"))?;
        let mut mediums: Vec<Self> =
            devices.iter().map(|&(shape, system_bytes)| Self::cut(shape, system_bytes)).collect();
        let length = file.metadata()?.len();
        let mut bytes = HEADER_BYTES as u64;
        for medium in &mut mediums {
            let begins_at = bytes.next_multiple_of(PAGE_BYTES);
            // The lock is shared by all handles of the open file.
            medium.file = Some(InFile { file: file.try_clone()?, begins_at });
            bytes = begins_at + medium.bytes() as u64;
        }
        if length != 0 && length != bytes {
            let message = format!("is {length} bytes long, and this drive takes {bytes}: it holds another drive");
            return Err(invalid(&message));
        }
        file.set_len(bytes)?;
        let found = find_drive(&file, description)?;
        if found == Found::Nothing && length != 0 && has_data_behind(&file, HEADER_BYTES)? {
            return Err(invalid("holds data behind an empty header, which would be overwritten; name another file"));
        }
        let begun = if found == Found::Nothing { file.write_all_at(BEGUN, 0) } else { Ok(()) };
        if let Err(error) = begun.and_then(|()| mediums.iter_mut().try_for_each(Self::map_file)) {
            if length == 0 {
                file.set_len(0)?;
            }
            return Err(error);
        }
        let is_old = found == Found::Drive;
        if is_old {
            mediums.iter_mut().for_each(Self::find_frames);
        } else {
            write_header(&file, description)?;
        }
        Ok((mediums, is_old))
    }

    fn map_file(&mut self) -> io::Result<()> {
        let Some(InFile { file, begins_at }) = &self.file else { return Ok(()) };
        // SAFETY: the file is locked against other processes of this program; if another program shortens it, the
        // process ends by a signal, as with any mapped file.
        let memory = unsafe { MmapOptions::new().offset(*begins_at).len(self.bytes()).map_mut(file)? };
        self.memory = memory;
        // A full disk is an error here; in the mapping it would be a signal. Space for payloads is reserved frame by
        // frame.
        self.reserve_in_file(0..self.payload_at)
    }

    /// Computes the positions of the tables; nothing is mapped yet.
    fn cut(shape: Shape, system_bytes: usize) -> Self {
        let records_at = 0;
        let spare_at = records_at + (shape.erase_units as usize * RECORD_BYTES).next_multiple_of(4096);
        let frame_of_at = spare_at + (shape.physical_units() as usize * SPARE_BYTES).next_multiple_of(4096);
        let directory_at = frame_of_at + (shape.physical_units() as usize * FRAME_BYTES).next_multiple_of(4096);
        let slots = shape.physical_units() as usize * shape.slots_per_unit as usize;
        let system_at = directory_at + (slots * ENTRY_BYTES).next_multiple_of(4096);
        let system = system_at..system_at + system_bytes.next_multiple_of(4096);
        let memory = MmapMut::map_anon(1).expect("the system gives a page");
        let frames = Frames::new(shape.physical_units());
        let payload_at = system.end;
        Self {
            memory,
            file: None,
            shape,
            frames,
            frames_reserved: 0,
            refused: None,
            records_at,
            spare_at,
            frame_of_at,
            directory_at,
            payload_at,
            system,
        }
    }

    fn bytes(&self) -> usize {
        self.payload_at + (self.shape.physical_units() as usize + 1) * self.shape.unit_bytes as usize
    }

    /// The dimensions of the array.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether the contents are in a file.
    pub fn outlives_the_process(&self) -> bool {
        self.file.is_some()
    }

    /// Writes everything to the file's disk, which only a loss of power of this machine requires. Also fails if there
    /// was no space for a payload.
    pub fn sync(&self) -> io::Result<()> {
        if let Some(InFile { file, .. }) = &self.file {
            self.memory.flush()?;
            file.sync_data()?;
        }
        self.refused.map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(code)))
    }

    /// The spare bytes of a slot.
    #[inline]
    pub fn spare(&self, ppn: u32) -> Spare {
        let at = self.spare_at + ppn as usize * SPARE_BYTES;
        let bytes = &self.memory[at..at + SPARE_BYTES];
        let stamp = u32_at(bytes, 4);
        if stamp >> STATE_BITS != self.epoch(self.shape.erase_unit_of(ppn)) & (u32::MAX >> STATE_BITS) {
            return Spare::ERASED;
        }
        let state = match stamp & ((1 << STATE_BITS) - 1) {
            1 => PageState::Buffered,
            2 => PageState::Programmed,
            3 => PageState::Torn,
            4 => PageState::Lost,
            _ => return Spare::ERASED,
        };
        Spare { lpn: u32_at(bytes, 0), state, version: u64_at(bytes, 8) }
    }

    /// Writes the spare bytes of a slot, which marks it as used.
    #[inline]
    pub fn set_spare(&mut self, ppn: u32, spare: Spare) {
        let stamp = self.epoch(self.shape.erase_unit_of(ppn)) << STATE_BITS | spare.state as u32;
        let at = self.spare_at + ppn as usize * SPARE_BYTES;
        let bytes = &mut self.memory[at..at + SPARE_BYTES];
        bytes[..4].copy_from_slice(&spare.lpn.to_le_bytes());
        bytes[8..].copy_from_slice(&spare.version.to_le_bytes());
        // The stamp last: a process killed in between leaves an erased unit.
        compiler_fence(Ordering::SeqCst);
        bytes[4..8].copy_from_slice(&stamp.to_le_bytes());
    }

    /// Changes the state of a slot.
    pub fn set_state(&mut self, ppn: u32, state: PageState) {
        let spare = self.spare(ppn);
        self.set_spare(ppn, Spare { state, ..spare });
    }

    #[inline]
    fn epoch(&self, erase_unit: u32) -> u32 {
        u32_at(&self.memory, self.records_at + erase_unit as usize * RECORD_BYTES)
    }

    /// The record of an erase unit.
    pub fn record(&self, erase_unit: u32) -> EraseUnitRecord {
        let at = self.records_at + erase_unit as usize * RECORD_BYTES;
        let bytes = &self.memory[at..at + RECORD_BYTES];
        EraseUnitRecord {
            epoch: u32_at(bytes, 0),
            stream: u32_at(bytes, 4),
            programmed_at: u64_at(bytes, 8),
            opened_at: u64_at(bytes, 16),
            is_retired: u32_at(bytes, 24) != 0,
            is_slc: u32_at(bytes, 28) != 0,
        }
    }

    /// Records the drive's count of programs when a unit was programmed.
    #[inline]
    pub fn note_program(&mut self, erase_unit: u32, programs: u64) {
        let at = self.records_at + erase_unit as usize * RECORD_BYTES + 8;
        self.memory[at..at + 8].copy_from_slice(&programs.to_le_bytes());
    }

    /// Writes the record of an erase unit.
    pub fn set_record(&mut self, erase_unit: u32, record: EraseUnitRecord) {
        let at = self.records_at + erase_unit as usize * RECORD_BYTES;
        let bytes = &mut self.memory[at..at + RECORD_BYTES];
        bytes[..4].copy_from_slice(&record.epoch.to_le_bytes());
        bytes[4..8].copy_from_slice(&record.stream.to_le_bytes());
        bytes[8..16].copy_from_slice(&record.programmed_at.to_le_bytes());
        bytes[16..24].copy_from_slice(&record.opened_at.to_le_bytes());
        bytes[24..28].copy_from_slice(&u32::from(record.is_retired).to_le_bytes());
        bytes[28..32].copy_from_slice(&u32::from(record.is_slc).to_le_bytes());
    }

    /// Reserves space for a part of the file, if there is one, so that a full file system causes an error instead of a
    /// signal.
    pub(super) fn reserve_in_file(&self, bytes: Range<usize>) -> io::Result<()> {
        let Some(InFile { file, begins_at }) = &self.file else { return Ok(()) };
        let start = *begins_at as i64 + bytes.start as i64;
        // SAFETY: a system call on an open file; mappings of it are not affected.
        let code = unsafe { libc::posix_fallocate(file.as_raw_fd(), start, bytes.len() as i64) };
        if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
    }

    /// The drive's system blocks, for `journal`.
    pub fn system(&self) -> &[u8] {
        &self.memory[self.system.clone()]
    }

    /// The drive's system blocks, to be changed.
    pub fn system_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.system.clone()]
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A drive whose creation was interrupted: nothing was ever written to it.
    Begun,
    Drive,
}

/// A drive must match the description; otherwise the header must be empty.
fn find_drive(file: &File, description: &str) -> io::Result<Found> {
    let mut header = vec![0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0)?;
    let (mark, rest) = header.split_at(MAGIC.len());
    if mark == BEGUN {
        return Ok(Found::Begun);
    }
    if mark != MAGIC {
        return if header.iter().all(|&byte| byte == 0) {
            Ok(Found::Nothing)
        } else {
            Err(invalid("holds something else than a drive, which would be overwritten; name another file"))
        };
    }
    let stored = u64_at(rest, 0) as usize;
    if rest[8..].get(..stored) != Some(description.as_bytes()) {
        return Err(invalid("holds a drive of another description (drive file, --op, --set or --scale)"));
    }
    Ok(Found::Drive)
}

/// The mark that it contains a drive is written last, and is on the disk before anything else is.
fn write_header(file: &File, description: &str) -> io::Result<()> {
    let text = description.as_bytes();
    assert!(text.len() + 16 <= HEADER_BYTES, "the description of a drive fits into the header");
    file.write_all_at(text, 16)?;
    file.write_all_at(&(text.len() as u64).to_le_bytes(), 8)?;
    file.write_all_at(MAGIC, 0)?;
    file.sync_data()
}

/// Whether there is anything but a hole after `start`.
fn has_data_behind(file: &File, start: usize) -> io::Result<bool> {
    // SAFETY: a system call on an open file.
    let found = unsafe { libc::lseek(file.as_raw_fd(), start as i64, libc::SEEK_DATA) };
    if found >= 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ENXIO) { Ok(false) } else { Err(error) }
}

#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[inline]
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
pub(in crate::nand) mod tests {
    use super::*;

    /// A small shape for tests.
    pub const SHAPE: Shape = Shape {
        unit_bytes: 512,
        logical_units: 40,
        erase_units: 4,
        units_per_erase_unit: 16,
        units_in_slc_mode: 0,
        group_units: 4,
        group_units_in_slc_mode: 4,
        units_per_stripe: 0,
        dies: 1,
        slots_per_unit: 0,
    };

    #[test]
    fn an_erase_makes_spare_bytes_old() {
        let mut medium = Medium::in_memory(SHAPE, 0).unwrap();
        let spare = Spare { lpn: 7, state: PageState::Programmed, version: 3 };
        medium.set_spare(17, spare);
        assert_eq!(medium.spare(17), spare);
        assert_eq!(medium.spare(16), Spare::ERASED);
        medium.replace_data(17).unwrap().fill(7);
        medium.erase(1);
        assert_eq!(medium.data(17), [0; 512]);
        assert_eq!(medium.spare(17), Spare::ERASED);
    }

    #[test]
    fn tables_do_not_overlap() {
        let mut medium = Medium::in_memory(SHAPE, 100).unwrap();
        for ppn in 0..SHAPE.physical_units() {
            medium.replace_data(ppn).unwrap().fill(0xff);
        }
        medium.system_mut().fill(0xff);
        assert!((0..SHAPE.physical_units()).all(|ppn| medium.spare(ppn) == Spare::ERASED));
        assert!((0..4).all(|erase_unit| medium.record(erase_unit) == EraseUnitRecord::default()));
    }

    fn single((mut mediums, is_old): (Vec<Medium>, bool)) -> (Medium, bool) {
        assert_eq!(mediums.len(), 1);
        (mediums.remove(0), is_old)
    }

    #[test]
    fn devices_in_one_file_do_not_overlap() {
        let path = std::env::temp_dir().join(format!("ssdlab-medium-devices-{}", std::process::id()));
        // The first ends within a page.
        let odd = Shape { unit_bytes: 512, ..SHAPE };
        let open = || Medium::in_file(&path, &[(odd, 100), (SHAPE, 0), (SHAPE, 0)], "three").unwrap();
        let (mut mediums, _) = open();
        for (device, medium) in mediums.iter_mut().enumerate() {
            medium.memory.fill(device as u8 + 1);
        }
        drop(mediums);
        let length = std::fs::metadata(&path).unwrap().len();
        let (mediums, is_old) = open();
        assert!(is_old, "the header is whole");
        for (device, medium) in mediums.iter().enumerate() {
            assert!(medium.memory[medium.payload_at..].iter().all(|&byte| byte == device as u8 + 1));
        }
        let last = mediums[2].file.as_ref().unwrap().begins_at + mediums[2].bytes() as u64;
        assert_eq!(length, last);
        drop(mediums);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_of_another_drive_is_refused() {
        let path = std::env::temp_dir().join(format!("ssdlab-medium-{}", std::process::id()));
        let open = |description: &str| Medium::in_file(&path, &[(SHAPE, 0)], description).map(single);
        let (mut medium, is_old) = open("one").unwrap();
        assert!(!is_old);
        assert!(open("one").is_err_and(|error| error.to_string().contains("another process")));
        medium.replace_data(3).unwrap().fill(9);
        medium.set_spare(3, Spare { lpn: 1, state: PageState::Programmed, version: 1 });
        drop(medium);
        let (medium, is_old) = open("one").unwrap();
        assert!(is_old && medium.data(3) == [9; 512]);
        drop(medium);
        assert!(open("two").is_err_and(|error| error.to_string().contains("another description")));
        std::fs::remove_file(path).unwrap();
    }

    /// A disk image with exactly the drive's length, given by mistake, was once overwritten by a new drive.
    #[test]
    fn a_file_that_is_no_drive_is_left_as_it_is() {
        let path = std::env::temp_dir().join(format!("ssdlab-medium-foreign-{}", std::process::id()));
        let length = HEADER_BYTES + Medium::cut(SHAPE, 0).bytes();
        for at in [0, 1000, length - 1] {
            let mut foreign = vec![0; length];
            foreign[at] = 1;
            std::fs::write(&path, &foreign).unwrap();
            let refused = Medium::in_file(&path, &[(SHAPE, 0)], "one").map(|_| ());
            assert!(refused.is_err_and(|error| error.to_string().contains("would be overwritten")), "byte {at}");
            assert!(std::fs::read(&path).unwrap() == foreign, "byte {at}");
        }
        std::fs::remove_file(path).unwrap();
    }

    /// A regression: a file whose tables had their space, but which had no header yet, was refused from then on.
    #[test]
    fn a_drive_whose_creation_was_interrupted_is_created() {
        let path = std::env::temp_dir().join(format!("ssdlab-medium-interrupted-{}", std::process::id()));
        let open = || Medium::in_file(&path, &[(SHAPE, 0)], "one").map(|(_, is_old)| is_old);
        assert!(!open().unwrap());
        let complete = std::fs::read(&path).unwrap();
        // Before the first write it is a single hole.
        std::fs::remove_file(&path).unwrap();
        File::create(&path).unwrap().set_len(complete.len() as u64).unwrap();
        assert!(!open().unwrap());
        // Up to the description, up to the mark.
        for written in [8, 18] {
            let file = OpenOptions::new().write(true).open(&path).unwrap();
            file.write_all_at(BEGUN, 0).unwrap();
            file.write_all_at(&vec![0; HEADER_BYTES - written], written as u64).unwrap();
            assert!(!open().unwrap(), "{written} bytes written");
            assert!(std::fs::read(&path).unwrap() == complete);
        }
        assert!(open().unwrap());
        std::fs::remove_file(path).unwrap();
    }
}
