/**
 * Form fields from a tool's JSON Schema, and arguments from their values.
 *
 * An unchanged field returns exactly its initial value; a field that is left out returns none.
 */
import type { ObjectRow } from '../generated/contract';
import { isNumber, jsonText, parsedJson } from './exact';
import { isRecord, textOf, type UnknownRecord } from './reader';
import { t } from './text';

type Schema = UnknownRecord;

type Kind = 'choice' | 'choices' | 'flag' | 'number' | 'text' | 'texts' | 'object' | 'objects' | 'json';

export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly description: string;
  readonly required: boolean;
  readonly nullable: boolean;
  readonly integer: boolean;
  /** The values to choose from: of an enum, or the kinds of the objects. */
  readonly options: readonly unknown[];
  /** The name of the type, such as that of an enum. */
  readonly typeName: unknown;
  /** The choices always stand side by side. */
  readonly beside?: boolean;
  readonly initial: unknown;
  /** The value that the tool uses where the argument is left out. */
  readonly standard: unknown;
}

/** A record's own value by a name; not inherited ones such as `constructor`. */
export const own = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const schemas = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isRecord) : []);

const isNull = (schema: Schema): boolean => schema.type === 'null' || schema.const === null;

function target(ref: unknown, root: Schema): Schema {
  const path = typeof ref === 'string' && ref.startsWith('#/') ? ref.slice(2).split('/') : [];
  let at: unknown = path.length ? root : {};
  for (const part of path) at = isRecord(at) ? at[part.replace(/~1/g, '/').replace(/~0/g, '~')] : undefined;
  return isRecord(at) ? at : {};
}

/** The schema itself: references followed, a single alternative taken, null noted. */
function plain(schema: Schema, root: Schema, depth = 0): { schema: Schema; nullable: boolean } {
  if (depth > 8) return { schema: {}, nullable: false };
  const { $ref, ...rest } = schema;
  if ($ref !== undefined) return plain({ ...target($ref, root), ...rest }, root, depth + 1);
  const [only, second] = schemas(schema.allOf);
  if (only && !second) return plain({ ...only, ...schema, allOf: undefined }, root, depth + 1);
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter(type => type !== 'null');
    return {
      schema: { ...schema, type: types.length === 1 ? types[0] : undefined },
      nullable: types.length < schema.type.length
    };
  }
  const all = [...schemas(schema.anyOf), ...schemas(schema.oneOf)];
  const real = all.filter(one => !isNull(one));
  if (real.length !== 1 || !real[0]) return { schema, nullable: real.length < all.length };
  const inner = plain({ ...real[0], ...schema, anyOf: undefined, oneOf: undefined }, root, depth + 1);
  return { schema: inner.schema, nullable: inner.nullable || real.length < all.length };
}

/** The schemas of a tool's parameters, by name. */
export function definitionsOf(parameters: Schema): Readonly<Record<string, Schema>> {
  const properties = isRecord(parameters.properties) ? parameters.properties : {};
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, isRecord(value) ? value : {}]));
}

/** The values that an enum, a const or alternatives of consts allow; none where all are. */
export function choices(schema: Schema | undefined, root: Schema): readonly unknown[] {
  if (!schema) return [];
  const { schema: inner } = plain(schema, root);
  if (Array.isArray(inner.enum)) return inner.enum;
  if (inner.const !== undefined) return [inner.const];
  const all = [...schemas(inner.anyOf), ...schemas(inner.oneOf)]
    .filter(one => !isNull(one))
    .map(one => plain(one, root).schema);
  return all.length && all.every(one => one.const !== undefined) ? all.map(one => one.const) : [];
}

const OBJECT = /^\^\(?(?:\?:)?([A-Za-z_]\w*(?:\|[A-Za-z_]\w*)*)\)?#\[1-9\](?:\[0-9\]|\\d)\*\$$/;

/** The name of plain data, which stands for its value; in a list of texts only that of a list. */
const isName = (value: unknown, kinds = '[A-Za-z_]\\w*'): value is string =>
  typeof value === 'string' && new RegExp(`^(${kinds})#[1-9]\\d*$`).test(value);

/** The kinds of object that a string of this schema names. */
function kindsOf(schema: Schema): readonly string[] {
  const found = typeof schema.pattern === 'string' ? OBJECT.exec(schema.pattern) : null;
  return found?.[1]?.split('|') ?? [];
}

/** Whether a list cannot be written with one text per line. */
const isLong = (value: unknown): boolean =>
  Array.isArray(value) && value.some(one => typeof one !== 'string' || one.trim() !== one || one === '' || one.includes('\n'));

function kindFor(schema: Schema, root: Schema, value: unknown): Pick<Field, 'kind' | 'options'> {
  const of = (kind: Kind, options: readonly unknown[] = []): Pick<Field, 'kind' | 'options'> => ({ kind, options });
  const fits = (type: string): boolean => value === undefined || value === null || typeof value === type;
  const values = choices(schema, root);
  if (values.length) return of('choice', values);
  const kinds = kindsOf(schema);
  if (kinds.length && fits('string')) return of('object', kinds);
  if (schema.type === 'boolean' && fits('boolean')) return of('flag');
  if ((schema.type === 'integer' || schema.type === 'number') && (value === undefined || value === null || isNumber(value) || isName(value)))
    return of('number');
  // What a model gave in place of a text is shown as JSON; what is written in its place is a text.
  if (schema.type === 'string') return of('text');
  const item = isRecord(schema.items) ? plain(schema.items, root).schema : {};
  const items = kindsOf(item);
  const listed = value === undefined || (Array.isArray(value) && value.every(one => typeof one === 'string'));
  if (items.length && listed) return of('objects', items);
  const all = choices(item, root);
  if (all.length && all.every(one => typeof one === 'string') && listed) return of('choices', all);
  const lines = item.type === 'string' && !all.length && listed && !isLong(value);
  return of(lines ? 'texts' : 'json');
}

