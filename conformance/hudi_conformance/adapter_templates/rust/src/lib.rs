//! An adapter: it answers the questions of hudi-conformance about tables.

pub mod mergers;
pub mod protocol;
pub mod timeline;
