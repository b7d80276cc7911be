//! Files with the state of a drive: an identifying line, then under zstd with a checksum the description of the drive
//! as JSON, and the engine's data.

use crate::errors::refuse;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use ssdlab_engine::error::SpecificationError;
use ssdlab_engine::simulation::{InitialState, Run, StateError};
use ssdlab_engine::specification::Drive;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::time::{SystemTime, UNIX_EPOCH};

const MAGIC: &str = concat!("ssdlab-state ", env!("CARGO_PKG_VERSION"), "\n");
const FIRST_WORD: &[u8] = b"ssdlab-state ";
const LEVEL: i32 = 3;

/// Starts a run as `start` does, on a new drive or from the state in a file, which may be of a drive with erase units
/// smaller by a whole factor.
pub fn begin(
    py: Python<'_>,
    drive: &Drive,
    from: Option<(String, u32)>,
    start: impl FnOnce(Option<InitialState<'_>>) -> Result<Box<dyn Run>, SpecificationError> + Send,
) -> PyResult<Box<dyn Run>> {
    let Some((path, times)) = from else {
        return py.detach(|| start(None)).map_err(refuse);
    };
    py.detach(|| opened(&path, drive, times, start)).map_err(|message| {
        let message = format!("{path}: {message}");
        refuse(SpecificationError::new("state", message, "a state that this version saved of this drive"))
    })
}

fn opened(
    path: &str,
    drive: &Drive,
    times: u32,
    start: impl FnOnce(Option<InitialState<'_>>) -> Result<Box<dyn Run>, SpecificationError>,
) -> Result<Box<dyn Run>, String> {
    let mut file = BufReader::new(File::open(path).map_err(|error| error.to_string())?);
    let mut magic = vec![0; MAGIC.len()];
    let read = file.read(&mut magic).map_err(|error| error.to_string())?;
    if !magic[..read].starts_with(FIRST_WORD) {
        return Err("it is no saved state of a drive".into());
    }
    if magic[..read] != *MAGIC.as_bytes() {
        let other = String::from_utf8_lossy(&magic[FIRST_WORD.len()..read]);
        let other = other.split_whitespace().next().unwrap_or_default();
        return Err(format!("it was saved by version {other}, and this is {}", env!("CARGO_PKG_VERSION")));
    }
    let mut input = zstd::stream::read::Decoder::new(file).map_err(|error| error.to_string())?;
    check_drive(&mut input, drive, times)?;
    let run = start(Some(InitialState { input: &mut input, times }))
        .map_err(|error| if error.key == "state" { error.value } else { error.to_string() })?;
    // The checksum is at the very end.
    io::copy(&mut input, &mut io::sink()).map_err(|error| format!("the state is damaged: {error}"))?;
    Ok(run)
}

/// The drive must be identical; of one with smaller erase units only the sizes may differ.
fn check_drive(input: &mut impl Read, drive: &Drive, times: u32) -> Result<(), String> {
    let damaged = |error: &dyn std::fmt::Display| format!("the state is damaged: {error}");
    let mut length = [0; 8];
    input.read_exact(&mut length).map_err(|error| damaged(&error))?;
    let mut text = Vec::new();
    input.take(u64::from_le_bytes(length).min(1 << 20)).read_to_end(&mut text).map_err(|error| damaged(&error))?;
    let saved: serde_json::Value = serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
    let own = serde_json::to_value(drive).expect("a drive becomes JSON");
    match first_difference("", &saved, &own, times > 1) {
        None => Ok(()),
        Some((key, saved, own)) => Err(format!("the state is of another drive: {key} was {saved}, and is {own}")),
    }
}

fn first_difference(
    key: &str,
    saved: &serde_json::Value,
    own: &serde_json::Value,
    is_magnified: bool,
) -> Option<(String, String, String)> {
    // The last two are reduced with the erase units, and act only on a drive with a clock.
    let of_size = [
        "nand.pages_per_block",
        "nand.erase_us",
        "nand.erases_at_once",
        "ftl.user_bytes",
        "ftl.reserved_bytes",
        "background.erased_pool_bytes",
        "ftl.gc_throttling",
    ];
    if is_magnified && of_size.contains(&key) {
        return None;
    }
    match (saved.as_object(), own.as_object()) {
        (Some(saved), Some(own)) if saved.len() == own.len() => own.iter().find_map(|(name, value)| {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            first_difference(&key, saved.get(name).unwrap_or(&serde_json::Value::Null), value, is_magnified)
        }),
        _ if saved == own => None,
        _ => Some((key.to_owned(), saved.to_string(), own.to_string())),
    }
}

/// Saves the state of the drive at the end of a run. The file appears whole or not at all. Errors of the system, such
/// as a full disk, are an `OSError` with the file's name.
pub fn save(py: Python<'_>, run: &mut dyn Run, drive: &Drive, path: &str) -> PyResult<()> {
    py.detach(|| written_aside(run, drive, path)).map_err(|error| match error {
        StateError::Io(error) if error.raw_os_error().is_some() => {
            let reason = error.to_string();
            let reason = reason.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((error.raw_os_error(), reason, path.to_owned()))
        }
        other => {
            let message = format!("{path}: {other}");
            refuse(SpecificationError::new("state", message, "a place where it can be written"))
        }
    })
}

/// Writes to a new file in the folder of the path, and renames it to the path.
fn written_aside(run: &mut dyn Run, drive: &Drive, path: &str) -> Result<(), StateError> {
    // A name that cannot be guessed, and a new file: a link created by somebody else is not followed.
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let aside = format!("{path}.{}-{nanoseconds:x}.writing", std::process::id());
    let file = File::create_new(&aside)?;
    let moved = written(run, drive, file).and_then(|()| Ok(std::fs::rename(&aside, path)?));
    if moved.is_err() {
        let _ = std::fs::remove_file(&aside);
    }
    moved
}

fn written(run: &mut dyn Run, drive: &Drive, file: File) -> Result<(), StateError> {
    let mut file = BufWriter::new(file);
    file.write_all(MAGIC.as_bytes())?;
    let mut out = zstd::stream::write::Encoder::new(file, LEVEL)?;
    out.include_checksum(true)?;
    let text = serde_json::to_vec(drive).expect("a drive becomes JSON");
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(&text)?;
    run.save_state(&mut out)?;
    out.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(())
}
