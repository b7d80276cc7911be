//! fio 3.33's own skewed offsets, bit by bit: its 32-bit generator, its rounding and its scatter, for comparisons.
//!
//! It differs from `zipf.rs`, `pareto.rs` and `normal.rs` in two ways. Its generator has 32 bits, so that only some of
//! the many ranks in the tail of a large drive can occur; and ranks are multiplied by a constant and taken modulo the
//! blocks, so that unless their number is a power of two several ranks share a block and other blocks have none (fio's
//! issue 1991). Blocks that are never written act as spare area and favour the drive.
//!
//! The only use of the platform's `powf`, because fio uses it: a rank may differ by one between machines whose
//! mathematics libraries differ in the last bit.

use crate::random::Random;
use crate::specification::job::FioLaw;
use crate::workload::place::Blocks;

/// The most terms of the zeta function that fio sums.
const ZETA_TERMS_MAX: u64 = 10_000_000;
const NORMAL_SUMMANDS: u64 = 12;
/// 2^64 x (1 - 1 / golden ratio): the factor of fio's ranks, modulo 2^64.
const SCATTER: u64 = 0x61c8_8646_80b5_83eb;

/// See the file's description.
#[derive(Clone, Debug)]
pub struct LikeFio {
    count: u64,
    turn: u64,
    law: Law,
    random: Tausworthe,
}

#[derive(Clone, Debug)]
enum Law {
    Zipf { zeta: f64, second: f64, eta: f64, alpha: f64 },
    Pareto { power: f64 },
    Normal { width: u64 },
}

impl LikeFio {
    /// For this many blocks, at least one. `seed` is fio's: the hash of the file's name times the number of the thread.
    pub fn new(law: FioLaw, center: Option<f64>, count: u64, seed: u32) -> LikeFio {
        let mut random = Tausworthe::new(seed);
        let n = count as f64;
        let (law, turn) = match law {
            FioLaw::Zipf { theta } => (zipf(theta, count), u64::from(random.bits())),
            FioLaw::Pareto { h } => (Law::Pareto { power: h.ln() / (1.0 - h).ln() }, u64::from(random.bits())),
            FioLaw::Normal { deviation_percent } => {
                let width = ((n * deviation_percent / 100.0).ceil() as u64).min(count / 2);
                (Law::Normal { width }, 0)
            }
        };
        let turn = match (center, &law) {
            (None, _) => turn,
            // Wraps as an unsigned number does in fio, on a machine of 64 bits.
            (Some(center), Law::Normal { .. }) => (n * (center - 0.5)) as i64 as u64,
            (Some(center), _) => (n * center) as u64,
        };
        LikeFio { count, turn, law, random }
    }

    fn rank(&mut self) -> u64 {
        let n = self.count as f64;
        match self.law {
            Law::Zipf { zeta, second, eta, alpha } => {
                let u = f64::from(self.random.bits()) / f64::from(u32::MAX);
                match u * zeta {
                    z if z < 1.0 => 0,
                    z if z < second => 1,
                    _ => (n * (eta * u - eta + 1.0).powf(alpha)) as u64,
                }
            }
            Law::Pareto { power } => {
                let u = f64::from(self.random.bits()) / f64::from(u32::MAX);
                ((self.count - 1) as f64 * u.powf(power)) as u64
            }
            Law::Normal { width } => {
                let sum: u64 = (0..NORMAL_SUMMANDS).map(|_| u64::from(self.random.bits()) % (self.count + 1)).sum();
                let mean = sum.div_ceil(NORMAL_SUMMANDS);
                if width == 0 {
                    return mean;
                }
                let share = f64::from(self.random.bits()) / (f64::from(u32::MAX) + 1.0);
                let mut deviation = (width as f64 * share) as i64 - (width / 2) as i64;
                loop {
                    match mean.checked_add_signed(deviation) {
                        Some(rank) if rank < self.count || deviation == 0 => return rank,
                        _ => deviation /= 2,
                    }
                }
            }
        }
    }
}

