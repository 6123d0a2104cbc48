/** Prints the texts of the interface in `src/`, as JSON: file, line, and the English text, of a plural both. */
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import ts from 'typescript';

/** The functions whose arguments are texts, and which of the arguments. */
const FUNCTIONS = new Map([['t', [0]], ['tableText', [0]], ['act', [0, 3]], ['__', [0]]]);
const PLURALS = ['tn', '_n'];

/** The texts that an argument can be; none for what is computed. */
function textsOf(node) {
  if (node && ts.isStringLiteralLike(node)) return [node.text];
  if (node && ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  return node && ts.isConditionalExpression(node) ? [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)] : [];
}

function textsOfCall({ expression, arguments: given }) {
  const isMethod = ts.isPropertyAccessExpression(expression);
  const name = isMethod ? expression.name.text : expression.text;
  // Of methods, only those of JupyterLab's bundles.
  if (isMethod && !name.startsWith('_')) return [];
  if (name === 'plural') return textsOf(given[1]).map(thing => [`%1 ${thing}`, `%1 ${thing}s`]);
  if (PLURALS.includes(name)) return [[...textsOf(given[0]), ...textsOf(given[1])]];
  return (FUNCTIONS.get(name) ?? []).flatMap(index => textsOf(given[index]).map(text => [text]));
}

const found = [];
for (const name of readdirSync('src', { recursive: true }).sort()) {
  if (!name.endsWith('.ts') || name.startsWith('generated')) continue;
  const path = `src/${name}`;
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = node => {
    if (ts.isCallExpression(node)) {
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      for (const texts of textsOfCall(node)) if (texts.length && texts[0]) found.push([path, line, ...texts]);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}
process.stdout.write(JSON.stringify(found));
