/** The tutorial notebook that the launcher opens; it works offline. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { PartialJSONObject } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

const LOAD = `%load_ext jupyter_toolcall
from jupyter_toolcall.kitchen import Fries, Oven, Plate, Potato, Sink

potato, sink, oven, plate = Potato(), Sink(), Oven(), Plate()`;

const CHAT = `%%toolchat -m scripted:kitchen -t Potato Oven Fries -i potato sink oven plate -o fries:Plate
Bake me some fries from {potato}. Save them as fries.`;

type Cell = readonly ['markdown' | 'code', string];

/** The cells of the tutorial, with translated texts. */
export function tutorialCells(trans: TranslationBundle): readonly Cell[] {
  return [
    [
      'markdown',
      `# ${trans.__('A first session with tools')}\n\n${trans.__(
        'Run these cells. The model is a script: it needs no key and no network, and its replies are the same each time. The second cell waits at each tool call until you approve, edit, reject or answer it in the panel below.'
      )}`
    ],
    ['code', LOAD],
    ['code', CHAT],
    ['markdown', trans.__('The session saved its output as a variable:')],
    ['code', 'fries']
  ];
}

/** The tutorial notebook for the kernel with this name. */
export function tutorialNotebook(trans: TranslationBundle, name: string, shown: string): PartialJSONObject {
  const cells = tutorialCells(trans).map(([type, source], index) => ({
    id: `first-${index}`,
    cell_type: type,
    metadata: {},
    source,
    ...(type === 'code' ? { outputs: [], execution_count: null } : {})
  }));
  const kernelspec = { name, display_name: shown, language: 'python' };
  return { cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 } as PartialJSONObject;
}

/** Creates the tutorial notebook in a folder and opens it; no cell runs. */
export async function openTutorial(app: JupyterFrontEnd, trans: TranslationBundle, folder: string): Promise<Widget> {
  const { contents, kernelspecs } = app.serviceManager;
  await kernelspecs.ready;
  const specs = kernelspecs.specs?.kernelspecs ?? {};
  const chosen = kernelspecs.specs?.default ?? '';
  const kernel = specs[chosen]?.language === 'python' ? chosen : 'python3';
  const { path } = await contents.newUntitled({ path: folder, type: 'notebook' });
  const content = tutorialNotebook(trans, kernel, specs[kernel]?.display_name ?? kernel);
  await contents.save(path, { type: 'notebook', format: 'json', content });
  return app.commands.execute('docmanager:open', { path, factory: 'Notebook' }) as Promise<Widget>;
}
