/** Messages between a panel and its kernel, on the comm of the panel's widget. */
import type { ISessionContext } from '@jupyterlab/apputils';
import { type Kernel, KernelMessage } from '@jupyterlab/services';
import type { PartialJSONObject } from '@lumino/coreutils';
import { type Command, Notice } from '../generated/contract';
import { integer, record, text } from '../view/reader';

export const LIVE_TYPE = 'application/vnd.jupyter-toolcall.live+json';
export const WIDGET_VIEW_TYPE = 'application/vnd.jupyter.widget-view+json';

/** Kernel states in which its sessions have ended. */
const ENDING_STATUSES: readonly Kernel.Status[] = ['restarting', 'autorestarting', 'terminating', 'dead'];

/** Calls `act` when a notebook's kernel ends, restarts or is replaced. */
export function onKernelEnd(context: ISessionContext, act: (restarts: boolean) => void): void {
  context.statusChanged.connect((_, status) => {
    if (ENDING_STATUSES.includes(status)) act(status.endsWith('restarting'));
  });
  context.kernelChanged.connect((_, { oldValue }) => {
    if (oldValue) act(false);
  });
}

/** The panel that an output names. */
export interface PanelName {
  /** The id of the widget's model and of its comm. */
  readonly panel: string;
  /** The version of the contract that its kernel uses. */
  readonly version: number;
}

const LIVE_BUNDLE = record({ [LIVE_TYPE]: record({ model_id: text, version: integer.or(0) }) });

/** The panel that a MIME bundle shows; null for none. */
export function panelIn(data: unknown): PanelName | null {
  const live = LIVE_BUNDLE.read(data)?.[LIVE_TYPE];
  return live ? { panel: live.model_id, version: live.version } : null;
}

/** The notice in a kernel message and its panel; null for any other message. */
export function noticeIn(message: KernelMessage.IMessage): { readonly panel: string; readonly notice: Notice } | null {
  if (!KernelMessage.isCommMsgMsg(message)) return null;
  const { comm_id: panel, data } = message.content;
  const notice = data.method === 'custom' ? Notice.read(data.content) : undefined;
  return notice ? { panel, notice } : null;
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
  // The result arrives as a notice; no reply is awaited.
  kernel.sendShellMessage(message, false).dispose();
}

/** Whether a kernel has this panel. A busy kernel answers after its cell. */
export async function hasPanel(kernel: Kernel.IKernelConnection, panel: string): Promise<boolean> {
  const { content } = await kernel.requestCommInfo({});
  return content.status === 'ok' && panel in content.comms;
}
