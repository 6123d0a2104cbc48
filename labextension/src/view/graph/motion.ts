/** The one motion of the graph: nodes that `Tidy` moves go to their new places, and are seen to go. */
const TIME = 360;

type Places = ReadonlyMap<string, readonly [number, number]>;

const isStill = (): boolean =>
  typeof matchMedia === 'function' && matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Lets the nodes begin where they were, and fades in the edges. */
export function moved(nodes: Element, edges: Element, before: Places, after: Places): void {
  if (isStill() || typeof nodes.animate !== 'function') return;
  const timing = { duration: TIME, easing: 'cubic-bezier(.2, 0, 0, 1)' };
  for (const node of nodes.children) {
    const key = node.getAttribute('data-k') ?? '';
    const [from, to] = [before.get(key), after.get(key)];
    if (!from || !to || (from[0] === to[0] && from[1] === to[1])) continue;
    const at = ([x, y]: readonly [number, number]): string => `translate(${x}px, ${y}px)`;
    node.animate([{ transform: at(from) }, { transform: at(to) }], timing);
  }
  edges.animate([{ opacity: 0 }, { opacity: 0 }, { opacity: 1 }], timing);
}
