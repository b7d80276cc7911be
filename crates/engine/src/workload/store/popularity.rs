//! Which page or session comes next: all equally likely, or by Zipf's law.

use crate::random::Random;
use crate::workload::distribution::{uniform::Uniform, zipf::Zipf};
use crate::workload::place::Blocks;

#[derive(Clone, Debug)]
pub enum Popularity {
    Uniform(Uniform),
    Zipf(Box<Zipf>),
}

impl Popularity {
    /// Uniform without an exponent.
    pub fn new(zipf_theta: Option<f64>, count: u64, random: &mut Random) -> Self {
        match zipf_theta {
            None => Self::Uniform(Uniform::new([count; 2])),
            Some(theta) => Self::Zipf(Box::new(Zipf::new(theta, None, [count; 2], random.bits()))),
        }
    }

    /// A number below the count.
    pub fn draw(&mut self, random: &mut Random) -> u64 {
        match self {
            Self::Uniform(uniform) => uniform.block(0, random),
            Self::Zipf(zipf) => zipf.block(0, random),
        }
    }
}
