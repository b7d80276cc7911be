//! Text with columns of the user's own, such as `blkparse -f` prints: the caller names them, in order.
//!
//! Separators are commas, semicolons, tabs and blanks. A line whose first character is no digit before the first request
//! is a header. The operation is a word (`Read`, `W`), or the kernel's RWBS (`WS`).

use std::str::FromStr;

use super::rwbs::Rwbs;
use super::{Decode, Event, SECTOR_BYTES};
use crate::cursor::{Cursor, NS_PER_MS, NS_PER_S, NS_PER_US};
use crate::error::TraceError;
use crate::recognition::Likeness;
use crate::record::Operation;
use crate::volumes::Volumes;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// A time in units of this many nanoseconds.
    Time(u64),
    Operation,
    /// The start of the request, in units of this many bytes.
    Start(u64),
    /// The length of the request, in units of this many bytes.
    Length(u64),
    Volume,
    /// Anything else.
    Other,
}

const NAMES: [(&str, Column); 11] = [
    ("time", Column::Time(NS_PER_S)),
    ("time_ms", Column::Time(NS_PER_MS)),
    ("time_us", Column::Time(NS_PER_US)),
    ("time_ns", Column::Time(1)),
    ("op", Column::Operation),
    ("sector", Column::Start(SECTOR_BYTES)),
    ("offset", Column::Start(1)),
    ("sectors", Column::Length(SECTOR_BYTES)),
    ("bytes", Column::Length(1)),
    ("volume", Column::Volume),
    ("-", Column::Other),
];

/// The columns of a text, in order. By default there are none, and nothing can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    columns: Vec<Column>,
    has_requests: bool,
}

impl FromStr for Columns {
    type Err = TraceError;

    /// Reads names with commas between, such as `time,op,sector,sectors`.
    fn from_str(text: &str) -> Result<Self, TraceError> {
        let wrong = |problem: String| TraceError::Columns { given: text.to_owned(), problem };
        let mut columns = Vec::new();
        for name in text.split(',').map(str::trim) {
            let known = NAMES.iter().find(|(known, _)| *known == name);
            let Some(&(_, column)) = known else { return Err(wrong(format!("there is no column `{name}`"))) };
            let is_same = |other: &Column| std::mem::discriminant(other) == std::mem::discriminant(&column);
            if column != Column::Other && columns.iter().any(is_same) {
                return Err(wrong(format!("`{name}` says again what a column before it says")));
            }
            columns.push(column);
        }
        let has = |wanted: fn(&Column) -> bool| columns.iter().any(wanted);
        if !has(|column| *column == Column::Operation) {
            return Err(wrong("op is missing: without it nobody knows what is read and what is written".to_owned()));
        }
        if !has(|column| matches!(column, Column::Start(_))) || !has(|column| matches!(column, Column::Length(_))) {
            return Err(wrong("one of sector, offset and one of sectors, bytes are needed".to_owned()));
        }
        Ok(Columns { columns, has_requests: false })
    }
}

impl Decode for Columns {
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        if line.is_empty() {
            return Ok(Event::NotARequest);
        }
        if self.columns.is_empty() {
            return Err("the names of its columns, with --columns");
        }
        match self.read(line, volumes) {
            Err(_) if !self.has_requests && !line.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) => {
                Ok(Event::NotARequest)
            }
            Ok(event) => {
                self.has_requests = true;
                Ok(event)
            }
            Err(expected) => Err(expected),
        }
    }

    fn likeness(_head: &[u8], _is_whole: bool) -> Likeness {
        Likeness::NONE
    }
}

impl Columns {
    fn read(&self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        let mut fields = fields(line);
        let (mut time_ns, mut rwbs, mut offset_bytes, mut length_bytes) = (0, None, 0, 0);
        let mut volume: &[u8] = b"";
        for &column in &self.columns {
            let field = fields.next().ok_or("as many columns as --columns names")?;
            let mut cursor = Cursor::new(field);
            match column {
                Column::Time(unit_ns) => {
                    time_ns = cursor.decimal_ns(unit_ns).filter(|_| cursor.is_done()).ok_or("a time in its column")?;
                }
                Column::Operation => rwbs = Some(operation(field)?),
                Column::Start(unit_bytes) => {
                    offset_bytes = scaled(cursor, unit_bytes).ok_or("a whole number as the start of the request")?;
                }
                Column::Length(unit_bytes) => {
                    length_bytes = scaled(cursor, unit_bytes).ok_or("a whole number as the length of the request")?;
                }
                Column::Volume => volume = field,
                Column::Other => {}
            }
        }
        let rwbs = rwbs.ok_or("an operation")?;
        rwbs.event(time_ns, offset_bytes, length_bytes, || volumes.intern(volume))
    }
}

fn scaled(mut cursor: Cursor, unit_bytes: u64) -> Option<u64> {
    cursor.number().filter(|_| cursor.is_done())?.checked_mul(unit_bytes)
}

fn operation(field: &[u8]) -> Result<Rwbs, &'static str> {
    let of_word = match field.to_ascii_lowercase().as_slice() {
        b"read" | b"r" => Some(Operation::Read),
        b"write" | b"w" => Some(Operation::Write),
        b"trim" | b"discard" | b"unmap" | b"d" => Some(Operation::Trim),
        b"flush" | b"f" => return Ok(Rwbs { has_flush: true, is_through: false, operation: None }),
        _ => None,
    };
    match of_word {
        Some(operation) => Ok(Rwbs { has_flush: false, is_through: false, operation: Some(operation) }),
        None => Rwbs::read(field),
    }
}

/// The fields of a line: between commas or semicolons if it has any, otherwise between blanks.
fn fields(line: &[u8]) -> Box<dyn Iterator<Item = &[u8]> + '_> {
    match line.iter().find(|&&byte| byte == b',' || byte == b';') {
        Some(&separator) => Box::new(line.split(move |&byte| byte == separator).map(<[u8]>::trim_ascii)),
        None => Box::new(line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())),
    }
}
