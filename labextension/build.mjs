/** Bundles the panel for kernels (`widget.js`) and for exported pages (`page.js`), and the table of a map's sessions, with their styles. */
import { writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { minify } from 'terser';

const TO = '../jupyter_toolcall/static/';
const BROWSERS = ['es2022', 'chrome111', 'firefox113', 'safari16.4'];

/** esbuild bundles and shortens our own names; terser makes the code another 3 % smaller. */
async function script(name, format) {
  const { outputFiles } = await build({
    entryPoints: [`src/${name}.ts`],
    write: false,
    bundle: true,
    format,
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    mangleProps: /^_[a-z][a-zA-Z]*$/,
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
  ...[script('widget', 'esm'), script('page', 'iife'), script('session_table', 'esm')],
  ...[style('base', 'widget'), style('page', 'page'), style('session_table', 'session_table')]
]);
