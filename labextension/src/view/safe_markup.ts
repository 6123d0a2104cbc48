/**
 * Safe markup: HTML and SVG of values without anything active, and images that may be shown.
 *
 * The result is shown in a frame that runs no script and loads nothing, so this is the
 * first of three protections: it leaves no links and nothing that would be loaded.
 */
/** Elements that are removed with their content. */
const REMOVED_ELEMENTS = new Set(
  'script iframe frame frameset object embed applet template noscript link meta base head title form input button select textarea option video source track canvas dialog portal foreignobject set animate animatetransform animatemotion'.split(
    ' '
  )
);

/** Elements that stay; any other element is replaced by its content. */
const ALLOWED_ELEMENTS = new Set(
  (
    'html body div span p br hr pre code kbd samp var b strong i em u s small sub sup mark del ins q blockquote cite abbr time ' +
    'h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td figure figcaption img audio details summary ' +
    'section article header footer main aside nav center font style label math mrow mi mo mn msup msub mfrac msqrt mtext mtable mtr mtd ' +
    'svg g path rect circle ellipse line polyline polygon text tspan defs use symbol clippath lineargradient radialgradient stop marker'
  ).split(' ')
);

const ADDRESS_ATTRIBUTES = new Set(
  'href xlink:href src srcset action formaction ping poster background data cite longdesc target srcdoc manifest usemap'.split(' ')
);

const IMAGE_DATA = /^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/i;
const SVG_DATA = /^data:image\/svg/i;
const LOADING_STYLE = /url\s*\(\s*(?!['"]?(#|data:image\/(?!svg)))|@import|image-set|expression\s*\(/i;

/** An escape as in `u\72l(…)` would hide from the patterns. */
const isUnsafeStyle = (css: string): boolean => css.includes('\\') || LOADING_STYLE.test(css);

function isSafeAddress(element: Element, name: string, value: string): boolean {
  if (name === 'src') {
    if (element.localName === 'audio') return value.startsWith('data:audio/');
    return element.localName === 'img' && IMAGE_DATA.test(value) && (!SVG_DATA.test(value) || safeImage(value) !== '');
  }
  return (name === 'href' || name === 'xlink:href') && element.localName === 'use' && value.startsWith('#');
}

function isSafeAttribute(element: Element, name: string, value: string): boolean {
  if (name.startsWith('on')) return false;
  if (name === 'style') return !isUnsafeStyle(value);
  return ADDRESS_ATTRIBUTES.has(name) ? isSafeAddress(element, name, value) : !LOADING_STYLE.test(value);
}

function cleanElement(element: Element): void {
  // The frame parses the text again, and a comment could become markup.
  for (const node of [...element.childNodes])
    if (node.nodeType !== Node.ELEMENT_NODE && node.nodeType !== Node.TEXT_NODE) node.remove();
  for (const child of [...element.children]) {
    const name = child.localName.toLowerCase();
    if (REMOVED_ELEMENTS.has(name) || (name === 'style' && isUnsafeStyle(child.textContent))) {
      child.remove();
      continue;
    }
    cleanElement(child);
    for (const { name: attribute, value } of [...child.attributes])
      if (!isSafeAttribute(child, attribute.toLowerCase(), value)) child.removeAttribute(attribute);
    if (!ALLOWED_ELEMENTS.has(name)) child.replaceWith(...child.childNodes);
  }
}

/** The markup, cleaned. */
export function cleanMarkup(html: string): string {
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const style of [...page.head.querySelectorAll('style')]) page.body.prepend(style);
  cleanElement(page.body);
  if (!isBounded(page.body)) for (const drawing of page.body.querySelectorAll('svg')) drawing.remove();
  return [...page.body.childNodes].map(node => new XMLSerializer().serializeToString(node)).join('');
}

/** Elements that may be drawn, counted at each reference. */
const MOST_ELEMENTS = 50_000;
const MOST_DEPTH = 500;
const REFERENCE = /(?:^\s*|url\(\s*["']?)#([^\s)"']+)/g;

/** References in a style sheet are not counted, so they are not allowed. */
const hasStyledReferences = (root: Element): boolean => [...root.querySelectorAll('style')].some(style => /url\(/i.test(style.textContent));

/** Whether an element with all its references draws few enough elements. */
function isBounded(root: Element): boolean {
  const named = new Map([...root.querySelectorAll('[id]')].reverse().map(element => [element.id, element]));
  const counts = new Map<Element, number>();
  function countElements(element: Element, deep: number): number {
    const before = counts.get(element);
    if (before !== undefined) return before;
    // A cycle never ends.
    counts.set(element, Infinity);
    const targets = [...element.attributes].flatMap(({ value }) => [...value.matchAll(REFERENCE)].map(([, id]) => named.get(id ?? '')));
    const inside = [...element.children, ...targets].filter(one => one !== undefined);
    const sum = deep > MOST_DEPTH ? Infinity : inside.reduce((all, one) => all + countElements(one, deep + 1), 1);
    counts.set(element, sum);
    return sum;
  }
  return countElements(root, 0) <= MOST_ELEMENTS && !hasStyledReferences(root);
}

/** Entities and other encodings could hide content. */
const UNREADABLE = /<!ENTITY|encoding\s*=\s*["'](?!utf-8["'])/i;
const CHECKED = new Map<string, boolean>();
const CACHE_SIZE = 200;

function isDrawable(svg: string): boolean {
  if (UNREADABLE.test(svg)) return false;
  const { documentElement: root } = new DOMParser().parseFromString(svg, 'image/svg+xml');
  return root.localName === 'svg' && isBounded(root);
}

/** Whether an SVG in base64 can be drawn; cached. */
function isBoundedImage(base64: string): boolean {
  let drawable = CHECKED.get(base64);
  if (drawable === undefined) {
    drawable = isDrawable(atob(base64));
    if (CHECKED.size >= CACHE_SIZE) CHECKED.clear();
    CHECKED.set(base64, drawable);
  }
  return drawable;
}

const IMAGE_ADDRESS = /^data:image\/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+$/;

/** The address if it is an image that may be shown, else "". */
export function safeImage(address: string): string {
  const [, kind] = IMAGE_ADDRESS.exec(address) ?? [];
  if (kind === undefined) return '';
  return kind !== 'svg+xml' || isBoundedImage(address.slice(address.indexOf(',') + 1)) ? address : '';
}
