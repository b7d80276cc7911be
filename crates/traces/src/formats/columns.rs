//! Text with columns of the user's own, such as `blkparse -f` prints: the caller names them, in order.
//!
//! Separators are commas and semicolons, or blanks and tabs: whichever reads more of the first lines. Between blanks,
//! `2048+8` is two columns. A line whose first character is no digit before the first request is a header. The operation
//! is a word (`Read`, `W`), or the kernel's RWBS (`WS`), or a value that the caller gives: `write=1` for a column in which
//! 1 is a write and anything else a read. What all requests share has no column: `op=write`, `bytes=4096`.

use std::str::FromStr;

use super::rwbs::{self, Rwbs};
use super::{Decode, Event, SECTOR_BYTES};
use crate::cursor::{Cursor, NS_PER_MS, NS_PER_S, NS_PER_US};
use crate::error::TraceError;
use crate::recognition::{Likeness, lines};
use crate::record::Operation;
use crate::volumes::Volumes;

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// A time in units of this many nanoseconds.
    Time(u64),
    Operation,
    /// A value: the first operation if it is this one, otherwise the second.
    OperationBy(Box<[u8]>, Operation, Operation),
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
    /// The operation of all requests, if no column says it.
    operation: Option<Rwbs>,
    /// The length of all requests, if no column says it.
    length_bytes: Option<u64>,
    /// Blanks stand between the fields, though the lines may have commas in them.
    is_by_blanks: bool,
    has_requests: bool,
}

impl FromStr for Columns {
    type Err = TraceError;

    /// Reads names with commas between, such as `time,op,sector,sectors`.
    fn from_str(text: &str) -> Result<Self, TraceError> {
        let wrong = |problem: String| TraceError::Columns { given: text.to_owned(), problem };
        let mut found = Columns::default();
        for name in text.split(',').map(str::trim) {
            let is_new = match name.split_once('=') {
                None => {
                    let known = NAMES.iter().find(|(known, _)| *known == name);
                    let Some((_, column)) = known else { return Err(wrong(format!("there is no column `{name}`"))) };
                    found.add(column.clone())
                }
                Some((kind, value)) => found.add_with_value(kind.trim(), value.trim()).map_err(wrong)?,
            };
            if !is_new {
                return Err(wrong(format!("`{name}` says again what a column before it says")));
            }
        }
        if !found.has_operation() {
            return Err(wrong(
                "op is missing: without it nobody knows what is read and what is written; op=write if all requests are \
                 writes"
                    .to_owned(),
            ));
        }
        if !found.columns.iter().any(|column| matches!(column, Column::Start(_))) || !found.has_length() {
            return Err(wrong("one of sector, offset and one of sectors, bytes are needed".to_owned()));
        }
        Ok(found)
    }
}

impl Columns {
    fn has_operation(&self) -> bool {
        let is_one = |column: &Column| matches!(column, Column::Operation | Column::OperationBy(..));
        self.operation.is_some() || self.columns.iter().any(is_one)
    }

    fn has_length(&self) -> bool {
        self.length_bytes.is_some() || self.columns.iter().any(|column| matches!(column, Column::Length(_)))
    }

    /// Adds a column; false if what it says is known already.
    fn add(&mut self, column: Column) -> bool {
        let is_same = |other: &Column| std::mem::discriminant(other) == std::mem::discriminant(&column);
        let is_new = match column {
            Column::Other => true,
            Column::Operation | Column::OperationBy(..) => !self.has_operation(),
            Column::Length(_) => !self.has_length(),
            _ => !self.columns.iter().any(is_same),
        };
        if is_new {
            self.columns.push(column);
        }
        is_new
    }

    /// Adds `write=VALUE` or `read=VALUE`, a column, or what all requests share; false if it is known already.
    fn add_with_value(&mut self, kind: &str, value: &str) -> Result<bool, String> {
        let by = |equal, other| Column::OperationBy(value.as_bytes().to_ascii_lowercase().into(), equal, other);
        let unit_bytes = match kind {
            "write" => return Ok(self.add(by(Operation::Write, Operation::Read))),
            "read" => return Ok(self.add(by(Operation::Read, Operation::Write))),
            "op" => {
                let is_new = !self.has_operation();
                self.operation = Some(operation(value.as_bytes()).map_err(|_| format!("there is no op `{value}`"))?);
                return Ok(is_new);
            }
            "sectors" => SECTOR_BYTES,
            "bytes" => 1,
            _ => return Err(format!("there is no column `{kind}` with a value")),
        };
        let is_new = !self.has_length();
        let length_bytes = scaled(Cursor::new(value.as_bytes()), unit_bytes);
        self.length_bytes = Some(length_bytes.ok_or_else(|| format!("`{value}` is no whole number"))?);
        Ok(is_new)
    }
}

