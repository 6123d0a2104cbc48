/** Routes of edges: the same cases as in Python. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { type Argument, argumentRoutes, type Cell, mainRoute, NARROW, textAnchor, toolLines, toolZone, WIDE } from '../src/view/graph/edge_routes';

interface MainCase {
  readonly why: string;
  readonly grid: 'wide' | 'narrow';
  readonly source: Cell;
  readonly target: Cell;
  readonly route: unknown;
  readonly zone: unknown;
}

interface ArgumentsCase {
  readonly why: string;
  readonly grid: 'wide' | 'narrow';
  readonly target: Cell;
  readonly given: readonly Argument[];
  readonly routes: unknown;
}

interface AnchorCase {
  readonly grid: 'wide' | 'narrow';
  readonly width: number;
  readonly anchor: unknown;
}

interface ToolCase {
  readonly tool: string;
  readonly kinds: readonly string[];
  readonly width: number;
  readonly lines: unknown;
}

interface Cases {
  readonly tools: readonly ToolCase[];
  readonly main: readonly MainCase[];
  readonly arguments: readonly ArgumentsCase[];
  readonly anchors: readonly AnchorCase[];
}

const cases = JSON.parse(readFileSync(new URL('../../../tests/view/edge_routes.json', import.meta.url), 'utf8')) as Cases;
const GRIDS = { wide: WIDE, narrow: NARROW };

for (const { why, grid, source, target, route, zone } of cases.main)
  test(`a main edge has the route of the case: ${why}`, () => {
    assert.deepEqual(mainRoute(source, target, GRIDS[grid]), route);
    assert.deepEqual(toolZone(target, GRIDS[grid]), zone);
  });

for (const { why, grid, target, given, routes } of cases.arguments)
  test(`arguments have the routes, labels and chips of the case: ${why}`, () => {
    const found = argumentRoutes(target, given, GRIDS[grid]).map(one => ({
      ...one,
      arguments: one.arguments.map(argument => given.indexOf(argument))
    }));
    assert.deepEqual(found, routes);
  });

test('a text is anchored as in the cases', () => {
  for (const { grid, width, anchor } of cases.anchors) assert.deepEqual(textAnchor(width, GRIDS[grid]), anchor);
});

test('the name of a tool has the lines of the cases', () => {
  for (const { tool, kinds, width, lines } of cases.tools) assert.deepEqual(toolLines(tool, kinds, width), lines);
});
