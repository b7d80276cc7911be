//! The negotiation of a connection: what the server offers, and which export the client takes. There is one export.

use super::protocol::{self, info, option, reply, transmission};
use crate::device::Capabilities;
use std::io::{self, Read, Write};

/// Legitimate clients send no longer options.
const OPTION_BYTES_MAX: u32 = 1 << 16;

/// What client and server agreed on in addition to the export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    pub structured_replies: bool,
    /// Whether the client has selected `base:allocation`.
    pub block_status: bool,
}

/// What the server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub capabilities: Capabilities,
    /// Whether a client may use more than one connection at a time.
    pub many_connections: bool,
}

/// None if the client does not continue with requests.
pub fn negotiate(reader: &mut impl Read, writer: &mut impl Write, offer: &Offer) -> io::Result<Option<Agreed>> {
    let mut greeting = Vec::new();
    greeting.extend_from_slice(&protocol::MAGIC.to_be_bytes());
    greeting.extend_from_slice(&protocol::OPTION_MAGIC.to_be_bytes());
    greeting.extend_from_slice(&(protocol::FLAG_FIXED_NEWSTYLE | protocol::FLAG_NO_ZEROES).to_be_bytes());
    writer.write_all(&greeting)?;
    let client_flags = u32::from_be_bytes(read(reader)?);
    if client_flags & !u32::from(protocol::FLAG_FIXED_NEWSTYLE | protocol::FLAG_NO_ZEROES) != 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the client has flags that the server does not know"));
    }
    let has_no_zeroes = client_flags & u32::from(protocol::FLAG_NO_ZEROES) != 0;
    let mut agreed = Agreed::default();
    loop {
        let (number, data) = read_option(reader)?;
        match number {
            option::EXPORT_NAME if !data.is_empty() => return Ok(None),
            option::EXPORT_NAME => {
                let mut export = export(offer)[2..].to_vec();
                export.resize(if has_no_zeroes { 10 } else { 10 + 124 }, 0);
                writer.write_all(&export)?;
                return Ok(Some(agreed));
            }
            option::ABORT => {
                answer(writer, number, reply::ACK, &[])?;
                return Ok(None);
            }
            option::LIST if data.is_empty() => {
                // One export, with an empty name: only its length is reported.
                answer(writer, number, reply::SERVER, &0u32.to_be_bytes())?;
                answer(writer, number, reply::ACK, &[])?;
            }
            option::STRUCTURED_REPLY if data.is_empty() => {
                agreed.structured_replies = true;
                answer(writer, number, reply::ACK, &[])?;
            }
            option::LIST | option::STRUCTURED_REPLY => answer(writer, number, reply::INVALID, b"it takes no data")?,
            option::INFO | option::GO => {
                if describe(writer, number, &data, offer)? && number == option::GO {
                    return Ok(Some(agreed));
                }
            }
            option::LIST_META_CONTEXT => {
                name_contexts(writer, number, &data, agreed)?;
            }
            option::SET_META_CONTEXT => agreed.block_status = name_contexts(writer, number, &data, agreed)?,
            _ => answer(writer, number, reply::UNSUPPORTED, &[])?,
        }
    }
}

fn read<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The next option's number and data.
fn read_option(reader: &mut impl Read) -> io::Result<(u32, Vec<u8>)> {
    if u64::from_be_bytes(read(reader)?) != protocol::OPTION_MAGIC {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not an NBD client"));
    }
    let number = u32::from_be_bytes(read(reader)?);
    let length = u32::from_be_bytes(read(reader)?);
    if length > OPTION_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "an option of the client is too long"));
    }
    // Grows as data arrives, whatever length the client has announced.
    let mut data = Vec::new();
    reader.take(u64::from(length)).read_to_end(&mut data)?;
    if data.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((number, data))
}

fn answer(writer: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(20 + data.len());
    bytes.extend_from_slice(&protocol::OPTION_REPLY_MAGIC.to_be_bytes());
    bytes.extend_from_slice(&option.to_be_bytes());
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    writer.write_all(&bytes)
}

