//! Short names of browsers.

/// Parts of the `User-Agent` header of browsers, the most specific first: most browsers also name
/// others in it.
const BROWSERS: [(&str, &str); 11] = [
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

const SYSTEMS: [(&str, &str); 7] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// The browser and its system, such as `Firefox` and `Linux`. `None` where the text names no known
/// ones.
pub(crate) fn known(agent: &str) -> Option<(&'static str, &'static str)> {
    let find = |known: &[(&str, &'static str)]| {
        known
            .iter()
            .find(|(part, _)| agent.contains(part))
            .map(|(_, name)| *name)
    };
    if !agent.starts_with("Mozilla/5.0 (") {
        return None;
    }
    Some((find(&BROWSERS)?, find(&SYSTEMS)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_known_by_what_they_call_themselves() {
        for (agent, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                ("Firefox", "Linux"),
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                ("Edge", "Windows"),
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 \
                 Mobile Safari/537.36",
                ("Chrome", "Android"),
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.0 Mobile/15E148 Safari/604.1",
                ("Safari", "iPhone"),
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.0 Safari/605.1.15",
                ("Safari", "macOS"),
            ),
        ] {
            assert_eq!(known(agent), Some(name));
        }
        for unknown in [
            "",
            "curl/8.5.0",
            "Firefox on Linux",
            "Mozilla/5.0 (Haiku) Firefox/100.0",
        ] {
            assert_eq!(known(unknown), None, "{unknown}");
        }
    }
}
