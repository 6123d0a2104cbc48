/**
 * Readers of what arrives from a kernel, a notebook or a page, and so from anywhere. A reader
 * returns the value as the contract has it, and undefined for one that does not fit. The
 * contract is a table of readers, generated from Python: `generated/contract.ts`.
 */
import { t, tn } from './text';

export type UnknownRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is UnknownRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class Reader<T, Standard extends T | undefined = T | undefined, Sent = T> {
  /** The type of what is sent for it. */
  declare readonly sent: Sent;

  constructor(
    readonly read: (value: unknown) => T | undefined,
    /** What a field is that is left out, or whose value does not fit; without it the field is required. */
    readonly standard = undefined as Standard
  ) {}

  /** The reader of a field that may be left out. */
  or(standard: T): Reader<T, T, Sent> {
    return new Reader<T, T, Sent>(this.read, standard);
  }

  /** The reader of a field that may be left out, and then is as an empty record. */
  orEmpty(): Reader<T, T, Sent> {
    return this.or(this.of({}));
  }

  /** The reader that rejects values of which this is false, too. */
  where(fits: (value: T) => boolean): Reader<T> {
    return new Reader<T>(value => {
      const whole = this.read(value);
      return whole !== undefined && fits(whole) ? whole : undefined;
    });
  }

  /** What a value of our own is read as. Throws an Error if it does not fit. */
  of(value: unknown): T {
    const whole = this.read(value);
    if (whole === undefined) throw new Error('A value does not fit its reader.');
    return whole;
  }
}

/** What a reader returns. */
export type Read<R extends AnyReader> = Exclude<ReturnType<R['read']>, undefined>;

type AnyReader = Reader<unknown, unknown, unknown>;
type Readers = Readonly<Record<string, AnyReader>>;
type Row<F extends Readers> = { readonly [Name in keyof F]: Read<F[Name]> };
type RequiredName<F extends Readers> = { [Name in keyof F]: undefined extends F[Name]['standard'] ? Name : never }[keyof F];
/** A row as it is sent: the fields that have a standard may be left out. */
type SentRow<F extends Readers> = { [Name in RequiredName<F>]: F[Name]['sent'] } & { [Name in Exclude<keyof F, RequiredName<F>>]?: F[Name]['sent'] };

/** A text of the interface: an English text, or two for one and for many, and its values, which may be such texts. An empty text joins them. */
function interfaceText([english, ...values]: readonly unknown[]): string {
  const filled = values.map(one => (typeof one === 'number' ? one : textOf(one)));
  if (Array.isArray(english)) return tn(textOf(english[0]), textOf(english[1]), Number(values[0]), ...filled.slice(1));
  if (typeof english !== 'string') return '';
  return english ? t(english, ...filled) : filled.join('');
}

/** A text; one of the interface is sent as a list, and read in the language of the page. */
export const text = new Reader(value => (typeof value === 'string' ? value : Array.isArray(value) ? interfaceText(value) : undefined));
export const textOf = (value: unknown): string => text.read(value) ?? '';
export const boolean = new Reader(value => (typeof value === 'boolean' ? value : undefined));
export const number = new Reader(value => (typeof value === 'number' && Number.isFinite(value) ? value : undefined));
export const integer = number.where(Number.isInteger);
export const json = new Reader<unknown>(value => value);

export const oneOf = <const T extends string>(...words: readonly T[]): Reader<T> => new Reader(value => words.find(word => word === value));

export const nullable = <T, Sent>(reader: Reader<T, T | undefined, Sent>): Reader<T | null, T | null | undefined, Sent | null> =>
  new Reader(value => (value === null ? null : reader.read(value)));

/** A list, of a longer one its last entries. An entry that does not fit has its standard, and is left out without one. */
export const list = <T, Sent>(
  entry: Reader<T, T | undefined, Sent>, most = Infinity
): Reader<readonly T[], readonly T[] | undefined, readonly Sent[]> =>
  new Reader(value => {
    if (!Array.isArray(value)) return undefined;
    const all: T[] = [];
    for (const one of value.length > most ? value.slice(-most) : value) {
      const read = entry.read(one) ?? entry.standard;
      if (read !== undefined) all.push(read);
    }
    return all;
  });

/** A list of so many entries, each with a reader of its own. */
export const tuple = <const R extends readonly Reader<unknown>[]>(...entries: R): Reader<{ readonly [Place in keyof R]: Read<R[Place]> }> =>
  new Reader<never>(value => {
    if (!Array.isArray(value)) return undefined;
    const all = entries.map((entry, place) => entry.read(value[place]) ?? entry.standard);
    return all.includes(undefined) ? undefined : (all as never);
  });

/** Data by names that nobody knows before. It has no prototype, so that `constructor` is no name. */
export const mapping = <T>(entry: Reader<T>): Reader<Readonly<Record<string, T>>> =>
  new Reader(value => {
    if (!isRecord(value)) return undefined;
    const all = Object.create(null) as Record<string, T>;
    for (const name in value) {
      const read = entry.read(value[name]);
      if (read !== undefined) all[name] = read;
    }
    return all;
  });

/** A record with these fields. One without a required field is rejected; what else it has is left out. */
export function record<F extends Readers>(fields: F): Reader<Row<F>, Row<F> | undefined, SentRow<F>> {
  const readers = new Map(Object.entries(fields));
  const required = [...readers.keys()].filter(name => fields[name]?.standard === undefined);
  // Made by one literal after the other: an object that is filled name by name is slow to copy and to read.
  const standards = [...readers].reduce<UnknownRecord>((all, [name, { standard }]) => ({ ...all, [name]: standard }), {});
  return new Reader(value => {
    if (!isRecord(value)) return undefined;
    const whole: Record<string, unknown> = { ...standards };
    // Most rows leave out most fields: what one has is looked at, not what it could have.
    for (const name in value) {
      const read = readers.get(name)?.read(value[name]);
      if (read !== undefined) whole[name] = read;
    }
    for (const name of required) if (whole[name] === undefined) return undefined;
    return whole as Row<F>;
  });
}

/** The first of these records that a value fits. */
export const union = <const R extends readonly Reader<unknown>[]>(...readers: R): Reader<Read<R[number]>> =>
  new Reader(value => {
    for (const reader of readers) {
      const read = reader.read(value);
      if (read !== undefined) return read as Read<R[number]>;
    }
    return undefined;
  });

/** Tables of rows, which are left as they are: a large session is read row by row, by the readers in `rows`. */
export const tables = <F extends Readers>(rows: F): Reader<{ readonly [Table in keyof F]?: unknown }> & { readonly rows: F } =>
  Object.assign(
    new Reader((value): { readonly [Table in keyof F]?: unknown } | undefined => (isRecord(value) ? (value as never) : undefined)), { rows }
  );

/** Levels of lists and records in a row: a kernel sends fewer, and what shows them takes ever longer for each. */
const DEEPEST = 100;

const isDeep = (value: unknown, left = DEEPEST): boolean =>
  typeof value === 'object' && value !== null && (left === 0 || Object.values(value).some(one => isDeep(one, left - 1)));

/** A row, which a notebook keeps as a JSON text; null for what is no row. */
export function parsedRow(row: unknown): UnknownRecord | null {
  try {
    const value: unknown = typeof row === 'string' ? JSON.parse(row) : row;
    return isRecord(value) && !isDeep(value) ? value : null;
  } catch {
    return null;
  }
}
