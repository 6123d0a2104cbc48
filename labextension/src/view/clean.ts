/**
 * Markup of a value's own, without what could do something. Only functions from text to text.
 *
 * What is left stands in a frame that runs no script and may load nothing, so this is the
 * first of three walls: it leaves no link to follow and nothing that would be looked for.
 */

import { isBounded } from './bounded';
import { picture } from './dom';

/** What goes with all that it holds. */
const GONE = new Set(
  'script iframe frame frameset object embed applet template noscript link meta base head title form input button select textarea option video audio source track canvas dialog portal foreignobject set animate animatetransform animatemotion'.split(
    ' '
  )
);

/** What only holds something: any other element leaves its place to what it holds. */
const KEPT = new Set(
  (
    'html body div span p br hr pre code kbd samp var b strong i em u s small sub sup mark del ins q blockquote cite abbr time ' +
    'h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td figure figcaption img details summary ' +
    'section article header footer main aside nav center font style label math mrow mi mo mn msup msub mfrac msqrt mtext mtable mtr mtd ' +
    'svg g path rect circle ellipse line polyline polygon text tspan defs use symbol clippath lineargradient radialgradient stop marker'
  ).split(' ')
);

const ADDRESS = new Set(
  'href xlink:href src srcset action formaction ping poster background data cite longdesc target srcdoc manifest usemap'.split(' ')
);

const PICTURE = /^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/i;
const DRAWN = /^data:image\/svg/i;
const LOADS = /url\s*\(\s*(?!['"]?(#|data:image\/(?!svg)))|@import|image-set|expression\s*\(/i;

/** With an escape, as in `u\72l(…)`, a style says what no pattern here finds. */
const veils = (css: string): boolean => css.includes('\\') || LOADS.test(css);

function staysAddress(element: Element, name: string, value: string): boolean {
  if (name === 'src') return element.localName === 'img' && PICTURE.test(value) && (!DRAWN.test(value) || picture(value) !== '');
  return (name === 'href' || name === 'xlink:href') && element.localName === 'use' && value.startsWith('#');
}

function stays(element: Element, name: string, value: string): boolean {
  if (name.startsWith('on')) return false;
  if (name === 'style') return !veils(value);
  return ADDRESS.has(name) ? staysAddress(element, name, value) : !LOADS.test(value);
}

function cleanElement(element: Element): void {
  // A comment's text can be markup to the frame, which reads all of it once more.
  for (const node of [...element.childNodes])
    if (node.nodeType !== Node.ELEMENT_NODE && node.nodeType !== Node.TEXT_NODE) node.remove();
  for (const child of [...element.children]) {
    const name = child.localName.toLowerCase();
    if (GONE.has(name) || (name === 'style' && veils(child.textContent))) {
      child.remove();
      continue;
    }
    cleanElement(child);
    for (const { name: attribute, value } of [...child.attributes])
      if (!stays(child, attribute.toLowerCase(), value)) child.removeAttribute(attribute);
    if (!KEPT.has(name)) child.replaceWith(...child.childNodes);
  }
}

/** The markup, cleaned. */
export function clean(html: string): string {
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const style of [...page.head.querySelectorAll('style')]) page.body.prepend(style);
  cleanElement(page.body);
  if (!isBounded(page.body)) for (const drawing of page.body.querySelectorAll('svg')) drawing.remove();
  return [...page.body.childNodes].map(node => new XMLSerializer().serializeToString(node)).join('');
}
