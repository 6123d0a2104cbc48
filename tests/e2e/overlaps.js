/** What lies on what in the graph: texts, tiles, names, marks and controls, and edges on these. */
() => {
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
    add(edge.querySelectorAll('text.tool, text.param'), 'label', null, edge);
    add(edge.querySelectorAll('rect.port'), 'chip', null, edge);
    add(edge.querySelectorAll('circle.mark'), 'mark', null, edge);
  }
  add(graph.querySelectorAll('.tc-canvas text.note, .tc-canvas text.branch'), 'note');
  add(graph.querySelectorAll('.tc-canvas button'), 'control');

  const found = [];
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  for (const [index, a] of boxes.entries())
    for (const b of boxes.slice(index + 1))
      if (!(a.node && a.node === b.node && (a.what.startsWith('tile') || b.what.startsWith('tile'))) && meet(a, b))
        found.push(`${a.what} on ${b.what}`);
  const holds = (box, { x, y }) => x > box.left && x < box.right && y > box.top && y < box.bottom;
  let points = 0;
  for (const edge of edges) {
    const path = edge.querySelector('path.edge');
    const place = path.getScreenCTM();
    const ends = [0, path.getTotalLength()].map(at => path.getPointAtLength(at).matrixTransform(place));
    const crossed = new Set();
    for (let at = 0; at <= path.getTotalLength(); at += 2) {
      const { x, y } = path.getPointAtLength(at).matrixTransform(place);
      points += 1;
      for (const box of boxes) {
        // A chip and a mark are on their own edge; a tile that is drawn larger covers the ends of its edges.
        const isOwn = box.edge === edge ? !box.what.startsWith('label') : box.what.startsWith('tile') && ends.some(end => holds(box, end));
        if (!isOwn && holds(box, { x, y })) crossed.add(box.what);
      }
    }
    for (const what of crossed) found.push(`the edge of ${edge.textContent} crosses ${what}`);
  }
  return { boxes: boxes.length, edges: edges.length, points, found };
};
