import type { Command, Notice } from '../generated/contract';

export interface Host {
  send?(command: Command): void;
  live: boolean;
  side?: boolean;
}

export interface View {
  update(notice: Notice): void;
  dispose(): void;
}

export function mount(_el: HTMLElement, _host: Host): View {
  return { update: () => undefined, dispose: () => undefined };
}
