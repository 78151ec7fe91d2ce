// What a flow is, said to those who are here for the first time.

import { find, setCookie } from './dom.js';

find('#hint button')?.addEventListener('click', () => {
  // By this the server leaves the hint out (`cookies.rs`).
  setCookie('eddyline-hint', 'seen');
  find('#hint').remove();
  find('#composer textarea').focus();
});