impl Decode for Columns {
    fn prepare(&mut self, head: &[u8]) {
        let mut readable = |is_by_blanks| {
            self.is_by_blanks = is_by_blanks;
            let mut volumes = Volumes::default();
            lines(head, true).filter(|line| self.read(line, &mut volumes).is_ok()).count()
        };
        let (by_separators, by_blanks) = (readable(false), readable(true));
        self.is_by_blanks = by_blanks > by_separators;
    }

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
        let mut fields = fields(line, self.is_by_blanks);
        let (mut time_ns, mut rwbs, mut offset_bytes) = (0, self.operation, 0);
        let mut length_bytes = self.length_bytes.unwrap_or(0);
        let mut volume: &[u8] = b"";
        for column in &self.columns {
            let field = fields.next().ok_or("as many columns as --columns names")?;
            let mut cursor = Cursor::new(field);
            match *column {
                Column::Time(unit_ns) => {
                    time_ns = cursor.decimal_ns(unit_ns).filter(|_| cursor.is_done()).ok_or("a time in its column")?;
                }
                Column::Operation => rwbs = Some(operation(field)?),
                Column::OperationBy(ref value, equal, other) => {
                    let operation = if field.eq_ignore_ascii_case(value) { equal } else { other };
                    rwbs = Some(Rwbs::of(operation));
                }
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

const EXPECTED: &str = "read, write, trim, flush or RWBS as the operation (of other values, say which is a write: write=1 in \
                        place of op)";

fn scaled(mut cursor: Cursor, unit_bytes: u64) -> Option<u64> {
    cursor.number().filter(|_| cursor.is_done())?.checked_mul(unit_bytes)
}

fn operation(field: &[u8]) -> Result<Rwbs, &'static str> {
    let of_word = match field.to_ascii_lowercase().as_slice() {
        b"read" | b"r" => Some(Operation::Read),
        b"write" | b"w" => Some(Operation::Write),
        b"trim" | b"discard" | b"unmap" | b"d" => Some(Operation::Trim),
        b"flush" | b"f" => return Ok(Rwbs::flush()),
        _ => None,
    };
    match of_word {
        Some(operation) => Ok(Rwbs::of(operation)),
        None => Rwbs::read(field).map_err(|expected| if expected == rwbs::EXPECTED { EXPECTED } else { expected }),
    }
}

/// The fields of a line: between commas or semicolons if it has any, otherwise between blanks.
fn fields(line: &[u8], is_by_blanks: bool) -> Box<dyn Iterator<Item = &[u8]> + '_> {
    match line.iter().find(|&&byte| byte == b',' || byte == b';') {
        Some(&separator) if !is_by_blanks => {
            Box::new(line.split(move |&byte| byte == separator).map(<[u8]>::trim_ascii))
        }
        _ => Box::new(line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).flat_map(extent)),
    }
}

/// `2048+8` is a place and a length; any other field is itself.
fn extent(field: &[u8]) -> impl Iterator<Item = &[u8]> {
    let at = memchr::memchr(b'+', field).filter(|&at| {
        let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
        is_number(&field[..at]) && is_number(&field[at + 1..])
    });
    let (first, second) = at.map_or((field, None), |at| (&field[..at], Some(&field[at + 1..])));
    std::iter::once(first).chain(second)
}

/// What `--columns` would be for a table with this head, for a message: names are guessed, units where they say them.
pub(crate) fn of_head(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?.trim_start_matches(['#', ' ']).to_ascii_lowercase();
    let has_separator = text.contains([',', ';']);
    let is_between = |character: char| {
        if has_separator { matches!(character, ',' | ';') } else { character.is_ascii_whitespace() }
    };
    let words = text.split(is_between).map(|word| word.trim().trim_matches('"')).filter(|word| !word.is_empty());
    let mut names: Vec<&str> = words.map(column_of_head).collect();
    for index in 0..names.len() {
        if names[index] != "-" && names[..index].contains(&names[index]) {
            names[index] = "-";
        }
    }
    let has = |wanted: &[&str]| names.iter().any(|name| wanted.contains(name));
    if !has(&["sector", "offset"]) || !has(&["sectors", "bytes"]) {
        return None;
    }
    let more = if has(&["op"]) { "" } else { ",op=write" };
    Some(format!("{}{more}", names.join(",")))
}

/// The column that a head's word in lower case names, or `-`.
fn column_of_head(word: &str) -> &'static str {
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    match word {
        _ if has(&["latency", "elapsed", "response", "duration", "wait"]) => "-",
        "ts" | "t" => "time",
        _ if has(&["time"]) && has(&["_us", "(us", "micro"]) => "time_us",
        _ if has(&["time"]) && has(&["_ms", "(ms", "milli"]) => "time_ms",
        _ if has(&["time"]) && has(&["_ns", "(ns", "nano"]) => "time_ns",
        _ if has(&["time"]) => "time",
        "rw" | "op" | "io" | "r/w" | "d" | "cmd" | "command" => "op",
        _ if has(&["type", "operation", "opcode", "direction"]) => "op",
        _ if has(&["sectors", "blocks"]) => "sectors",
        _ if has(&["offset"]) => "offset",
        "lbn" | "lba" | "slba" => "sector",
        _ if has(&["sector", "block"]) => "sector",
        "len" | "bytes" => "bytes",
        _ if has(&["size", "length"]) => "bytes",
        "dev" | "lun" => "volume",
        _ if has(&["disk", "device", "volume"]) => "volume",
        _ => "-",
    }
}
