//! Assigns placement identifiers to the writes of a job with several. It follows the generation of requests and has a
//! separate random generator, so that the requests do not depend on it.

use crate::random::Random;
use crate::request::{Operation, Request};
use crate::specification::job::Identifiers;

#[derive(Clone, Debug)]
pub struct Marker {
    identifiers: Identifiers,
    random: Random,
    turn: usize,
}

impl Marker {
    /// Panics if the list is empty.
    pub fn new(identifiers: Identifiers, seed: u64) -> Marker {
        if let Identifiers::RoundRobin { among } | Identifiers::Random { among } = &identifiers {
            assert!(!among.is_empty(), "identifiers to choose from");
        }
        Marker { identifiers, random: Random::new(seed ^ 0x1d3a_77c5_9b20_e64f), turn: 0 }
    }

    pub fn mark(&mut self, requests: &mut [Request]) {
        for request in requests.iter_mut().filter(|request| request.operation == Operation::Write) {
            request.content.identifier = match &self.identifiers {
                Identifiers::RoundRobin { among } => {
                    let identifier = among[self.turn];
                    self.turn = if self.turn + 1 == among.len() { 0 } else { self.turn + 1 };
                    identifier
                }
                Identifiers::Random { among } => among[self.random.below(among.len() as u64) as usize],
                Identifiers::ByOffset { ranges } => {
                    let holds = |start: u64, end: u64| (start..end).contains(&request.offset_bytes);
                    let found = ranges.iter().find(|range| holds(range.start_bytes, range.end_bytes));
                    found.map_or(0, |range| range.identifier)
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::job::IdentifierRange;

    fn identifiers(identifiers: Identifiers, offsets: &[u64]) -> Vec<u8> {
        let mut requests: Vec<Request> =
            offsets.iter().map(|&offset| Request::new(Operation::Write, offset, 4096)).collect();
        requests.insert(1, Request::new(Operation::Read, 0, 4096));
        let mut marker = Marker::new(identifiers, 1);
        let (first, rest) = requests.split_at_mut(2);
        marker.mark(first);
        marker.mark(rest);
        assert_eq!(requests[1].content.identifier, 0, "reads carry none");
        requests.iter().filter(|request| request.operation == Operation::Write).map(|r| r.content.identifier).collect()
    }

    #[test]
    fn writes_take_turns_or_go_by_their_place() {
        assert_eq!(identifiers(Identifiers::RoundRobin { among: vec![3, 1, 2] }, &[0; 5]), [3, 1, 2, 3, 1]);
        let range = |start_bytes, end_bytes, identifier| IdentifierRange { start_bytes, end_bytes, identifier };
        let ranges = vec![range(0, 100, 4), range(50, 200, 5)];
        assert_eq!(identifiers(Identifiers::ByOffset { ranges }, &[0, 60, 100, 199, 200]), [4, 4, 5, 5, 0]);
    }

    #[test]
    fn at_random_each_comes_up_as_often() {
        let drawn = identifiers(Identifiers::Random { among: vec![0, 7] }, &[0; 1000]);
        let sevens = drawn.iter().filter(|&&identifier| identifier == 7).count();
        assert!(drawn.iter().all(|identifier| [0, 7].contains(identifier)) && (440..560).contains(&sevens), "{sevens}");
    }
}
