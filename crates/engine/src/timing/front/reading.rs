//! Reads that wait for more than their own pages: for map pages that are not in memory (`map_waits`), and for
//! read-ahead of a sequential stream (`read_streams`). Only for drives with one of the two.

use super::buffer::BUFFERED_FIRST;
use super::event_queue::Step;
use super::link::Direction;
use super::map_waits::{ChainId, MapWaits, Next};
use super::read_counts::{ReadCounter, ReadCounts};
use super::read_streams::{ReadStreams, SegmentId};
use super::{Front, Sides, Submission};
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Cause;
use crate::request::{Operation, Request};
use crate::specification::Drive;
use crate::timing::breakdown::Part;
use crate::timing::decision::Decision;
use crate::timing::flash::Finished;
use crate::units::Ppn;

/// Slots from this number on stand for the controller's own reads: chains of map pages, or segments read ahead.
pub(super) const OWN: u32 = 1 << 31;
const SEGMENT: u32 = OWN | 1 << 30;

/// See the file's description.
pub struct Reading {
    map_waits: MapWaits,
    miss_ns: u64,
    streams: Option<ReadStreams>,
    counter: ReadCounter,
    released: Vec<Decision>,
}

impl Reading {
    /// None for a drive with its whole map in memory and without read-ahead. Errors name the key.
    pub fn new(drive: &Drive) -> Result<Option<Box<Self>>, SpecificationError> {
        let (cache, ahead) = (&drive.map_cache, &drive.read_ahead);
        if !(cache.miss_us >= 0.0 && cache.miss_us <= 1e9) {
            return Err(SpecificationError::new("map_cache.miss_us", cache.miss_us, "microseconds from 0 to 10^9"));
        }
        let unit_bytes = u64::from(drive.ftl.mapping_unit_bytes);
        let is_whole = ahead.segment_bytes > 0 && ahead.segment_bytes.is_multiple_of(unit_bytes);
        let fits = ahead.segment_bytes <= ahead.window_bytes && u32::try_from(ahead.segment_bytes).is_ok();
        if ahead.window_bytes > 0 && !(is_whole && fits) {
            let allowed = format!(
                "a multiple of ftl.mapping_unit_bytes, {unit_bytes}, and at most read_ahead.window_bytes, {}",
                ahead.window_bytes
            );
            return Err(SpecificationError::new("read_ahead.segment_bytes", ahead.segment_bytes, allowed));
        }
        let streams = ReadStreams::new(ahead, drive.ftl.user_bytes);
        let dies = drive.nand.channels * drive.nand.dies_per_channel;
        Ok((cache.bytes > 0 || streams.is_some()).then(|| {
            Box::new(Self {
                map_waits: MapWaits::default(),
                miss_ns: (cache.miss_us * 1000.0).round() as u64,
                streams,
                counter: ReadCounter::new((u64::from(drive.nand.page_bytes) / unit_bytes) as u32, dies as usize),
                released: Vec::new(),
            })
        }))
    }
}

impl Front {
    /// Passes the drive's decisions to the flash, on behalf of `slot`. Returns how many units, and map pages, the slot
    /// waits for.
    #[inline]
    pub(super) fn carry_out_for(&mut self, slot: u32) -> u32 {
        if self.reading.is_some() {
            return self.carry_out_what_waits_for_nothing(slot).0;
        }
        self.flash.carry_out(self.now_ns, &self.decisions, slot)
    }

    /// Also returns whether anything waits for a map page.
    fn carry_out_what_waits_for_nothing(&mut self, slot: u32) -> (u32, bool) {
        let reading = self.reading.as_mut().expect("only drives with map pages or streams come here");
        let held = reading.map_waits.hold_back(&mut self.decisions, slot);
        let units = self.flash.carry_out(self.now_ns, &self.decisions, slot);
        let Some((chain, first, waited_for)) = held else { return (units, false) };
        self.read_map_page(chain, first);
        (units + waited_for, true)
    }

    fn read_map_page(&mut self, chain: ChainId, ppn: Ppn) {
        self.flash.carry_out(self.now_ns, &[Decision::Read(ppn, Cause::Host)], OWN | chain);
    }

