/** The language of a widget: the catalogue that its kernel sends. */
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