impl Blocks for LikeFio {
    fn block(&mut self, _job_class: usize, _random: &mut Random) -> u64 {
        self.rank().wrapping_mul(SCATTER).wrapping_add(self.turn) % self.count
    }
}

/// The method of Gray and others 1994, "Quickly Generating Billion-Record Synthetic Databases": the first two ranks are
/// exact, the others those of a continuous approximation.
fn zipf(theta: f64, count: u64) -> Law {
    // In order from the largest: another order of these sums has other last bits.
    let zeta =
        (0..count.min(ZETA_TERMS_MAX)).map(|i| (1.0 / (i + 1) as f64).powf(theta)).fold(0.0, |sum, term| sum + term);
    let second = 1.0 + 0.5f64.powf(theta);
    let eta = (1.0 - (2.0 / count as f64).powf(1.0 - theta)) / (1.0 - second / zeta);
    Law::Zipf { zeta, second, eta, alpha: 1.0 / (1.0 - theta) }
}

/// L'Ecuyer's combined Tausworthe generator of 88 bits (1996, "Maximally Equidistributed Combined Tausworthe
/// Generators"), seeded as fio seeds it.
#[derive(Clone, Debug)]
struct Tausworthe {
    parts: [u32; 3],
}

impl Tausworthe {
    fn new(seed: u32) -> Tausworthe {
        let mut parts = [0; 3];
        #[expect(clippy::decimal_bitwise_operands)]
        // fio's source has C's exclusive or where powers of two are meant: 2^31, 2^17 and 2^7.
        let mut before: u32 = (2 ^ 31) + (2 ^ 17) + (2 ^ 7);
        for (part, least) in parts.iter_mut().zip([1, 7, 15]) {
            let drawn = before.wrapping_mul(69069) ^ seed;
            *part = if drawn < least { drawn + least } else { drawn };
            before = *part;
        }
        let mut generator = Tausworthe { parts };
        (0..6).for_each(|_| _ = generator.bits());
        generator
    }

    fn bits(&mut self) -> u32 {
        let step = |s: u32, a: u32, b: u32, mask: u32, d: u32| ((s & mask) << d) ^ (((s << a) ^ s) >> b);
        let [one, two, three] = self.parts;
        self.parts = [step(one, 13, 19, !1, 12), step(two, 2, 25, !7, 4), step(three, 3, 11, !15, 17)];
        self.parts[0] ^ self.parts[1] ^ self.parts[2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(law: FioLaw, center: Option<f64>, count: u64, seed: u32, draws: usize) -> Vec<u64> {
        let mut like_fio = LikeFio::new(law, center, count, seed);
        (0..draws).map(|_| like_fio.block(0, &mut Random::new(1))).collect()
    }

    #[test]
    fn zipf_gives_the_offsets_of_fio_3_33() {
        // `write_iolog` of fio 3.33: rw=randread, bs=4k, size=1m, filename=dev, whose hash times thread 1 is the seed.
        const SEED: u32 = 0x44f6_263e;
        let theta = FioLaw::Zipf { theta: 1.2 };
        assert_eq!(blocks(theta, None, 256, SEED, 10), [149, 237, 170, 170, 216, 2, 170, 129, 170, 170]);
        assert_eq!(blocks(theta, Some(0.25), 256, SEED, 10), [22, 110, 43, 43, 89, 131, 43, 2, 43, 43]);
    }

    #[test]
    fn a_power_of_two_is_reached_everywhere_and_another_number_is_not() {
        // theta 0.2 is so flat that a million draws reach every rank.
        let reached = |count: u64| {
            let mut blocks = blocks(FioLaw::Zipf { theta: 0.2 }, None, count, 7, 1_000_000);
            blocks.sort_unstable();
            blocks.dedup();
            blocks.len() as u64
        };
        assert_eq!(reached(1 << 14), 1 << 14);
        // Counted separately, over every rank: the share has no pattern, 30.8 % of 1000 blocks and 87.8 % of 10,007.
        assert_eq!(reached(1000), 308);
        assert_eq!(reached(10_007), 8782);
    }
}
