/** What a panel and its kernel say to each other, on the comm of the panel's widget. Only pure functions, and one that sends. */
import { type Kernel, KernelMessage } from '@jupyterlab/services';
import type { PartialJSONObject } from '@lumino/coreutils';
import type { Command, Notice } from '../generated/contract';
import { isRecord } from '../view/rows';

export const LIVE_TYPE = 'application/vnd.jupyter-toolcall.live+json';
export const WIDGET_VIEW_TYPE = 'application/vnd.jupyter.widget-view+json';

const NOTICE_TYPES: readonly unknown[] = ['whole', 'delta', 'refused', 'shown', 'exported', 'displayed'] satisfies Notice['type'][];

/** A panel as an output names it. */
export interface PanelName {
  /** The id of the widget's model, which is that of its comm. */
  readonly panel: string;
  /** The format that its kernel speaks. */
  readonly version: number;
}

/** The panel that a bundle of data shows, where it shows one. */
export function panelIn(data: unknown): PanelName | null {
  const live = isRecord(data) ? data[LIVE_TYPE] : undefined;
  if (!isRecord(live) || typeof live.model_id !== 'string') return null;
  return { panel: live.model_id, version: typeof live.version === 'number' ? live.version : 0 };
}

/** The notice in a message of the kernel, and the panel that it goes to; null for any other message. */
export function noticeIn(message: KernelMessage.IMessage): { readonly panel: string; readonly notice: Notice } | null {
  if (!KernelMessage.isCommMsgMsg(message)) return null;
  const { comm_id: panel, data } = message.content;
  const notice = data.method === 'custom' ? data.content : undefined;
  if (!isRecord(notice) || !NOTICE_TYPES.includes(notice.type)) return null;
  return { panel, notice: notice as unknown as Notice };
}

/** Sends a command to a panel, as its widget would. */
export function sendTo(kernel: Kernel.IKernelConnection, panel: string, command: Command): void {
  const message = KernelMessage.createMessage<KernelMessage.ICommMsgMsg<'shell'>>({
    msgType: 'comm_msg',
    channel: 'shell',
    session: kernel.clientId,
    username: kernel.username,
    content: { comm_id: panel, data: { method: 'custom', content: command as unknown as PartialJSONObject } as never }
  });
  // What it comes to is told in notices: nobody waits for a reply.
  kernel.sendShellMessage(message, false).dispose();
}

/** Whether a kernel has this panel; it answers when it runs no cell. */
export async function hasPanel(kernel: Kernel.IKernelConnection, panel: string): Promise<boolean> {
  const { content } = await kernel.requestCommInfo({});
  return content.status === 'ok' && panel in content.comms;
}