/// Answers INFO and GO; returns whether the client takes the export.
fn describe(writer: &mut impl Write, option: u32, data: &[u8], offer: &Offer) -> io::Result<bool> {
    let mut words = Words(data);
    let asked = words.string().and_then(|name| {
        let infos = words.count_of::<2>()?;
        words.take(2 * infos)?;
        words.0.is_empty().then_some(name)
    });
    match asked {
        None => answer(writer, option, reply::INVALID, &[])?,
        Some(b"") => {
            answer(writer, option, reply::INFO, &export(offer))?;
            answer(writer, option, reply::INFO, &block_sizes(offer))?;
            answer(writer, option, reply::ACK, &[])?;
        }
        Some(_) => answer(writer, option, reply::UNKNOWN, UNKNOWN_EXPORT)?,
    }
    Ok(asked == Some(b""))
}

const UNKNOWN_EXPORT: &[u8] = b"there is one export, whose name is empty";

/// Answers `LIST_META_CONTEXT` and `SET_META_CONTEXT`; returns whether `base:allocation` is among the queries.
fn name_contexts(writer: &mut impl Write, option: u32, data: &[u8], agreed: Agreed) -> io::Result<bool> {
    let is_list = option == option::LIST_META_CONTEXT;
    let queries = match queries(data) {
        Some((b"", queries)) if agreed.structured_replies => queries,
        Some((b"", _)) => {
            return answer(writer, option, reply::INVALID, b"structured replies come first").map(|()| false);
        }
        Some(_) => return answer(writer, option, reply::UNKNOWN, UNKNOWN_EXPORT).map(|()| false),
        None => return answer(writer, option, reply::INVALID, &[]).map(|()| false),
    };
    let is_meant = |query: &&[u8]| *query == protocol::ALLOCATION.as_bytes() || is_list && *query == b"base:";
    let is_chosen = queries.iter().any(is_meant) || is_list && queries.is_empty();
    if is_chosen {
        let id = if is_list { 0 } else { protocol::ALLOCATION_ID };
        answer(writer, option, reply::META_CONTEXT, &[&id.to_be_bytes(), protocol::ALLOCATION.as_bytes()].concat())?;
    }
    answer(writer, option, reply::ACK, &[])?;
    Ok(is_chosen)
}

/// The export's name and the queries of an option about metadata contexts.
fn queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let mut words = Words(data);
    let name = words.string()?;
    let count = words.count_of::<4>()?;
    // Ends with the data, whatever the count is.
    let queries: Vec<&[u8]> = (0..count).map_while(|_| words.string()).collect();
    (queries.len() == count && words.0.is_empty()).then_some((name, queries))
}

/// The rest of an option's data. Reading past its end gives None.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of N bytes.
    fn count_of<const N: usize>(&mut self) -> Option<usize> {
        Some(self.take(N)?.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
    }

    /// A string behind its length.
    fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.count_of::<4>()?;
        self.take(length)
    }
}

/// Kind, size and flags, as in INFO.
fn export(offer: &Offer) -> Vec<u8> {
    let mut flags =
        transmission::HAS_FLAGS | transmission::SEND_FLUSH | transmission::SEND_FUA | transmission::SEND_WRITE_ZEROES;
    if offer.many_connections {
        flags |= transmission::CAN_MULTI_CONNECT;
    }
    if offer.capabilities.trims {
        flags |= transmission::SEND_TRIM;
    }
    let mut bytes = info::EXPORT.to_be_bytes().to_vec();
    bytes.extend_from_slice(&offer.capabilities.size_bytes.to_be_bytes());
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes
}

