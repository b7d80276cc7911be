//! Writes without a placement identifier on a drive with reclaim groups: they go to the first handle, and the controller
//! chooses the group, by address, so that all groups hold as much of them and all dies take part.

use super::source::{RequestSource, SourceError};
use crate::request::{Operation, Request};
use crate::specification::drive::reclaim_groups_of;
use crate::specification::{Drive, Job};
use crate::workload::store::StoreCounts;

/// Consecutive addresses of one group: several pages of a die on any drive.
const SEGMENT_BYTES: u64 = 256 * 1024;

/// Whether the job's writes have no placement identifier.
pub fn is_undirected(job: &Job) -> bool {
    let by_store = job.store.as_ref().is_some_and(|store| store.largest_identifier().is_some());
    job.stream_id.is_none() && job.identifiers.is_none() && !by_store
}

/// The source, with a group for each write on a drive with reclaim groups.
pub fn in_groups(source: Box<dyn RequestSource>, drive: &Drive) -> Box<dyn RequestSource> {
    match reclaim_groups_of(&drive.ftl.placement) {
        1 => source,
        groups => Box::new(Undirected { source, groups: u64::from(groups) }),
    }
}

struct Undirected {
    source: Box<dyn RequestSource>,
    groups: u64,
}

impl Undirected {
    fn mark(&self, requests: &mut [Request]) {
        for request in requests.iter_mut().filter(|request| request.operation == Operation::Write) {
            request.content.identifier = (request.offset_bytes / SEGMENT_BYTES % self.groups) as u8;
        }
    }
}

impl RequestSource for Undirected {
    fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, SourceError> {
        let first = out.len();
        let count = self.source.fill(out, count_max)?;
        self.mark(&mut out[first..]);
        Ok(count)
    }

    fn fill_one(&mut self, direction: Operation, out: &mut Vec<Request>) -> Result<usize, SourceError> {
        let first = out.len();
        let count = self.source.fill_one(direction, out)?;
        self.mark(&mut out[first..]);
        Ok(count)
    }

    fn fill_arrivals(
        &mut self,
        out: &mut Vec<Request>,
        arrivals_ns: &mut Vec<u64>,
        count_max: usize,
    ) -> Result<usize, SourceError> {
        let first = out.len();
        let count = self.source.fill_arrivals(out, arrivals_ns, count_max)?;
        self.mark(&mut out[first..]);
        Ok(count)
    }

    fn restart(&mut self) {
        self.source.restart();
    }

    fn progress(&self) -> f64 {
        self.source.progress()
    }

    fn store_counts(&self) -> Option<StoreCounts> {
        self.source.store_counts()
    }
}
