//! What flash may do in addition to reading, programming and erasing, as types: code compiled for plain flash contains
//! none of it.
//!
//! `Flash` looks up once a call which kind it is, and everything below is compiled for that kind.

pub(super) trait Kind {
    /// Suspends, cache registers, blocks in SLC mode or erases that wait: which of them there are is looked up.
    const HAS_EXTRAS: bool;
    /// Whether only the ends of chains have events; nothing: it is looked up.
    const IS_FUSED: Option<bool>;
}

/// Plain flash, each die of which has a channel to itself.
pub(super) enum PlainFused {}
/// Plain flash whose every operation has its event.
pub(super) enum PlainUnfused {}
/// Any flash.
pub(super) enum Any {}

impl Kind for PlainFused {
    const HAS_EXTRAS: bool = false;
    const IS_FUSED: Option<bool> = Some(true);
}

impl Kind for PlainUnfused {
    const HAS_EXTRAS: bool = false;
    const IS_FUSED: Option<bool> = Some(false);
}

impl Kind for Any {
    const HAS_EXTRAS: bool = true;
    const IS_FUSED: Option<bool> = None;
}

/// Calls a method for the kind of a flash.
macro_rules! for_kind {
    ($flash:ident . $method:ident ( $($argument:expr),* )) => {
        match ($flash.is_plain(), $flash.dies.is_fused) {
            (true, true) => $flash.$method::<$crate::timing::flash::kind::PlainFused>($($argument),*),
            (true, false) => $flash.$method::<$crate::timing::flash::kind::PlainUnfused>($($argument),*),
            (false, _) => $flash.$method::<$crate::timing::flash::kind::Any>($($argument),*),
        }
    };
}
pub(super) use for_kind;
