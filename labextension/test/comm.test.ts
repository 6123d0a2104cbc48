import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noticeIn, panelIn } from '../src/lab/comm';

const message = (data: unknown, type = 'comm_msg'): Parameters<typeof noticeIn>[0] =>
  ({ header: { msg_type: type }, channel: 'iopub', content: { comm_id: 'p', data } }) as never;

test('a notice is heard in the message of a widget, and nothing else is', () => {
  const whole = { type: 'whole', rows: {}, live: true, version: 1 };
  assert.deepEqual(noticeIn(message({ method: 'custom', content: whole })), { panel: 'p', notice: whole });
  for (const data of [
    { method: 'update', content: whole },
    { method: 'custom', content: { type: 'plot' } },
    { method: 'custom', content: null },
    { method: 'custom' },
    {}
  ])
    assert.equal(noticeIn(message(data)), null);
  assert.equal(noticeIn(message({ method: 'custom', content: whole }, 'stream')), null);
});

test('a bundle names its panel and the format of its kernel, whatever else it holds', () => {
  const live = 'application/vnd.jupyter-toolcall.live+json';
  assert.deepEqual(panelIn({ [live]: { model_id: 'p', version: 2 } }), { panel: 'p', version: 2 });
  assert.deepEqual(panelIn({ [live]: { model_id: 'p' } }), { panel: 'p', version: 0 });
  for (const data of [null, 'p', {}, { [live]: 'p' }, { [live]: { model_id: 5 } }, { 'text/plain': 'p' }])
    assert.equal(panelIn(data), null);
});