    /// Units of the controller's own read have arrived.
    pub(super) fn own_read_ended(
        &mut self,
        slot: u32,
        units: u32,
        sides: &mut Sides<'_, Self>,
    ) -> Result<(), ReadOnly> {
        if slot >= SEGMENT {
            return self.segment_arrived(slot & !SEGMENT, units, Part::HostOperations, sides);
        }
        let chain = slot & !OWN;
        match self.reading().miss_ns {
            0 => self.map_page_arrived(chain, sides),
            miss_ns => {
                self.event_queue.step(self.now_ns + miss_ns, Step::MapPage, chain);
                Ok(())
            }
        }
    }

    /// The firmware has a map page: reads what waited for it, up to the next map page.
    pub(super) fn map_page_arrived(&mut self, chain: ChainId, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let slot = self.reading().map_waits.slot(chain);
        let mut released = std::mem::take(&mut self.reading().released);
        let next = self.reading().map_waits.arrived(chain, &mut released);
        self.flash.carry_out(self.now_ns, &released, slot);
        self.reading().released = released;
        match next {
            Next::MapPage(ppn) => self.read_map_page(chain, ppn),
            Next::Done if slot >= SEGMENT => {
                if let Some(stream) = self.streams().translated(slot & !SEGMENT) {
                    self.serve(stream, Part::Map, sides)?;
                }
            }
            Next::Done => {}
        }
        match slot {
            SEGMENT.. => self.segment_arrived(slot & !SEGMENT, 1, Part::Map, sides),
            BUFFERED_FIRST.. => {
                self.writes.buffer.finish(slot);
                self.take_waiting_into_buffer(None, Part::Map, sides)
            }
            _ => {
                if self.slots.request(slot).operation == Operation::Write && self.writes.buffer.exists() {
                    self.writes.buffer.finish_through();
                }
                self.slots.account(slot).spend(Part::Map, self.now_ns);
                if self.slots.units_arrived(slot, 1) { self.answer(slot, sides) } else { Ok(()) }
            }
        }
    }

    fn segment_arrived(
        &mut self,
        segment: SegmentId,
        units: u32,
        waited_for: Part,
        sides: &mut Sides<'_, Self>,
    ) -> Result<(), ReadOnly> {
        match self.streams().arrived(segment, units) {
            Some(stream) => self.serve(stream, waited_for, sides),
            None => Ok(()),
        }
    }

