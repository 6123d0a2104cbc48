/** Whether drawing something ends soon: a kilobyte of references can ask for more than a page can ever draw. */

/** So many elements are drawn, counted again wherever something refers to them. */
const MOST = 50_000;
const DEEPEST = 500;
const REFERENCE = /(?:^\s*|url\(\s*["']?)#([^\s)"']+)/g;

/** The same references by a style sheet are not counted, and so not taken. */
const isHidden = (root: Element): boolean => [...root.querySelectorAll('style')].some(style => /url\(/i.test(style.textContent));

/** Whether all that an element draws, what it refers to too, is within what a page can draw. */
export function isBounded(root: Element): boolean {
  const named = new Map([...root.querySelectorAll('[id]')].reverse().map(element => [element.id, element]));
  const known = new Map<Element, number>();
  function weigh(element: Element, deep: number): number {
    const before = known.get(element);
    if (before !== undefined) return before;
    // What refers to itself has no end.
    known.set(element, Infinity);
    const targets = [...element.attributes].flatMap(({ value }) => [...value.matchAll(REFERENCE)].map(([, id]) => named.get(id ?? '')));
    const inside = [...element.children, ...targets].filter(one => one !== undefined);
    const sum = deep > DEEPEST ? Infinity : inside.reduce((all, one) => all + weigh(one, deep + 1), 1);
    known.set(element, sum);
    return sum;
  }
  return weigh(root, 0) <= MOST && !isHidden(root);
}

/** An entity, or letters that are not read as they stand here, could hold what is not seen. */
const ODD = /<!ENTITY|encoding\s*=\s*["'](?!utf-8["'])/i;
const JUDGED = new Map<string, boolean>();
const KEPT = 200;

function isDrawable(svg: string): boolean {
  if (ODD.test(svg)) return false;
  const { documentElement: root } = new DOMParser().parseFromString(svg, 'image/svg+xml');
  return root.localName === 'svg' && isBounded(root);
}

/** Whether an SVG in base64 can be drawn; it is asked at every picture, and looked at once. */
export function isBoundedImage(base64: string): boolean {
  let known = JUDGED.get(base64);
  if (known === undefined) {
    known = isDrawable(atob(base64));
    if (JUDGED.size >= KEPT) JUDGED.clear();
    JUDGED.set(base64, known);
  }
  return known;
}
