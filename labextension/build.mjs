/** Bundles the panel for kernels (`widget.js`) and for exported pages (`page.js`), and the table of a map's sessions, with their styles. */
import { writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { minify } from 'terser';

/** Names of our own properties that are shortened, besides those that begin with `_`: none is in a row, in the DOM or in a text. */
const OWN = [
  ...['element', 'paint', 'setState', 'setBusy', 'showError', 'canvasTop', 'exportAs', 'openEditDialog', 'openCallDialog', 'showCard', 'standard'],
  ...['refusal', 'missedUpdate', 'lastUpdate', 'exactRequest', 'fullPreviews', 'unreadable', 'commandSent', 'editedCall', 'unfolded'],
  ...['chosen', 'pastStep', 'isPast', 'lastStep', 'followsNewest', 'waitingCall', 'personTurn', 'toGuess', 'shownTurn'],
  ...['branchList', 'renamedBranch', 'showsEqualCalls', 'kindCounts', 'spots', 'spotOf', 'failedCall', 'folded', 'parked'],
  ...['stacks', 'stackOf', 'withoutResult', 'divider', 'anchor', 'strokes', 'fullLabel', 'narrow', 'reveal', 'isVisible'],
  ...['followNewest', 'showIfItFits', 'showPart', 'wasDragged', 'isAfar', 'canvasHeight', 'heightOf', 'shortName', 'setSize', 'markNodes', 'buttonOfNode', 'handleKey', 'initial'],
  ...['acts', 'among', 'fresh', 'isOpen', 'late', 'lent', 'most', 'panels', 'place', 'route', 'seen', 'setOpen', 'side', 'sides', 'speaks', 'taken', 'tip', 'ui', 'unchecked', 'way', 'world', 'wrong'],
  ...['look', 'thin', 'newest', 'usual', 'described', 'hits', 'folds', 'stamp', 'signs', 'comparison', 'showMessage', 'menuEntries', 'icon', 'field', 'nodes', 'word', 'repaint', 'placed', 'guessed', 'settled', 'standing', 'pinned', 'seats', 'inGap', 'nullable', 'pitch', 'chip', 'points', 'arrow', 'route', 'edges', 'spot', 'refuse', 'setFocus', 'middles'],
  ...['inSight', 'showPoint', 'drawSoon', 'painting', 'leftBranch', 'rightBranch', 'stack', 'fits', 'searched', 'grouping', 'isAway', 'groupNames', 'shorter', 'lineage', 'typeName', 'common', 'named', 'errors', 'elements', 'layout', 'source', 'refresh', 'options', 'group', 'copyText']
];

const TO = '../jupyter_toolcall/static/';
const BROWSERS = ['es2022', 'chrome111', 'firefox113', 'safari16.4'];

/** esbuild bundles and shortens our own names; terser makes the code another 3 % smaller. */
async function script(name, format, own = OWN) {
  const { outputFiles } = await build({
    entryPoints: [`src/${name}.ts`],
    write: false,
    bundle: true,
    format,
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    mangleProps: new RegExp(`^(_[a-z][a-zA-Z]*|${own.join('|')})$`),
    legalComments: 'none'
  });
  const compress = { ecma: 2022, passes: 6, hoist_funs: true, pure_getters: true, unsafe_arrows: true, unsafe_methods: true };
  const once = code => minify(code, { module: format === 'esm', ecma: 2022, compress });
  // A second run inlines what the first one made short.
  const { code } = await once((await once(outputFiles[0].text)).code);
  await writeFile(`${TO}${name}.js`, code);
}

const style = (from, name) =>
  build({ entryPoints: [`style/${from}.css`], outfile: `${TO}${name}.css`, bundle: true, minify: true, target: BROWSERS });

await Promise.all([
  ...[script('widget', 'esm'), script('page', 'iife'), script('session_table', 'esm', ['_'])],
  ...[style('base', 'widget'), style('page', 'page'), style('session_table', 'session_table')]
]);
