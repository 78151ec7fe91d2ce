//! The metrics of uploads and downloads.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use eddyline_files::Content;
use futures_util::Stream;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::{Registry, Unit};

use super::Files;

/// Counts the files that users upload and download. Clones share the counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileMetrics {
    uploaded: Counter,
    uploaded_bytes: Counter,
    downloaded: Counter,
    downloaded_bytes: Counter,
    thumbnails: Counter,
}

impl FileMetrics {
    pub(super) fn note_uploaded(&self, bytes: u64) {
        self.uploaded.inc();
        self.uploaded_bytes.inc_by(bytes);
    }

    pub(super) fn note_thumbnail(&self) {
        self.thumbnails.inc();
    }

    /// The content of a download, whose bytes are counted as they are taken: most of a large file
    /// may never be sent.
    pub(super) fn counted(&self, content: Content) -> FileContent {
        self.downloaded.inc();
        FileContent {
            content,
            bytes: self.downloaded_bytes.clone(),
        }
    }
}

impl Files {
    /// Adds the metrics of files to a registry.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        let metrics = &self.metrics;
        registry.register(
            "files_uploaded",
            "Files that were taken in",
            metrics.uploaded.clone(),
        );
        registry.register_with_unit(
            "files_uploaded",
            "Bytes of files that were taken in",
            Unit::Bytes,
            metrics.uploaded_bytes.clone(),
        );
        registry.register(
            "files_downloaded",
            "Downloads that began",
            metrics.downloaded.clone(),
        );
        registry.register_with_unit(
            "files_downloaded",
            "Bytes of files that were handed out",
            Unit::Bytes,
            metrics.downloaded_bytes.clone(),
        );
        registry.register(
            "thumbnails_made",
            "Thumbnails that were made",
            metrics.thumbnails.clone(),
        );
    }
}

/// The bytes of a file on their way out. Ends with an error when they cannot be read to the end.
#[derive(Debug)]
pub struct FileContent {
    content: Content,
    bytes: Counter,
}

impl Stream for FileContent {
    type Item = Result<Bytes, eddyline_files::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.content).poll_next(cx);
        if let Poll::Ready(Some(Ok(chunk))) = &next {
            self.bytes.inc_by(chunk.len() as u64);
        }
        next
    }
}
