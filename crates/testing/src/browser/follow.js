// Tells whether what was pressed leads to another page. Runs in the page as the body of a function:
// before, with the element; then, without it, until it says "here". That is when nothing leads away,
// or the other page is there with everything it names.

const [element, hasScripts, byEnter] = arguments;
const KEY = Symbol.for('eddyline: pressed');
const SUBMIT = 'button:not([type=button], [type=reset]), input:is([type=submit], [type=image])';

if (element) {
    const events = [];
    // The page's own listeners come later, and may keep the browser from what it would do. That is
    // known when they have run.
    for (const type of ['click', 'submit']) addEventListener(type, (event) => events.push(event), true);
    window[KEY] = { element, events };
    return;
}

const isHere = (target) => ['', '_self', '_parent', '_top'].includes(target ?? '');
const place = (url) => url.split('#')[0];

function leadsByLink(target) {
    const link = target.closest?.('a[href]');
    if (!link || link.hasAttribute('download') || !isHere(link.target)) return false;
    return /^https?:$/.test(link.protocol) && !(link.href.includes('#') && place(link.href) === place(location.href));
}

function leadsByForm(form, button) {
    const says = (name) => button?.getAttribute(`form${name}`) ?? form.getAttribute(name);
    return isHere(says('target')) && says('method')?.toLowerCase() !== 'dialog';
}

// Without scripts there are no events to go by, but then the browser does what HTML says.
function leadsByItself(pressed) {
    const form = pressed.form;
    if (!form) return leadsByLink(pressed);
    const isField = byEnter && pressed.matches('input:not([type=button], [type=reset])');
    const button = pressed.matches(SUBMIT) ? pressed : isField && form.querySelector(SUBMIT);
    if (!button || button.disabled) return false;
    const isSent = form.matches(':valid, [novalidate]') || button.hasAttribute('formnovalidate');
    return isSent && leadsByForm(form, button);
}

function leads({ element: pressed, events }) {
    if (!hasScripts) return leadsByItself(pressed);
    // A click is always heard of, though perhaps not yet.
    if (!events.length) return !byEnter;
    return events.some(({ type, target, submitter, defaultPrevented }) => {
        if (defaultPrevented) return false;
        return type === 'submit' ? leadsByForm(target, submitter) : leadsByLink(target);
    });
}

// Another page knows nothing of it.
const pressed = window[KEY];
const isThere = pressed ? !leads(pressed) : document.readyState === 'complete';
return isThere ? 'here' : 'away';
