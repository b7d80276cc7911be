//! The first words of a connection: what the server offers, and which export the client takes. There is one.

use super::protocol::{self, info, option, reply, transmission};
use crate::device::Capabilities;
use std::io::{self, Read, Write};

/// Longer options are no honest client's.
const OPTION_BYTES_MAX: u32 = 1 << 16;

/// Returns whether the client goes on to send requests.
pub fn negotiate(stream: &mut (impl Read + Write), capabilities: &Capabilities) -> io::Result<bool> {
    let mut greeting = Vec::new();
    greeting.extend_from_slice(&protocol::MAGIC.to_be_bytes());
    greeting.extend_from_slice(&protocol::OPTION_MAGIC.to_be_bytes());
    greeting.extend_from_slice(&(protocol::FLAG_FIXED_NEWSTYLE | protocol::FLAG_NO_ZEROES).to_be_bytes());
    stream.write_all(&greeting)?;
    let client_flags = u32::from_be_bytes(read(stream)?);
    let no_zeroes = client_flags & u32::from(protocol::FLAG_NO_ZEROES) != 0;
    loop {
        if u64::from_be_bytes(read(stream)?) != protocol::OPTION_MAGIC {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not an NBD client"));
        }
        let number = u32::from_be_bytes(read(stream)?);
        let length = u32::from_be_bytes(read(stream)?);
        if length > OPTION_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an option of the client is too long"));
        }
        let mut data = vec![0; length as usize];
        stream.read_exact(&mut data)?;
        match number {
            option::EXPORT_NAME if !data.is_empty() => return Ok(false),
            option::EXPORT_NAME => {
                let mut export = export(capabilities)[2..].to_vec();
                export.resize(if no_zeroes { 10 } else { 10 + 124 }, 0);
                stream.write_all(&export)?;
                return Ok(true);
            }
            option::ABORT => {
                answer(stream, number, reply::ACK, &[])?;
                return Ok(false);
            }
            option::LIST => {
                // One export, whose name is empty: its length is all there is to say.
                answer(stream, number, reply::SERVER, &0u32.to_be_bytes())?;
                answer(stream, number, reply::ACK, &[])?;
            }
            option::INFO | option::GO => match asks_for_the_default(&data) {
                None => answer(stream, number, reply::INVALID, &[])?,
                Some(false) => answer(stream, number, reply::UNKNOWN, b"there is one export, whose name is empty")?,
                Some(true) => {
                    answer(stream, number, reply::INFO, &export(capabilities))?;
                    answer(stream, number, reply::INFO, &block_sizes(capabilities))?;
                    answer(stream, number, reply::ACK, &[])?;
                    if number == option::GO {
                        return Ok(true);
                    }
                }
            },
            _ => answer(stream, number, reply::UNSUPPORTED, &[])?,
        }
    }
}

fn read<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn answer(stream: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(20 + data.len());
    bytes.extend_from_slice(&protocol::OPTION_REPLY_MAGIC.to_be_bytes());
    bytes.extend_from_slice(&option.to_be_bytes());
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    stream.write_all(&bytes)
}

/// Whether the name that INFO or GO bring is the empty one; nothing if they bring no name.
fn asks_for_the_default(data: &[u8]) -> Option<bool> {
    let length = u32::from_be_bytes(data.get(..4)?.try_into().ok()?) as usize;
    let name = data.get(4..4usize.checked_add(length)?)?;
    Some(name.is_empty())
}

/// Kind, size and flags, as INFO has them.
fn export(capabilities: &Capabilities) -> Vec<u8> {
    let mut flags = transmission::HAS_FLAGS
        | transmission::SEND_FLUSH
        | transmission::SEND_FUA
        | transmission::SEND_WRITE_ZEROES
        | transmission::CAN_MULTI_CONNECT;
    if capabilities.trims {
        flags |= transmission::SEND_TRIM;
    }
    let mut bytes = info::EXPORT.to_be_bytes().to_vec();
    bytes.extend_from_slice(&capabilities.size_bytes.to_be_bytes());
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes
}

/// Any request is served; whole mapping units are served best.
fn block_sizes(capabilities: &Capabilities) -> Vec<u8> {
    let mut bytes = info::BLOCK_SIZE.to_be_bytes().to_vec();
    for size in [1, capabilities.unit_bytes, protocol::REQUEST_BYTES_MAX] {
        bytes.extend_from_slice(&size.to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    const CAPABILITIES: Capabilities =
        Capabilities { size_bytes: 1 << 20, unit_bytes: 4096, trims: true, has_volatile_cache: false };

    /// A client that has said all that it will say.
    struct Client {
        says: Cursor<Vec<u8>>,
        hears: Vec<u8>,
    }

    impl Read for Client {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.says.read(into)
        }
    }

    impl Write for Client {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            self.hears.write(data)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn talk(options: &[(u32, &[u8])]) -> (io::Result<bool>, Vec<u8>) {
        let mut says = 3u32.to_be_bytes().to_vec();
        for (number, data) in options {
            says.extend_from_slice(&protocol::OPTION_MAGIC.to_be_bytes());
            says.extend_from_slice(&number.to_be_bytes());
            says.extend_from_slice(&(data.len() as u32).to_be_bytes());
            says.extend_from_slice(data);
        }
        let mut client = Client { says: Cursor::new(says), hears: Vec::new() };
        (negotiate(&mut client, &CAPABILITIES), client.hears)
    }

    #[test]
    fn a_client_takes_the_export_or_leaves_it() {
        assert!(talk(&[(99, b"?"), (option::LIST, b""), (option::GO, &[0; 6])]).0.unwrap());
        assert!(!talk(&[(option::ABORT, b"")]).0.unwrap());
        assert!(talk(&[(option::GO, &[0, 0, 0, 1, b'x', 0, 0])]).0.is_err(), "an unknown name, and then silence");
        let (taken, heard) = talk(&[(option::EXPORT_NAME, b"")]);
        assert!(taken.unwrap());
        assert_eq!(heard.len(), 18 + 10);
        assert_eq!(heard[18..26], (1u64 << 20).to_be_bytes());
    }

    #[test]
    fn nonsense_ends_the_connection() {
        assert!(talk(&[(option::GO, b"abc"), (option::GO, &[0xff; 8])]).0.is_err());
        let mut client = Client { says: Cursor::new(vec![0; 100]), hears: Vec::new() };
        assert!(negotiate(&mut client, &CAPABILITIES).is_err());
    }
}