/// Any request is served; whole mapping units are the most efficient. The protocol has no preferred size below 512
/// bytes.
fn block_sizes(offer: &Offer) -> Vec<u8> {
    let mut bytes = info::BLOCK_SIZE.to_be_bytes().to_vec();
    for size in [1, offer.capabilities.unit_bytes.max(512), protocol::REQUEST_BYTES_MAX] {
        bytes.extend_from_slice(&size.to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: Offer = Offer {
        capabilities: Capabilities { size_bytes: 1 << 20, unit_bytes: 4096, trims: true, has_volatile_cache: false },
        many_connections: true,
    };
    const SELECT: &[u8] = b"\0\0\0\0\0\0\0\x01\0\0\0\x0fbase:allocation";

    /// The result for a client that sends these options, and the bytes it receives.
    fn talk(options: &[(u32, &[u8])]) -> (io::Result<Option<Agreed>>, Vec<u8>) {
        let mut says = 3u32.to_be_bytes().to_vec();
        for (number, data) in options {
            says.extend_from_slice(&protocol::OPTION_MAGIC.to_be_bytes());
            says.extend_from_slice(&number.to_be_bytes());
            says.extend_from_slice(&(data.len() as u32).to_be_bytes());
            says.extend_from_slice(data);
        }
        let mut hears = Vec::new();
        (negotiate(&mut &says[..], &mut hears, &OFFER), hears)
    }

    /// The kinds of the replies, in their order.
    fn kinds(hears: &[u8]) -> Vec<u32> {
        let (mut kinds, mut rest) = (Vec::new(), &hears[18..]);
        while let Some((head, data)) = rest.split_at_checked(20) {
            assert_eq!(head[..8], protocol::OPTION_REPLY_MAGIC.to_be_bytes());
            kinds.push(u32::from_be_bytes(head[12..16].try_into().unwrap()));
            rest = &data[u32::from_be_bytes(head[16..].try_into().unwrap()) as usize..];
        }
        assert!(rest.is_empty());
        kinds
    }

    #[test]
    fn a_client_takes_the_export_or_leaves_it() {
        let plain = Some(Agreed::default());
        assert_eq!(talk(&[(99, b"?"), (option::LIST, b""), (option::GO, &[0; 6])]).0.unwrap(), plain);
        assert_eq!(talk(&[(option::ABORT, b"")]).0.unwrap(), None);
        assert!(talk(&[(option::GO, &[0, 0, 0, 1, b'x', 0, 0])]).0.is_err(), "an unknown name, and then silence");
        let (taken, heard) = talk(&[(option::EXPORT_NAME, b"")]);
        assert_eq!(taken.unwrap(), plain);
        assert_eq!(heard.len(), 18 + 10);
        assert_eq!(heard[18..26], (1u64 << 20).to_be_bytes());
    }

    #[test]
    fn block_status_takes_structured_replies_and_the_one_context() {
        let structured = (option::STRUCTURED_REPLY, &b""[..]);
        let go = (option::GO, &[0; 6][..]);
        let (agreed, hears) = talk(&[structured, (option::SET_META_CONTEXT, SELECT), go]);
        assert_eq!(agreed.unwrap(), Some(Agreed { structured_replies: true, block_status: true }));
        assert_eq!(kinds(&hears)[..3], [reply::ACK, reply::META_CONTEXT, reply::ACK]);

        let (agreed, hears) = talk(&[(option::SET_META_CONTEXT, SELECT), structured, go]);
        assert_eq!(agreed.unwrap(), Some(Agreed { structured_replies: true, block_status: false }));
        assert_eq!(kinds(&hears)[..2], [reply::INVALID, reply::ACK]);

        // The last option to select counts, even if it selects nothing.
        let nothing = (option::SET_META_CONTEXT, &[0; 8][..]);
        let (agreed, _) = talk(&[structured, (option::SET_META_CONTEXT, SELECT), nothing, go]);
        assert!(!agreed.unwrap().unwrap().block_status);

        let list = |queries: &'static [u8]| kinds(&talk(&[structured, (option::LIST_META_CONTEXT, queries)]).1);
        assert_eq!(list(&[0; 8])[1..], [reply::META_CONTEXT, reply::ACK], "all that there are");
        assert_eq!(list(b"\0\0\0\0\0\0\0\x01\0\0\0\x05base:")[1..], [reply::META_CONTEXT, reply::ACK]);
        assert_eq!(list(b"\0\0\0\0\0\0\0\x01\0\0\0\x05qemu:")[1..], [reply::ACK]);
        assert_eq!(list(b"\0\0\0\x01x\0\0\0\0")[1..], [reply::UNKNOWN]);
        assert_eq!(list(b"\0\0\0\0\xff\xff\xff\xff")[1..], [reply::INVALID]);
    }

    #[test]
    fn nonsense_ends_the_connection() {
        assert!(talk(&[(option::GO, b"abc"), (option::GO, &[0xff; 8])]).0.is_err());
        assert!(negotiate(&mut &[0; 100][..], &mut Vec::new(), &OFFER).is_err(), "no magic number");
        assert!(negotiate(&mut &[0xff; 100][..], &mut Vec::new(), &OFFER).is_err(), "unknown flags");
    }
}
