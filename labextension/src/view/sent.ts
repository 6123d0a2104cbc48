/** What a model is sent, and may call: for the person who plays it, and for the one who guesses it. */
import { h, keyed, once, type Child } from './dom';
import { icon } from './icons';
import type { FullTold, FullTool, FullYours, Model } from './rows';
import { block, line } from './text';

const text = (words: string, look = ''): HTMLElement => h('span', { class: `tc-words ${look}`.trim() }, block(words));

function told(one: FullTold): HTMLElement[] {
  const from = one.tool ? line(one.tool, 60) : 'told';
  const body = text(one.text, 'mono');
  return [
    h('dt', { title: from }, one.step ? `${one.step} ` : '', from),
    h('dd', one.error ? { class: 'bad' } : {}, one.error ? icon('failed') : null, body)
  ];
}

/** What was asked, and what the model is told since it spoke last. */
function heard(turn: FullYours): HTMLElement {
  const asked = [h('dt', {}, 'prompt'), h('dd', {}, text(turn.prompt))];
  return h('dl', { class: 'tc-args tc-heard' }, ...asked, ...turn.told.flatMap(told));
}

function system(turn: FullYours): Child {
  if (!turn.system) return null;
  const summary = h('summary', {}, icon('down'), 'System text');
  return h('details', { class: 'tc-more' }, summary, h('pre', { class: 'tc-text', tabindex: 0 }, block(turn.system)));
}

interface Item {
  readonly tool: FullTool;
  readonly live: boolean;
}

function item({ tool, live }: Item, choose: (tool: FullTool) => void): HTMLElement {
  const name = line(tool.id, 120);
  const label = live
    ? h('button', { type: 'button', class: 'tool', 'data-k': `tool ${tool.id}`, onclick: () => choose(tool) }, name)
    : h('code', { class: 'tool' }, name);
  const about = h('span', { class: 'about' }, block(tool.description.trim(), 20_000));
  return h('li', { class: live ? 'tc-tool live' : 'tc-tool' }, label, about);
}

export interface Sent {
  /** The request, the heading of the tools, the tools: to be placed one after the other. */
  readonly elements: readonly HTMLElement[];
  paint(turn: FullYours, model: Model, live: boolean): void;
}

/** The parts of a card that show a turn before it is replied to; a click on a tool chooses it. */
export function sent(choose: (tool: FullTool) => void = () => undefined): Sent {
  const request = h('div', { class: 'tc-cardbody' });
  const heading = h('h4', { class: 'tc-part' }, 'Tools');
  const tools = h('ul', { class: 'tc-tools-now', 'aria-label': 'Tools of this turn' });
  const rows = keyed(tools, (one: Item) => item(one, choose));
  let now: FullYours;
  const drawRequest = once(() => {
    request.replaceChildren(...[heard(now), system(now)].filter(one => one instanceof Node));
  });
  return {
    elements: [request, heading, tools],
    paint(turn, model, live) {
      now = turn;
      drawRequest(JSON.stringify([turn.prompt, turn.told, turn.system]));
      const known = turn.tools.flatMap(id => model.tools.get(id) ?? []);
      rows(known.map(tool => ({ key: tool.id, stamp: [tool, live], item: { tool, live } })));
      heading.hidden = tools.hidden = known.length === 0;
    }
  };
}
