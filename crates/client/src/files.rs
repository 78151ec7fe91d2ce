//! Files: uploads to a flow, and downloads.

use bytes::Bytes;
use http::Method;
use http::header::LOCATION;

use crate::client::Client;
use crate::error::Error;
use crate::messages::{Posted, wait_for_message};
use crate::room::FlowClient;

/// A file to be uploaded.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// Its name.
    pub name: String,
    /// Its content type, such as `image/png`.
    pub content_type: String,
    /// What it holds; the server takes 100 MiB unless it is set otherwise.
    pub data: Bytes,
}

impl FlowClient {
    /// Uploads a file and gives the message that shows it, unless that takes long.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn upload(&self, file: &NewFile) -> Result<Posted, Error> {
        let boundary = eddyline_random::hex::<16>();
        let request = self.request(Method::POST, "/messages").raw(
            &format!("multipart/form-data; boundary={boundary}"),
            form(file, &boundary),
        );
        wait_for_message(request).await
    }
}

/// The file as a form (RFC 7578) of two parts: the kind of the message, which is `file`, and the
/// file itself.
fn form(file: &NewFile, boundary: &str) -> Vec<u8> {
    let name = file
        .name
        .replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    let content_type = file.content_type.replace(['\r', '\n'], " ");
    let mut form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"event\"\r\n\r\nfile\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"content\"; filename=\"{name}\"\r\n\
         Content-Type: {content_type}\r\n\r\n"
    )
    .into_bytes();
    form.extend_from_slice(&file.data);
    form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    form
}

impl Client {
    /// Downloads a file. `path` is the `path` of an attachment or thumbnail in a message that the
    /// caller can read.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn download(&self, path: &str) -> Result<Bytes, Error> {
        let is_secure = self.base_url().starts_with("https://");
        let answer = self
            .request(Method::GET, path)
            .header("accept", "*/*")
            .send()
            .await?;
        // The server sends the caller on to where the file is, for which no credentials are needed.
        let answer = match answer.header(LOCATION.as_str()) {
            // Not from TLS to plain HTTP, where others see the link.
            Some(place)
                if answer.status.is_redirection()
                    && !(is_secure && place.starts_with("http://")) =>
            {
                let base = if place.starts_with('/') {
                    self.base_url()
                } else {
                    ""
                };
                self.request_to(Method::GET, base, place)
                    .anonymous()
                    .header("accept", "*/*")
                    .send()
                    .await?
            }
            _ => answer,
        };
        Ok(answer.success()?.body)
    }
}