/** One field per argument: those of the schema in order, then others of the call. */
export function fieldsOf(parameters: Schema, values: Readonly<Record<string, unknown>>): Field[] {
  const definitions = definitionsOf(parameters);
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  const names = new Set([...Object.keys(definitions), ...Object.keys(values)]);
  return [...names].map(name => {
    const { schema, nullable } = plain(own(definitions, name) ?? {}, parameters);
    const initial = own(values, name);
    const description = textOf(schema.description);
    const common = {
      name,
      description,
      required: required.includes(name),
      nullable,
      integer: schema.type === 'integer',
      typeName: schema.title,
      standard: schema.default
    };
    return { ...common, ...kindFor(schema, parameters, initial), initial };
  });
}

/** What a field holds: a text, null for the value null, or undefined for an argument that is left out. */
export type Raw = string | null | undefined;

/** A value as its field holds it. */
export function rawOf(field: Field, value: unknown): Raw {
  if (value === undefined || value === null) return value;
  if (typeof value === 'string' && ['text', 'object', 'number'].includes(field.kind)) return value;
  if (field.kind === 'texts' && Array.isArray(value)) return value.join('\n');
  return jsonText(value, field.kind === 'json' ? 2 : undefined);
}

/** What a field holds that nobody has changed. */
export const initialRaw = (field: Field): Raw => rawOf(field, field.initial);

type Read = { readonly value: unknown } | { readonly omit: true } | { readonly error: string };

function json(raw: string): Read {
  try {
    return { value: parsedJson(raw) };
  } catch (error) {
    return { error: t('Enter valid JSON: %1.', error instanceof Error ? error.message : '') };
  }
}

function number(field: Field, raw: string): Read {
  const value = Number(raw);
  if (!Number.isFinite(value)) return { error: t('%1 must be a number.', field.name) };
  if (/^\s*[+-]?\d+\s*$/.test(raw)) return json(String(BigInt(raw)));
  if (field.integer && !Number.isInteger(value)) return { error: t('%1 must be a whole number.', field.name) };
  const exact = field.integer ? {} : json(raw);
  return 'value' in exact ? exact : { value };
}

/** One text per line, or a JSON list. */
function texts(raw: string): Read {
  const found = raw.trim().startsWith('[') ? json(raw) : { error: '' };
  if ('value' in found) return found;
  const lines = raw.split('\n').map(one => one.trim());
  return { value: lines.filter(one => one !== '') };
}

/** The value that a field holds. */
export function read(field: Field, raw: Raw): Read {
  if (raw === undefined) return { omit: true };
  if (raw === initialRaw(field)) return { value: field.initial };
  if (raw === null || field.kind === 'text' || field.kind === 'object') return { value: raw };
  if (isName(raw.trim(), field.kind === 'texts' ? 'list|tuple|set' : undefined)) return { value: raw.trim() };
  if (field.kind === 'texts') return texts(raw);
  if (raw.trim() === '') return { error: t('Enter a value.') };
  return field.kind === 'number' ? number(field, raw) : json(raw);
}

/** Whether a field holds another value than at first. */
export function isChanged(field: Field, raw: Raw): boolean {
  const now = read(field, raw);
  if ('value' in now) return field.initial === undefined || jsonText(now.value) !== jsonText(field.initial);
  return 'error' in now || field.initial !== undefined;
}

export interface Filled {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly errors: Readonly<Record<string, string>>;
}

/** The arguments of all fields, and their errors. */
export function readAll(fields: readonly Field[], raws: ReadonlyMap<string, Raw>): Filled {
  const values: [string, unknown][] = [];
  const errors: [string, string][] = [];
  for (const field of fields) {
    const found = read(field, raws.get(field.name));
    if ('value' in found) values.push([field.name, found.value]);
    else if ('error' in found) errors.push([field.name, found.error]);
  }
  return { arguments: Object.fromEntries(values), errors: Object.fromEntries(errors) };
}

/** Whether an object is plain data that stands for a value of a choice: of its enum, or one that reads the same. */
export const isChoice = (field: Field, object: ObjectRow): boolean =>
  object.kind === field.typeName || field.options.some(value => value === object.preview.caption || jsonText(value) === object.preview.caption);

/** The objects that fit and are older than a call, newest first. */
export function candidates(fits: (object: ObjectRow) => boolean, objects: readonly ObjectRow[], before: number): ObjectRow[] {
  const fit = objects.filter(
    object =>
      object.branch === '' &&
      fits(object) &&
      (object.role === 'input' || (object.role === 'made' && object.step < before))
  );
  const number = (object: ObjectRow): number => Number(object.name.split('#')[1] ?? 0);
  return fit.sort((a, b) => b.step - a.step || number(b) - number(a));
}
