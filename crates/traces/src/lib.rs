//! Readers of block-trace formats: any known format in, plain or compressed, one record type out, in constant memory.
//!
//! [`Reader`] reads, [`Format`] lists what it knows, [`Profile`] sums a trace up. Nothing here opens files, chooses
//! volumes or maps addresses: the source is any [`std::io::Read`], and the caller decides what to do with the records.

mod compression;
mod cursor;
mod error;
mod formats;
mod input;
pub mod passes;
pub mod profile;
mod reader;
mod recognition;
mod record;
mod volumes;

pub use error::{PieceKind, TraceError};
pub use formats::{Columns, Format};
pub use profile::{Profile, ProfileReport};
pub use reader::{Earlier, ReadOptions, Reader};
pub use record::{Operation, Record};