    /// Whether the request belongs to a stream, which then serves it. Others take the usual path.
    pub(super) fn submit_to_stream(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<bool, ReadOnly> {
        let Submission { request, tag, .. } = self.slots.submission(slot);
        let Some(streams) = self.reading.as_mut().and_then(|reading| reading.streams.as_mut()) else {
            return Ok(false);
        };
        let Request { offset_bytes, length_bytes, .. } = request;
        if request.operation != Operation::Read {
            streams.changed(offset_bytes, length_bytes);
            return Ok(false);
        }
        let Some(stream) = streams.stream_of(offset_bytes, length_bytes) else { return Ok(false) };
        streams.wait(stream, slot, offset_bytes + u64::from(length_bytes));
        // Stands for all of its units, so that it does not count as waiting for further writes.
        self.slots.wait_for(slot, 1);
        sides.below.count_read(&request);
        sides.above.executed(tag, self.now_ns, sides.below.ledger());
        let at_ns = self.process(slot);
        if at_ns > self.now_ns || self.link.is_none() {
            self.event_queue.step(at_ns, Step::Processed, stream as u32);
        } else {
            self.streams().processed(stream);
        }
        self.serve(stream, Part::HostOperations, sides)?;
        Ok(true)
    }

    /// The controller has processed a read of the stream: its data may already be here.
    pub(super) fn stream_read_processed(&mut self, stream: usize, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        self.streams().processed(stream);
        self.serve(stream, Part::HostOperations, sides)
    }

    /// Fetches while the window has space, and transfers what has arrived. `waited_for` is what the requests waited for,
    /// if not the flash operation that has just ended.
    fn serve(&mut self, stream: usize, waited_for: Part, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        loop {
            while let Some((segment, offset_bytes, length_bytes)) = self.streams().next_segment(stream) {
                self.with_memory(sides.below, |drive| drive.read_ahead(offset_bytes, length_bytes));
                sides.below.take_decisions(&mut self.decisions);
                self.decisions.retain(|decision| !matches!(decision, Decision::ReadFromMemory(..)));
                gather_pages(&mut self.decisions);
                self.count_segment();
                let (units, waits) = self.carry_out_what_waits_for_nothing(SEGMENT | segment);
                self.streams().fetches(segment, units);
                if !waits {
                    self.streams().translated(segment);
                }
            }
            let Some(piece) = self.streams().next_piece(stream) else { return Ok(()) };
            // Of a read that has just ended: the flash knows nothing of those before, nor of a program once others follow.
            let has_read = matches!(self.flash.finished().first(), Some(Finished::Read { .. }));
            let service = (has_read && waited_for != Part::Map).then(|| self.flash.service());
            let account = self.slots.account(piece.slot);
            if let Some(service) = service.filter(|service| service.ended_ns == self.now_ns) {
                account.spend_on_flash(&service);
            }
            account.spend(waited_for, self.now_ns);
            if let Some(link) = &mut self.link {
                let at_ns = link.carry_piece(self.now_ns, Direction::Out, piece.bytes, piece.ends_request);
                account.spend(Part::Link, at_ns);
                self.event_queue.step(at_ns, Step::Delivered, stream as u32);
                continue;
            }
            if let Some(slot) = self.streams().delivered(stream)
                && self.slots.units_arrived(slot, 1)
            {
                // As an event: the next request must not be served within this one, and so on.
                self.event_queue.step(self.now_ns, Step::Sent, slot);
            }
        }
    }

    fn count_segment(&mut self) {
        let counter = &mut self.reading.as_mut().expect("only drives with map pages or streams come here").counter;
        let mut map_pages = 0;
        let mut last = None;
        for decision in &self.decisions {
            match decision {
                Decision::Read(_, Cause::Metadata) => map_pages += 1,
                Decision::Read(ppn, Cause::Host) => {
                    let page = ppn.0 / counter.units_per_page();
                    if last.replace(page) != Some(page) {
                        counter.page(self.flash.die_of(page));
                    }
                }
                _ => {}
            }
        }
        counter.end_segment(map_pages);
    }

    /// The counts that `take_read_counts` would return.
    pub fn read_counts(&self) -> Option<ReadCounts> {
        let reading = self.reading.as_ref().filter(|reading| reading.streams.is_some())?;
        Some(reading.counter.counts)
    }

    /// The read-ahead since the last call; None for a drive without.
    pub fn take_read_counts(&mut self) -> Option<ReadCounts> {
        let reading = self.reading.as_mut().filter(|reading| reading.streams.is_some())?;
        Some(std::mem::take(&mut reading.counter.counts))
    }

    /// A piece has crossed the link: it frees space in the window, and may complete its request.
    pub(super) fn piece_delivered(&mut self, stream: usize, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if let Some(slot) = self.streams().delivered(stream) {
            self.slots.units_arrived(slot, 1);
            self.complete(slot, sides)?;
        }
        self.serve(stream, Part::HostOperations, sides)
    }

    fn reading(&mut self) -> &mut Reading {
        self.reading.as_mut().expect("only drives with map pages or streams come here")
    }

    fn streams(&mut self) -> &mut ReadStreams {
        self.reading().streams.as_mut().expect("only drives that read ahead come here")
    }
}

/// A page read transfers all units of the page: reads of one page become neighbours, which the flash performs as one.
/// Only between map pages, which remain in order.
fn gather_pages(decisions: &mut [Decision]) {
    let is_host_read = |decision: &Decision| matches!(decision, Decision::Read(_, Cause::Host));
    for reads in decisions.chunk_by_mut(|one, next| is_host_read(one) && is_host_read(next)) {
        reads.sort_unstable_by_key(|decision| match decision {
            Decision::Read(ppn, _) => ppn.0,
            _ => 0,
        });
    }
}
