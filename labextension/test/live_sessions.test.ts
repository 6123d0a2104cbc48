import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command, Notice } from '../src/generated/contract';
import { LiveSession, type NotebookSessions } from '../src/lab/live_sessions';
import { waitingCount as waits } from '../src/lab/visibility';
import { delta, waiting, whole } from './page';

interface Sent {
  readonly live: LiveSession;
  /** The commands that came to the kernel, and `interrupt`. */
  readonly sent: (Command['type'] | 'interrupt')[];
}

/** A session whose kernel takes note of what is sent to it. */
function session(): Sent {
  const sent: Sent['sent'] = [];
  const kernel = {
    clientId: 'client',
    username: '',
    interrupt: async () => void sent.push('interrupt'),
    sendShellMessage(message: { content: { data: { content: Command } } }) {
      sent.push(message.content.data.content.type);
      return { dispose: () => undefined };
    }
  };
  return { live: new LiveSession('panel', { kernel } as unknown as NotebookSessions), sent };
}

test('a session is folded once, and asks for all of it where a notice was lost', () => {
  const { live, sent } = session();
  live.hear(whole(waiting()));
  assert.equal(live.state, 'alive');
  assert.equal(waits(live), 1);
  live.hear(delta(1, { session: [{ phase: 'running' }] }));
  assert.equal(waits(live), 0);
  live.hear(delta(3, {}));
  live.hear(delta(4, {}));
  assert.deepEqual(sent, ['hello']);
});

test('a page that connects while a session runs asks for all of it, once', () => {
  const { live, sent } = session();
  live.hear(delta(7, {}));
  live.hear(delta(8, {}));
  live.hear(whole(waiting()));
  live.hear(delta(1, { session: [{ phase: 'running' }] }));
  assert.deepEqual(sent, ['hello']);
  assert.equal(live.model.calls.size, 3);
});

test('a session whose kernel restarted says how many decisions are kept', () => {
  const { live } = session();
  const rows = waiting();
  live.hear(whole({ ...rows, calls: rows.calls?.map((call, index) => ({ ...call, who: index < 2 ? 'ann' : '' })) }));
  live.end(true);
  const advice = 'Run the cells above, then this one: your 2 decisions are kept.';
  assert.equal(live.model.session.says, `The kernel restarted. ${advice}`);
});

test('a session whose kernel has ended keeps what was heard, and nothing is sent to it', () => {
  const { live, sent } = session();
  live.hear(whole(waiting()));
  live.end();
  assert.equal(live.model.calls.size, 3);
  assert.equal(live.model.live, false);
  assert.equal(live.model.session.says, 'The kernel has ended. Run the cells above, then this one.');
  assert.equal(waits(live), 0);
  live.send({ type: 'run' });
  assert.deepEqual(sent, []);
});

test('to stop what runs is to interrupt it', () => {
  const { live, sent } = session();
  live.hear(whole({ session: [{ phase: 'running' }] }));
  live.send({ type: 'stop' });
  live.hear(whole(waiting()));
  live.send({ type: 'stop' });
  assert.deepEqual(sent, ['interrupt', 'stop']);
});

test('a text that was asked for comes with the notice of its format; a refusal says why it does not', async () => {
  const { live, sent } = session();
  live.hear(whole(waiting()));
  const dot = live.exported('dot');
  live.hear({ type: 'exported', to: 'svg', text: 'no', name: '' });
  live.hear({ type: 'exported', to: 'dot', text: 'digraph {}', name: '' });
  assert.equal(await dot, 'digraph {}');
  const refused: Notice = { type: 'refused', command: 'export', reason: 'no format exe', fields: {} };
  const exe = live.exported('exe');
  live.hear(refused);
  await assert.rejects(exe, /no format exe/);
  const py = live.exported('py');
  live.end();
  await assert.rejects(py, /The kernel has ended/);
  assert.deepEqual(sent, ['export', 'export', 'export']);
});
