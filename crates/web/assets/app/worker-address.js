// The addresses of the workers, which the browser takes from here only (Trusted Types).

import { root } from './api.js';

const SHARED = new URL('worker.js', import.meta.url).href;
const SERVICE = `${root}/app/-/service-worker.js`;
const known = [SHARED, SERVICE];
const policy = globalThis.trustedTypes?.createPolicy('worker', {
  createScriptURL(address) {
    if (known.includes(address)) return address;
    throw new TypeError('is no worker of ours');
  },
});
const trusted = (address) => policy?.createScriptURL(address) ?? address;

/** The address of the worker that all tabs share. */
export const sharedWorkerAddress = trusted(SHARED);

/**
 * The service worker, or nothing where the browser has none: over plain HTTP, and in some private
 * windows.
 * @type {Promise<ServiceWorkerRegistration | undefined>}
 */
export const registered = register();

async function register() {
  try {
    return await navigator.serviceWorker?.register(trusted(SERVICE), { scope: `${root}/` });
  } catch {
    return undefined;
  }
}
