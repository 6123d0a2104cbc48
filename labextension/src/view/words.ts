/** The words of the view in the person's language: English, where no host has others. */

/** What translates: JupyterLab's bundles are such. `%1` stands for the first value. */
export interface Words {
  __(text: string, ...values: readonly (string | number)[]): string;
  /** `%1` stands for the count. */
  _n(one: string, many: string, count: number, ...values: readonly (string | number)[]): string;
}

const filled = (text: string, values: readonly (string | number)[]): string =>
  text.replace(/%(\d)/g, (place, number: string) => String(values[Number(number) - 1] ?? place));

const ENGLISH: Words = {
  __: (text, ...values) => filled(text, values),
  _n: (one, many, count, ...values) => filled(count === 1 ? one : many, [count.toLocaleString('en-US'), ...values])
};

let spoken = ENGLISH;

/** From now on the views of this page speak these words. A page has one language, as it has one locale. */
export const speak = (words: Words = ENGLISH): void => void (spoken = words);

export const trans: Words = {
  __: (text, ...values) => spoken.__(text, ...values),
  _n: (one, many, count, ...values) => spoken._n(one, many, count, ...values)
};
