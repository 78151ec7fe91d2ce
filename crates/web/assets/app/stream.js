// The stream: one connection that is opened anew whenever it breaks, and goes on after the last
// event. It runs in a worker that all tabs share, or in the page where there is none.

/** The server says something every 20 seconds. */
const SILENCE = 45000;
/** After this a connection is doubted when the reader comes back: the machine may have slept. */
const DOUBT = 25000;
/** Without a sign of the reader for this long, others see the reader as away. */
const AWAY = 600000;
const FIRST_PAUSE = 500;
const LAST_PAUSE = 30000;
/** Seconds after a refusal that names no time. */
const FIRST_WAIT = 5;

export class Connection {
  /**
   * @param {string} url the whole address of the stream, without its query
   * @param {(event: object, id: string | null) => void} heard
   * @param {(state: 'open' | 'broken' | 'refused' | 'signed-out') => void} changed
   */
  constructor(url, heard, changed) {
    this.url = url;
    this.heard = heard;
    this.changed = changed;
    /** Shows that a page of ours asks. */
    this.token = '';
    this.last = '';
    this.pause = FIRST_PAUSE;
    this.abort = null;
    this.timer = 0;
    this.isStopped = true;
    this.heardAt = 0;
    /** What others see of the reader. */
    this.shows = 'true';
    this.away = 0;
    /** What the open stream shows, as far as the server was told, and its name. */
    this.told = '';
    this.id = null;
    this.isTelling = false;
  }

  /** Listens to all flows that the reader is in, after this event. */
  start(last) {
    this.last = last;
    this.isStopped = false;
    this.connect();
  }

  stop() {
    this.isStopped = true;
    this.id = null;
    clearTimeout(this.timer);
    clearTimeout(this.away);
    this.abort?.abort();
  }

  /** The reader is there. */
  seen() {
    clearTimeout(this.away);
    this.away = setTimeout(() => this.show('idle'), AWAY);
    this.show('true');
  }

  /** Has others see the reader like this. */
  show(state) {
    this.shows = state;
    void this.tell();
  }

  /** Sends what is shown to the server, one state after the other, and keeps the stream open. */
  async tell() {
    if (this.isTelling) return;
    this.isTelling = true;
    while (this.id && this.told !== this.shows) {
      const { id, shows } = this;
      const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': this.token };
      const body = JSON.stringify({ active: shows });
      try {
        const answer = await fetch(new URL(`../api/streams/${id}`, this.url), { method: 'PUT', headers, body });
        if (id !== this.id) continue;
        if (answer.ok) {
          this.told = shows;
          continue;
        }
        // Another server has the stream.
        if (answer.status === 404) this.connect();
        // The next sign of the reader sends it again.
        break;
      } catch {
        // The next connection sends it.
        break;
      }
    }
    this.isTelling = false;
  }

  /** Tries at once instead of after a pause. */
  wake() {
    const isAlive = this.abort && Date.now() - this.heardAt < DOUBT;
    if (!this.isStopped && !isAlive) this.connect();
  }

  async connect() {
    clearTimeout(this.timer);
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.heardAt = Date.now();
    this.id = null;
    let wait = 0;
    try {
      wait = await this.read(abort);
    } catch {
      // The connection broke, or was not made.
    }
    if (this.abort !== abort) return;
    this.abort = null;
    if (this.isStopped) return;
    this.changed('broken');
    const pause = Math.max(wait * 1000, this.pause) * (1 + Math.random() / 4);
    this.pause = Math.min(2 * this.pause, LAST_PAUSE);
    this.timer = setTimeout(() => this.connect(), pause);
  }

  /** Reads until the connection ends. @returns {Promise<number>} seconds to wait, if the server says so */
  async read(abort) {
    const shown = this.shows;
    const query = new URLSearchParams({ flows: 'joined', user: '1', active: shown, html: '1', presence: '1' });
    const headers = { Accept: 'text/event-stream', 'X-CSRF-Token': this.token };
    if (this.last) headers['Last-Event-ID'] = this.last;
    let silence = setTimeout(() => abort.abort(), SILENCE);
    try {
      const answer = await fetch(`${this.url}?${query}`, { headers, signal: abort.signal, cache: 'no-store' });
      if (answer.status === 401) {
        this.isStopped = true;
        this.changed('signed-out');
        return 0;
      }
      if (answer.status === 403 || answer.status === 404) {
        // The token is an old one. The page asks for a new one.
        this.changed('refused');
        return FIRST_WAIT;
      }
      if (!answer.ok) return Number(answer.headers.get('Retry-After')) || FIRST_WAIT;
      this.changed('open');
      this.pause = FIRST_PAUSE;
      this.last = answer.headers.get('Event-Id') ?? this.last;
      this.id = answer.headers.get('Stream-Id');
      this.told = shown;
      void this.tell();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser((data, id) => {
        if (id) this.last = id;
        this.heard(data, id);
      });
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return 0;
        this.heardAt = Date.now();
        clearTimeout(silence);
        silence = setTimeout(() => abort.abort(), SILENCE);
        parser.push(value);
      }
    } finally {
      clearTimeout(silence);
    }
  }
}

/** Takes server-sent events apart (HTML standard, section 9.2), as far as our server writes them. */
class EventParser {
  constructor(heard) {
    this.heard = heard;
    this.rest = '';
  }

  push(text) {
    const frames = (this.rest + text).split('\n\n');
    this.rest = frames.pop();
    for (const frame of frames) {
      let id = null;
      let data = '';
      for (const line of frame.split('\n')) {
        if (line.startsWith('id: ')) id = line.slice(4);
        else if (line.startsWith('data: ')) data += line.slice(6);
      }
      if (data) this.heard(JSON.parse(data), id);
    }
  }
}

/** The position of an event in the log. Ids begin with it, in hexadecimal. */
export const positionOf = (id) => (id ? Number.parseInt(id.split('-')[0], 16) : 0);
