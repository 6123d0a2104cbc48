/**
 * JSON data without a change: what JavaScript would change, such as 1.0, is a mark, {"$json": "1.0"}.
 *
 * `jupyter_toolcall/core/json_data.py` writes and reads marks too. Data with marks are shown and sent as they are.
 */

/** In written JSON: inside of a text every quote has a backslash, so nothing there looks like a mark. */
const MARKS = /\{\s*"\$json":\s*("(?:[^"\\]|\\.)*")\s*\}/g;

/** In JSON that somebody wrote: what looks like a mark, a text, or a number. */
const PARTS = /\{\s*("(?:[^"\\]|\\.)*")\s*:\s*"(?:[^"\\]|\\.)*"\s*\}|"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const mark = (json: string): string => JSON.stringify({ $json: json });

/** A value as JSON. */
export const jsonText = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(MARKS, (_, json: string) => JSON.parse(json) as string);

/** Characters of a part of JSON that stands on one line. */
const SHORT = 72;

/** A value as JSON, on as many lines as are good to read; `margin` begins each. */
export function jsonLines(value: unknown, margin = '\n'): string {
  const line = jsonText(value);
  if (line.length <= SHORT || typeof value !== 'object' || value === null || isNumber(value)) return line;
  const isList = Array.isArray(value);
  const inner = `${margin}  `;
  const items = Object.entries(value).map(([key, item]) => `${isList ? '' : `${JSON.stringify(key)}: `}${jsonLines(item, inner)}`);
  return `${isList ? '[' : '{'}${inner}${items.join(`,${inner}`)}${margin}${isList ? ']' : '}'}`;
}

/** The value of a JSON text. Throws a SyntaxError if it is none. */
export const parsedJson = (json: string): unknown =>
  JSON.parse(
    json.replace(PARTS, (part: string, key?: string) => {
      const changes = key ? JSON.parse(key) === '$json' : !part.startsWith('"') && !part.startsWith('{') && String(Number(part)) !== part;
      return changes ? mark(part) : part;
    })
  );

/** Whether a value is a number, exact or not. */
export const isNumber = (value: unknown): boolean => /^-?\d/.test(jsonText(value));
