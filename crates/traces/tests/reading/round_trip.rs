//! Requests written in every text format are read back, whatever the source's pieces; memory stays where it is.

use std::io::Read;

use crate::fixtures::{drain, read_all};
use crate::writers::{Request, header, write_line};
use proptest::prelude::*;
use ssdlab_traces::{Format, Operation, ReadOptions, Reader};

fn any_request() -> impl Strategy<Value = Request> {
    (0..2_000_000_u64, 0..20_u32, any::<bool>(), 0..1_u64 << 40, 1..8_000_000_u32)
        .prop_map(|(time_s, volume, is_write, sector, sectors)| Request { time_s, volume, is_write, sector, sectors })
}

/// A source that gives a few bytes at a time.
struct Trickle(std::io::Cursor<Vec<u8>>, usize);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes_max = buffer.len().min(self.1);
        self.0.read(&mut buffer[..bytes_max])
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_written_is_read(
        requests in prop::collection::vec(any_request(), 1..40),
        piece_bytes in 1..100_usize,
    ) {
        for &format in Format::ALL {
            let mut requests = requests.clone();
            if format == Format::FioIologV2 {
                // Its clock only waits, so it cannot say that a request came before an earlier one.
                requests.sort_by_key(|request| request.time_s);
            }
            let mut text = String::from(header(format));
            if requests.iter().any(|request| write_line(format, request, &mut text).is_none()) {
                continue;
            }
            let source = Trickle(std::io::Cursor::new(text.into_bytes()), piece_bytes);
            let mut reader = Reader::open(source, None, ReadOptions::default()).unwrap();
            prop_assert_eq!(reader.format(), format);
            let records = drain(&mut reader).unwrap();
            prop_assert_eq!(records.len(), requests.len());
            for (record, request) in records.iter().zip(&requests) {
                let seconds = request.time_s.saturating_sub(requests[0].time_s);
                prop_assert_eq!(record.arrival_ns, seconds * 1_000_000_000);
                prop_assert_eq!(record.operation, if request.is_write { Operation::Write } else { Operation::Read });
                prop_assert_eq!(record.offset_bytes, request.sector * 512);
                prop_assert_eq!(u64::from(record.length_bytes), u64::from(request.sectors) * 512);
                let name = &reader.volumes()[record.volume as usize];
                prop_assert!(name.ends_with(&request.volume.to_string()), "{} for {}", name, request.volume);
            }
        }
    }
}

#[test]
fn a_window_may_end_anywhere_in_a_line() {
    // Many windows long, so that lines lie across their borders.
    let mut text = String::new();
    let request = |number: u64| Request {
        time_s: number,
        volume: (number % 3) as u32,
        is_write: number.is_multiple_of(2),
        sector: number * number,
        sectors: 8,
    };
    const REQUESTS: u64 = 60_000;
    (0..REQUESTS).for_each(|number| write_line(Format::Msr, &request(number), &mut text).unwrap());
    let (records, reader) = read_all(text, None, 0).unwrap();
    assert_eq!((records.len() as u64, reader.pieces()), (REQUESTS, REQUESTS));
    for (number, record) in records.iter().enumerate() {
        assert_eq!(record.offset_bytes, (number * number) as u64 * 512);
        assert_eq!(record.volume, (number % 3) as u32);
    }
}
