/** What a widget has from its kernel: its messages, and the catalogue of its language. */
import type { RenderProps } from '@anywidget/types';
import { setLanguage } from './view/text';

/** A catalogue as the kernel sends it: the forms of a text, and under "" which form is for which count. */
type Forms = Readonly<Record<string, readonly string[]>>;
interface Head {
  readonly language: string;
  readonly plurals: readonly string[];
}

/** Shows the panel in the language of a catalogue; an empty one is English. */
export function setCatalogue(texts: Forms & { readonly ''?: Head }): void {
  const head = texts[''];
  if (!head) return;
  const rules = new Intl.PluralRules(head.language);
  setLanguage(head.language, (text, _, count) => texts[text]?.[count === undefined ? 0 : head.plurals.indexOf(rules.select(count))]);
}

/** Milliseconds between two greetings. */
const PATIENCE = 400;

/**
 * Greets the kernel and hears what it sends; returns a function that ends both. A greeting can get lost while the kernel
 * is busy: it is repeated until a message arrives.
 */
export function hearKernel<T>(model: RenderProps['model'], greet: () => void, hear: (message: T) => void): () => void {
  const timer = setInterval(greet, PATIENCE);
  const receive = (message: T): void => {
    clearInterval(timer);
    hear(message);
  };
  model.on('msg:custom', receive);
  greet();
  return () => {
    clearInterval(timer);
    model.off('msg:custom', receive);
  };
}
