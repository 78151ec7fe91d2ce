// What keeps people from using the page: a list of faults, each once. Runs in the page as the body
// of a function.

const faults = new Set();

const told = (element) => {
    const { outerHTML, innerHTML } = element;
    const start = outerHTML.slice(0, outerHTML.indexOf(`>${innerHTML}`) + 1);
    const text = element.textContent.trim().replace(/\s+/g, ' ');
    return text ? `${start} ${text.slice(0, 60)}` : start;
};
const fault = (what, element) => faults.add(element ? `${what}: ${told(element)}` : what);
const all = (css) => [...document.querySelectorAll(css)];
const isHidden = (style) => style.display === 'none' || style.visibility !== 'visible';
const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

// What assistive technology reads of an element that has its name from its contents. Controls inside
// say nothing about themselves.
function words(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.ariaHidden === 'true') return '';
    if (isHidden(getComputedStyle(node))) return '';
    if (node.ariaLabel) return node.ariaLabel;
    if (node.matches('img, area, input[type=image]')) return node.alt;
    if (node.matches('svg')) return node.querySelector('title')?.textContent ?? '';
    if (node.matches('input, select, textarea')) return '';
    return [...node.childNodes].map(words).join(' ');
}

const isNamedByAttribute = (element) =>
    Boolean(element.ariaLabel?.trim()) ||
    (element.getAttribute('aria-labelledby') ?? '')
        .split(/\s+/)
        .some((id) => document.getElementById(id)?.textContent.trim());

// The document.

if (!document.documentElement.lang.trim()) fault('no language: <html> has no lang');
if (!document.title.trim()) fault('no title');
const headings = all('h1, [role=heading][aria-level="1"]').filter(isShown);
if (headings.length !== 1) fault(`${headings.length} first headings (h1)`);

const ids = new Map();
for (const { id } of all('[id]')) ids.set(id, (ids.get(id) ?? 0) + 1);
for (const [id, count] of ids) if (count > 1) fault(`${count} elements with the id ${id}`);

for (const element of all('iframe, frame, object, embed')) fault('not judged, a frame', element);
for (const element of all('*')) if (element.shadowRoot) fault('not judged, a shadow tree', element);

// Fields, pictures, buttons and links.

const notTyped = ['hidden', 'submit', 'button', 'reset', 'image'];
for (const field of all('input, select, textarea, [contenteditable]:not([contenteditable=false])')) {
    if (notTyped.includes(field.type) || !isShown(field)) continue;
    const isLabelled = [...(field.labels ?? [])].some((label) => words(label).trim());
    if (!isLabelled && !isNamedByAttribute(field)) fault('no label', field);
}

for (const picture of all('img:not([alt]), area[href]:not([alt])')) fault('no alternative', picture);
for (const picture of all('svg[role=img], [role=img]:not(img, svg)')) {
    if (!words(picture).trim() && !isNamedByAttribute(picture)) fault('no alternative', picture);
}

for (const control of all('button, a[href], summary, [role=button], [role=link]')) {
    if (!isShown(control) || isNamedByAttribute(control)) continue;
    // A second way for the pointer, which neither screen readers nor the keyboard reach.
    if (control.tabIndex < 0 && control.closest('[aria-hidden=true]')) continue;
    if (!words(control).trim()) fault('no text', control);
}
for (const button of all('input:is([type=submit], [type=reset], [type=button], [type=image])')) {
    if (!isShown(button) || isNamedByAttribute(button)) continue;
    // The browser has words of its own for the first two.
    const isNamedByBrowser = button.matches('[type=submit], [type=reset]') && !button.hasAttribute('value');
    const name = button.type === 'image' ? button.alt : button.value;
    if (!name.trim() && !isNamedByBrowser) fault('no text', button);
}

for (const element of all('[tabindex]')) if (element.tabIndex > 0) fault('against the order of focus', element);

// Contrast, as WCAG 2 has it. Colours are [red, green, blue, alpha], from 0 to 1.

const CONTRAST = 4.5;
const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });

// Drawn, because a computed colour may be in any notation.
function colour(css) {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = css;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data].map((value) => value / 255);
}

function over(above, below) {
    const rest = below[3] * (1 - above[3]);
    const alpha = above[3] + rest;
    const mixed = [0, 1, 2].map((i) => (alpha ? (above[i] * above[3] + below[i] * rest) / alpha : 0));
    return [...mixed, alpha];
}

function luminance(rgb) {
    const linear = rgb.slice(0, 3).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

// What is behind everything depends on the colour scheme.
const probe = document.documentElement.appendChild(document.createElement('i'));
probe.style.backgroundColor = 'Canvas';
const ground = colour(getComputedStyle(probe).backgroundColor);
probe.remove();

// `styles` are those of what is under the text, the nearest first. A step outwards lays what there is
// so far, with the text (`ink`) and without it (`paper`), on the next background, and then fades both
// as the element fades.
function judge(css, styles, element) {
    let ink = colour(css);
    let paper = [0, 0, 0, 0];
    for (const style of styles) {
        if (style.display === 'contents') continue;
        if (style.backgroundImage !== 'none' && paper[3] < 1) return fault('not judged, text on a picture', element);
        [ink, paper] = [ink, paper].map((layer) => over(layer, colour(style.backgroundColor)));
        for (const layer of [ink, paper]) layer[3] *= style.opacity;
    }
    const [dark, light] = [ink, paper].map((layer) => luminance(over(layer, ground))).sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < CONTRAST) fault(`contrast ${(Math.floor(ratio * 100) / 100).toFixed(2)}`, element);
}

function judgeText(element, pseudo) {
    const isDisabled = element.closest(':is(button, input, select, textarea):disabled, [aria-disabled=true]');
    const styles = [];
    for (let at = element; at; at = at.parentElement) styles.push(getComputedStyle(at));
    if (isDisabled || styles[0].visibility !== 'visible') return;
    if (styles.some(({ opacity }) => Number(opacity) === 0)) return;
    if (pseudo) styles.unshift(getComputedStyle(element, pseudo));
    const [{ fill, webkitTextFillColor: text }] = styles;
    const css = element instanceof SVGElement ? fill : text;
    if (CSS.supports('color', css)) judge(css, styles, element);
    else fault('not judged, painted text', element);
}

const range = document.createRange();
const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
    range.selectNodeContents(texts.currentNode);
    if (texts.currentNode.data.trim() && range.getClientRects().length) judgeText(texts.currentNode.parentElement);
}

const notText = ['hidden', 'checkbox', 'radio', 'range', 'color', 'image'];
for (const field of all('input, select, textarea')) {
    if (notText.includes(field.type) || !isShown(field)) continue;
    judgeText(field);
    if (field.placeholder) judgeText(field, '::placeholder');
}

for (const element of all('*')) {
    for (const pseudo of ['::before', '::after']) {
        const style = getComputedStyle(element, pseudo);
        if (/"[^"]*\S[^"]*"/.test(style.content) && !isHidden(style) && isShown(element)) judgeText(element, pseudo);
    }
}

return [...faults];
