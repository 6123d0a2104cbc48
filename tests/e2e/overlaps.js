/** What lies on what in the graph: texts, tiles, labels and controls, and edges on tiles. */
async () => {
  // What moved is drawn before the next frame is: until then nobody sees it.
  await new Promise(requestAnimationFrame);
  // What glides to its place has come there.
  for (const moves of document.getAnimations()) if (moves instanceof CSSTransition) moves.finish();
  const graph = document.querySelector('.tc-graph');
  const canvas = graph.querySelector('.tc-canvas > svg').getBoundingClientRect();
  const boxes = [];
  const add = (elements, what, node, edge) => {
    for (const element of elements) {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const isShown = right > left && getComputedStyle(element).visibility !== 'hidden';
      const isInside = left < canvas.right && right > canvas.left && top < canvas.bottom && bottom > canvas.top;
      if (!isShown || !isInside) continue;
      // The box of a text has empty space above and below its letters.
      const trim = element.tagName === 'text' ? 2 : 0.5;
      const text = element.ariaLabel ?? element.textContent;
      boxes.push({ what: `${what} ${text}`, node, edge, left: left + 0.5, right: right - 0.5, top: top + trim, bottom: bottom - trim });
    }
  };
  for (const node of graph.querySelectorAll('.node')) {
    add(node.querySelectorAll('rect.tile'), 'tile', node);
    add(node.querySelectorAll('.picture > text'), 'text', node);
  }
  const edges = [...graph.querySelectorAll('g.e')];
  for (const edge of edges) {
    add(edge.querySelectorAll('text.param'), 'label', null, edge);
  }
  add(graph.querySelectorAll('.tc-canvas text.note'), 'note');
  add(graph.querySelectorAll('.tc-canvas button'), 'control');

  const found = [];
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  for (const [index, a] of boxes.entries())
    for (const b of boxes.slice(index + 1))
      if (!(a.node && a.node === b.node && (a.what.startsWith('tile') || b.what.startsWith('tile'))) && meet(a, b))
        found.push(`${a.what} on ${b.what}`);
  const holds = (box, { x, y }, beyond = 0) => x > box.left - beyond && x < box.right + beyond && y > box.top - beyond && y < box.bottom + beyond;
  const tiles = boxes.filter(box => box.what.startsWith('tile'));
  for (const edge of edges) {
    const path = edge.querySelector('path.edge');
    const place = path.getScreenCTM();
    const length = path.getTotalLength();
    const points = Array.from({ length: Math.floor(length / 8) + 2 }, (_, step) => path.getPointAtLength(Math.min(length, 8 * step)).matrixTransform(place));
    // An edge begins and ends at the border of a tile.
    const others = tiles.filter(box => !holds(box, points[0], 4) && !holds(box, points.at(-1), 4));
    const crossed = new Set(points.flatMap(point => others.filter(box => holds(box, point)).map(box => box.what)));
    for (const what of crossed) found.push(`the edge of ${edge.textContent} crosses ${what}`);
  }
  return { boxes: boxes.length, edges: edges.length, found };
};
