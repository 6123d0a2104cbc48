/** The settings (schema/plugin.json) with their current values. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';
import { boolean, oneOf, type Read, record } from '../view/reader';
import { t } from '../view/text';

/** A setting of the wrong type counts as not set. */
export const PREFERENCES = record({
  /** When the side panel opens by itself. */
  openSidePanel: oneOf('never', 'start', 'session').or('never'),
  notifyWhenWaiting: boolean.or(true),
  notifyInBrowser: boolean.or(false),
  confirmApproveAll: boolean.or(false),
  showInStatusBar: boolean.or(true)
});

/** The keys of a schema whose values are texts of the interface. */
const TEXT_KEYS = ['title', 'description', 'label', 'jupyter.lab.setting-icon-label'];

/** A schema with its titles, and those of its menus, in the language of the page: JupyterLab translates those of its own packages alone. */
export function translatedSchema<T>(schema: T, key = ''): T {
  if (typeof schema === 'string') return (TEXT_KEYS.includes(key) ? t(schema) : schema) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(part => translatedSchema(part)) as T;
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, translatedSchema(part, name)])) as T;
}

/** The current preferences, with a signal for changes. Without a registry they are the defaults. */
export class Settings {
  readonly changed = new Signal<this, Read<typeof PREFERENCES>>(this);
  now = PREFERENCES.of({});
  /** Resolves when the settings are read, or cannot be read. */
  readonly ready: Promise<void>;

  constructor(registry: ISettingRegistry | null, id: string) {
    this.ready = this._read(registry, id).catch(error => console.error(error));
  }

  private async _read(registry: ISettingRegistry | null, id: string): Promise<void> {
    registry?.transform(id, { fetch: plugin => ({ ...plugin, schema: translatedSchema(plugin.schema) }) });
    const setting = await registry?.load(id);
    if (!setting) return;
    const take = (): void => {
      this.now = PREFERENCES.of(setting.composite);
      if (this.now.notifyInBrowser) void window.Notification.requestPermission();
      this.changed.emit(this.now);
    };
    setting.changed.connect(take);
    take();
  }
}
