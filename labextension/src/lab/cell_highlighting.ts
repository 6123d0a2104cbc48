/**
 * Highlighting of `%%toolchat` cells. The language of an editor is computed from its first
 * line, above the language that JupyterLab gave it.
 */
import { language, StreamLanguage, type StringStream } from '@codemirror/language';
import { type EditorState, Prec } from '@codemirror/state';
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { EditorExtensionRegistry, IEditorExtensionRegistry } from '@jupyterlab/codemirror';

const MAGIC = /^%%toolchat(?!\w)/;

/** Token types of the first line; the first pattern that matches counts. */
const OPTIONS: readonly [RegExp, string | null][] = [
  [/^\s+/, null],
  [/^--?[A-Za-z][\w-]*/, 'attributeName'],
  [/^(["'])(?:\\.|(?!\1).)*\1?/, 'string'],
  [/^[A-Za-z_]\w*#\d+/, 'atom'],
  [/^[:,=]/, 'operator'],
  [/^\d+(?:\.\d+)?(?!\w)/, 'number'],
  [/^[^\s:,=]+/, 'string']
];

/** Token types of the prompt. */
const PROMPT: readonly [RegExp, string | null][] = [
  [/^[A-Za-z_]\w*#\d+/, 'atom'],
  [/^\{[A-Za-z_]\w*(?:\.\w+)*\}/, 'variableName.special'],
  [/^\$[A-Za-z_]\w*/, 'variableName.special'],
  [/^`[^`]*`?/, 'string'],
  [/^\w+/, null]
];

interface LineState {
  line: number;
}

const toolchat = StreamLanguage.define<LineState>({
  name: 'toolchat',
  startState: () => ({ line: 0 }),
  blankLine: place => void place.line++,
  token(stream, place) {
    if (stream.sol()) place.line++;
    if (place.line > 1) return tokenOf(stream, PROMPT);
    return stream.sol() && stream.match(MAGIC) ? 'keyword' : tokenOf(stream, OPTIONS);
  }
});

// An editor without a language would stay blank, without an error.
const plain = StreamLanguage.define({
  name: 'plain',
  token: stream => {
    stream.skipToEnd();
    return null;
  }
});

function tokenOf(stream: StringStream, kinds: readonly [RegExp, string | null][]): string | null {
  for (const [pattern, kind] of kinds) if (stream.match(pattern)) return kind;
  stream.next();
  return null;
}

const ownLanguage = (state: EditorState): StreamLanguage<LineState>[] =>
  MAGIC.test(state.doc.line(1).text) ? [toolchat] : [];

const extension = [Prec.highest(language.computeN(['doc'], ownLanguage)), Prec.lowest(language.of(plain))];

export const cellHighlighting: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-toolcall:highlight',
  description: 'Highlights %%toolchat cells.',
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  activate: (_app, editors: IEditorExtensionRegistry) => {
    editors.addExtension({
      name: 'jupyter-toolcall:highlight',
      factory: () => EditorExtensionRegistry.createImmutableExtension(extension)
    });
  }
};
