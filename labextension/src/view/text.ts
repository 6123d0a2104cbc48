/** Text: made visible, shortened, formatted, and translated. */
import { jsonText } from './exact';

/** Characters that are not seen, or not told from a space or from nothing; all bidi signs are in C. */
const HIDDEN = String.raw`[\p{C}\p{Z}\p{DI}\u2800]`;

/** In a value every one but a space or a line break counts. */
const IN_VALUES = new RegExp(`((?![ \\n])${HIDDEN})`, 'gu');

/** Prose has other spaces too, and emoji of several characters. */
const IN_PROSE = new RegExp(String.raw`(?![\n\t\p{Zs}]|(?<=[\p{ExtPict}\p{EMod}\ufe0f])(?:\u200d|\ufe0f))${HIDDEN}`, 'gu');

/** Printable ASCII needs no escaping. */
const PLAIN = /^[\x20-\x7e]*$/;

function escaped(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** The text with invisible characters escaped; line breaks and tabs stay. */
export const visibleText = (text: string): string =>
  PLAIN.test(text) ? text : text.replace(/\r\n/g, '\n').replace(IN_PROSE, escaped);

/** The parts of a text that are seen, and between them the codes of the characters that are not. */
export const seenAndHidden = (text: string): string[] => text.split(IN_VALUES).map((part, index) => (index % 2 ? escaped(part) : part));

/** The first line of a text that is not empty, at most `cap` characters long, with an ellipsis where other lines follow. */
export function oneLine(text: string, cap = 400): string {
  const short = text.length > 2 * cap ? text.slice(0, 2 * cap) : text;
  if (PLAIN.test(short)) return clip(short, cap);
  return clip(visibleText(short).replace(/^[ \t\n]*\n|\n[ \t\n]*$/g, '').replace(/[ \t]*\n.*/s, ' …').replace(/\t/g, ' '), cap);
}

/** The text, cut to `cap` characters with an ellipsis; no character is cut in half. */
export function clip(text: string, cap: number): string {
  if (text.length <= cap) return text;
  const signs = [...text];
  return signs.length <= cap ? text : `${signs.slice(0, Math.max(1, cap - 1)).join('')}…`;
}

/** A number without the noise of a binary float, such as 5.7 for 5.699999999999999; any other text as it is. */
function withoutNoise(text: string): string {
  const rounded = /^(?=.{14,20}$)-?\d+\.\d+$/.test(text) ? String(Number(Number(text).toPrecision(15))) : text;
  const decimal = rounded.includes('.') ? rounded : `${rounded}.0`;
  return decimal.length < text.length - 6 ? decimal : text;
}

/** A text with three decimals of each long number, not counting zeros before them, and a sign that it is cut: for all short forms. */
export const shortNumbers = (text: string): string =>
  text.replace(/(?<![\w.])(-?\d+\.(?:0*[1-9]\d\d|\d{3}))(?:\d{4,}…?|\d*…)(?![\w.])/g, (all: string, start: string) =>
    withoutNoise(all) === all ? `${start}…` : withoutNoise(all));

/** The first line of a text with its long numbers shortened, at most `cap` characters long; the kernel has the same rule. */
export const shortLine = (text: string, cap: number): string => oneLine(shortNumbers(text), cap).replace('.…', '…');

/** A long number in its short form. Beside the `other` number that it is compared with it is whole, without noise unless both would read the same. */
export function shortNumber(text: string, other?: string): string {
  if (other === undefined) return /^-?[\d.]+$/.test(text) ? shortNumbers(text) : text;
  return withoutNoise(text) === withoutNoise(other) ? text : withoutNoise(text);
}

/** The first paragraph of a description on one line, cut to `cap` characters. */
export const summaryOf = (description: string, cap = 280): string =>
  clip(oneLine(description.trim().split(/\n\s*\n/)[0]?.replace(/\s+/g, ' ') ?? '', 2 * cap), cap);

/** A text of many lines, cut to `cap` characters. */
export const textBlock = (text: string, cap = 8000): string =>
  text.length > cap ? `${visibleText(text.slice(0, cap))}\n…` : visibleText(text);

/** A value as JSON on one line. */
export const literalText = (value: unknown, cap = Infinity): string => clip(seenAndHidden(jsonText(value)).join(''), cap);

/** A value without quotes around a text of one line: of several lines none is left out. */
export const valueText = (value: unknown, cap: number): string =>
  (typeof value === 'string' && !value.includes('\n') ? oneLine(value, cap) : literalText(value, cap));

type Value = string | number;

/** Texts of another language than English: a text, of two for one and for many the one for `count`; undefined for a text that it has not. */
type Catalogue = (text: string, many?: string, count?: number) => string | undefined;

let [catalogue, numbers]: [Catalogue, Intl.NumberFormat] = [() => undefined, new Intl.NumberFormat('en-US')];

/** Sets the language of all views of this page, before the first one is made. */
export const setLanguage = (language: string, texts: Catalogue): void => void ([catalogue, numbers] = [texts, new Intl.NumberFormat(language)]);

export const formatNumber = (number: number): string => numbers.format(number);

const filledIn = (text: string, values: readonly Value[]): string =>
  text.replace(/%(\d)/g, (place, number) => {
    const value = values[number - 1] ?? place;
    return typeof value === 'number' ? formatNumber(value) : value;
  });

/** An English text in the language of the page, with values: `%1` stands for the first one. */
export const t = (text: string, ...values: readonly Value[]): string => filledIn(catalogue(text) ?? text, values);

/** The text for one or for many; `%1` stands for the count. */
export const tn = (one: string, many: string, count: number, ...values: readonly Value[]): string =>
  filledIn(catalogue(one, many, count) ?? (count === 1 ? one : many), [count, ...values]);

/** `1 call`, `2 calls`. */
export const plural = (number: number, thing: string): string => tn(`%1 ${thing}`, `%1 ${thing}s`, number);

/** A text of a table, which is translated where it is shown. */
export const tableText = <T extends string>(text: T): T => text;

/** A duration: `3 ms`, `1.2 s`, `2 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1) return ms > 0 ? '<1 ms' : '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${formatNumber(Math.round(ms / 100) / 10)} s` : `${Math.round(ms / 60_000)} min`;
}
